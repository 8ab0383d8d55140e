import { expect, it } from 'vitest';
import { piecePath } from '../../../../src/protocol/piece-path.js';
import { assumptionsOf } from '../../../../src/server/insight/minutes/explained-minutes.js';
import { fileOutcomes } from '../../../../src/server/insight/minutes/file-outcomes.js';
import { minutesOf } from '../../../../src/server/insight/minutes/minutes.js';
import { verdictOf } from '../../../../src/server/insight/minutes/verdict.js';
import type { NodeLane, Span, Timeline } from '../../../../src/server/insight/timeline/timeline.js';
import { type Batch, timelineOf, withoutRecording } from '../lanes.js';

const batch = (
  node: number,
  seconds: Batch['seconds'],
  from = 0,
  to = from + seconds.reduce<number>((sum, each) => sum + each!, 0),
): Batch => ({ files: seconds.map((_, i) => `${node}-${from}-${i}.rb`), seconds: [...seconds], from, to });
const TEN = Array<number>(10).fill(10);
const estimatesOf = (...batches: Batch[]) => Object.fromEntries(batches.flatMap(({ files }) => files.map(path => [path, 10])));
const scaled = (estimates: Record<string, number>, factor: number) =>
  Object.fromEntries(Object.entries(estimates).map(([path, seconds]) => [path, seconds * factor]));
const told = (timeline: Timeline) => verdictOf(timeline, minutesOf(timeline), fileOutcomes(timeline, 0));
const verdict = (timeline: Timeline) => told(timeline).text;
const assumptions = (timeline: Timeline) => assumptionsOf(timeline, minutesOf(timeline));

it.each<[situation: string, timeline: Timeline, verdict: string]>([
  ['no node came', timelineOf([null, null]), 'Nodes 0, 1 took no files.'],
  // Nobody knows of the nodes of a split whether they asked for their files.
  ['no node of a split recorded', { ...timelineOf([null, null]), kind: 'split' }, 'Nodes 0, 1 recorded nothing.'],
  ['all nodes end together', timelineOf([[batch(0, TEN)], [batch(1, [...TEN, 1])]]), 'All nodes finished within 1.0 s of each other.'],
  [
    'files take time in no report',
    { ...timelineOf([[batch(0, TEN, 0, 130)], [batch(1, TEN, 0, 130)]]), cost: { pull_cost: 2, hidden: 2.5, slowdown: 1 } },
    'All nodes finished within 0 s of each other. A file took about 2.5 s that is in no report, 25 s of the build: fewer and larger files, or a runner that keeps what it loads, would save most of that.',
  ],
  [
    'all nodes but one start late, which delays no end',
    timelineOf([[batch(0, [...TEN, 20])], [batch(1, TEN, 20)], [batch(2, TEN, 20)]]),
    'All nodes finished within 0 s of each other. Nodes 1, 2 started late, which cost 13 s of the build.',
  ],
  [
    'files take little more than their reports tell',
    { ...timelineOf([[batch(0, TEN, 0, 104)], [batch(1, TEN, 0, 104)]]), cost: { pull_cost: 2, hidden: 0.2, slowdown: 1 } },
    'All nodes finished within 0 s of each other. Nothing stands out: 4.0 s was lost, most of it to the time in no report.',
  ],
  [
    'the last node ran more files, which take such time',
    { ...timelineOf([[batch(0, TEN, 0, 130)], [batch(1, [...TEN, ...TEN], 0, 260)]]), cost: { pull_cost: 0, hidden: 3, slowdown: 1 } },
    'Node 1 finished 2 m 10 s after node 0. A file took about 3.0 s that is in no report, 60 s of the build: fewer and larger files, or a runner that keeps what it loads, would save most of that.',
  ],
  [
    'a file decides, and files take such time',
    { ...timelineOf([[batch(0, [90], 0, 130)], [batch(1, [20, 10], 0, 110)]]), cost: { pull_cost: 0, hidden: 40, slowdown: 1 } },
    '0-0-0.rb decides this build: it took 90 s on node 0, longer than an even share of 60 s.',
  ],
  [
    'all times mean more than those before',
    timelineOf([[batch(0, TEN)], [batch(1, TEN)]], scaled(estimatesOf(batch(0, TEN), batch(1, TEN)), 1 / 9)),
    "All nodes finished within 0 s of each other. The estimates of the test files were about 9.0x too low: another client or report may count other parts of a file's time. Later builds learn the new times.",
  ],
  [
    'all times mean less than those before',
    timelineOf([[batch(0, TEN)], [batch(1, TEN)]], scaled(estimatesOf(batch(0, TEN), batch(1, TEN)), 12)),
    "All nodes finished within 0 s of each other. The estimates of the test files were about 12x too high: another client or report may count other parts of a file's time. Later builds learn the new times.",
  ],
  [
    'few files take far more than before',
    timelineOf([[batch(0, [10, 10])], [batch(1, [10, 10])]], scaled(estimatesOf(batch(0, [10, 10]), batch(1, [10, 10])), 1 / 9)),
    'All nodes finished within 0 s of each other.',
  ],
  [
    'an estimate was wrong',
    timelineOf([[batch(0, TEN)], [batch(1, [31, ...TEN.slice(1)])]], estimatesOf(batch(0, TEN), batch(1, TEN))),
    'Node 1 finished 21 s after node 0: 1-0-0.rb took 3.1x its estimate there.',
  ],
  [
    'an estimate was wrong, and two nodes end late',
    timelineOf(
      [[batch(0, TEN)], [batch(1, [31, ...TEN.slice(1)])], [batch(2, [30, ...TEN.slice(1)])]],
      estimatesOf(batch(0, TEN), batch(1, TEN), batch(2, TEN)),
    ),
    'Nodes finished up to 21 s apart: node 0 first, node 1 last: 1-0-0.rb took 3.1x its estimate there.',
  ],
  [
    'many estimates were wrong',
    timelineOf(
      [[batch(0, TEN)], [batch(1, TEN)], [batch(2, [...TEN.slice(5), ...Array<number>(5).fill(15)])]],
      estimatesOf(batch(0, TEN), batch(1, TEN), batch(2, TEN)),
    ),
    'Node 2 finished 25 s after node 0: its last files took 1.3x their estimates.',
  ],
  [
    'a node was slow',
    timelineOf(
      [0, 1, 2].map(node => [batch(node, node === 2 ? TEN.map(() => 15) : TEN)]),
      estimatesOf(...[0, 1, 2].map(node => batch(node, TEN))),
    ),
    'Node 2 finished 50 s after node 0: it took 1.5x as long as other nodes for its files.',
  ],
  ['a node began late', timelineOf([[batch(0, TEN)], [batch(1, TEN, 30)]]), 'Node 1 finished 30 s after node 0: it started 30 s late.'],
  [
    'a node lost time between its files',
    timelineOf([[batch(0, TEN)], [batch(1, TEN, 0, 140)]]),
    'Node 1 finished 40 s after node 0: it lost 40 s between its files.',
  ],
  [
    'several nodes end late',
    timelineOf([[batch(0, TEN)], [batch(1, [...TEN, 30])], [batch(2, [...TEN, 29])]]),
    'Nodes finished up to 30 s apart: node 0 first, node 1 last. Nothing stands out: 10 s was lost, most of it to the wait for the last node.',
  ],
])('the verdict when %s', (_, timeline, expected) => {
  expect(verdict(timeline)).toBe(expected);
  expect(told(timeline).paths).toEqual(timeline.paths.filter(path => expected.includes(path)));
});

it('the verdict names the first files that failed, with the node that ran each last, also while the build runs', () => {
  const timeline = timelineOf([[batch(0, TEN.slice(6))], [batch(1, TEN.slice(6))]]);
  const [[first], [second]] = timeline.nodes.map(({ spans }) => spans) as [[Span], [Span]];
  first.failed = [1];
  second.failed = [];
  expect(verdict(timeline)).toBe(
    '1 test file failed: 0-0-1.rb on node 0. First red after 40 s. All nodes finished within 0 s of each other.',
  );
  second.failed = [4, 5, 6];
  const failures = '4 test files failed: 0-0-1.rb on node 0, 1-0-0.rb on node 1, 1-0-1.rb on node 1 and 1 more. First red after 40 s.';
  expect(told(timeline)).toEqual({
    text: `${failures} All nodes finished within 0 s of each other.`,
    paths: ['0-0-1.rb', '1-0-0.rb', '1-0-1.rb'],
  });
  expect(verdict({ ...timeline, is_running: true })).toBe(`${failures} The build is running: 0 of 2 nodes are at work, 2 have ended.`);
  second.to = 30;
  expect(verdict(timeline)).toContain(' First red after 30 s. ');
});

it('the verdict names the first failed test case of a failed file where it is known, cut in its middle if it is long', () => {
  const timeline = timelineOf([[batch(0, TEN.slice(6))], [batch(1, TEN.slice(6))]]);
  const [[span]] = timeline.nodes.map(({ spans }) => spans) as [[Span]];
  span.failed = [0, 1, 2];
  const outcomes = fileOutcomes(timeline, 0);
  const [short, other] = outcomes.failed!;
  short!.first_case = { name: 'adds tax', more: 0 };
  other!.first_case = { name: `begins ${'x'.repeat(100)} ends`, more: 2 };
  const { text } = verdictOf(timeline, minutesOf(timeline), outcomes);
  const [, tax, long, none] = /^3 test files failed: (.*), (.*), (.*)\. First/.exec(text)!;
  expect([tax, none]).toEqual(['0-0-0.rb (adds tax) on node 0', '0-0-2.rb on node 0']);
  expect(long).toMatch(/^0-0-1\.rb \(begins x{12}…x{35} ends and 2 more\) on node 0$/);
});

it('the verdict tells which failures are known to be flaky', () => {
  const timeline = timelineOf([[batch(0, TEN.slice(6))], [batch(1, TEN.slice(6))]]);
  const [[span]] = timeline.nodes.map(({ spans }) => spans) as [[Span]];
  const textOf = (failed: number[], flaky: readonly number[]) => {
    span.failed = failed;
    const outcomes = fileOutcomes(timeline, 0);
    for (const i of flaky) outcomes.failed![i]!.is_known_flaky = true;
    return verdictOf(timeline, minutesOf(timeline), outcomes).text.replace(/^.*?node 0\. | First red.*$/g, '');
  };
  expect(textOf([0], [0])).toBe('It is known to be flaky: run it again.');
  expect(textOf([0, 1], [0, 1])).toBe('All of these are known to be flaky: run them again.');
  expect(textOf([0, 1], [1])).toBe('1 of these is known to be flaky.');
  expect(textOf([0], [])).toMatch(/^First red/);
  span.is_retry = true;
  expect(textOf([0, 1], [0, 1])).toMatch(/^First red/);
});

it('the verdict names what failed and passed when it ran again, but not what a cancelled node left to another', () => {
  const timeline = timelineOf([
    [batch(0, TEN.slice(6))],
    [batch(1, TEN.slice(6)), { files: ['0-0-1.rb'], seconds: [10], from: 40, to: 50 }],
  ]);
  const [[failed], [, again]] = timeline.nodes.map(({ spans }) => spans) as [[Span], [Span, Span]];
  failed.failed = [1];
  again.failed = [];
  const { text, paths } = told(timeline);
  expect(text).toMatch(/^1 test file failed, and passed when it ran again: 0-0-1\.rb\. /);
  expect(paths).toContain('0-0-1.rb');
  failed.lease = 'cancelled';
  expect(verdict(timeline)).not.toContain('ran again');
});

it('the verdict of a node that restarted tells it', () => {
  const first = batch(0, TEN.slice(4));
  const timeline = timelineOf([
    [
      { ...first, seconds: first.seconds.map(() => null) },
      { ...first, from: 80, to: 140 },
    ],
    [batch(1, TEN)],
  ]);
  timeline.nodes[0]!.spans[1]!.is_replay = true;
  expect(verdict(timeline)).toBe('Node 0 finished 40 s after node 1: it restarted, and ran its files again.');
});

it.each<[situation: string, ends: [number, number], from: number, said: string]>([
  ['waited for a retry to run', [60, 140], 95, 'Node 1 finished 80 s after node 0: it retried 0-0-1.rb, which had failed on node 0.'],
  ['ran a retry', [60, 140], 60, 'Node 1 finished 80 s after node 0: it retried 0-0-1.rb, which had failed on node 0.'],
  [
    'waited for a retry elsewhere',
    [141, 140],
    95,
    'node 2 first, node 0 last: it waited until node 1 had retried 0-0-1.rb, which had failed on node 0.',
  ],
])('the verdict of a node that %s names the file, and where that failed', (_, [firstEnd, end], from, said) => {
  const retry = { files: ['0-0-1.rb'], seconds: [end - from], from, to: end };
  const timeline = timelineOf([[batch(0, [20, 40])], [batch(1, TEN.slice(4)), retry], [batch(2, TEN.slice(4))]]);
  const [first, second] = timeline.nodes as [NodeLane, NodeLane];
  Object.assign(first.spans[0]!, { failed: [1] });
  Object.assign(first, { end: firstEnd, recordedAt: firstEnd });
  Object.assign(second.spans[1]!, { failed: [], is_retry: true });
  timeline.wall = Math.max(firstEnd, end);
  expect(verdict(timeline)).toContain(said);
});

it('the verdict of a node that ran the files of a lost one names that one', () => {
  const lost = batch(0, [20, 20]);
  const timeline = withoutRecording(
    timelineOf([[{ ...lost, seconds: [null, null] }], [batch(1, [40]), { ...lost, from: 60, to: 100 }], [batch(2, TEN.slice(4))]]),
  );
  expect(verdict(timeline)).toMatch(
    /^Node 0 recorded nothing after .* got\. Node 1 finished 40 s after node 2: it ran files that node 0 had before and did not record\./,
  );
});

it.each<[string, Span['lease']]>([
  ['fell silent', 'expired'],
  ['was cancelled', 'cancelled'],
])('the verdict of a node that ran the files of one that %s compares it with nodes that stayed', (_, lease) => {
  const timeline = timelineOf([[batch(0, [90])], [batch(1, [40])], [batch(2, [40]), batch(3, [10], 90)]]);
  timeline.nodes[0]!.spans[0]!.lease = lease;
  if (lease === 'cancelled') timeline.nodes[0]!.isCancelled = true;
  expect(verdict(timeline)).toMatch(/^Node 2 finished 60 s after node 1/);
});

it('the verdict of a late node tells only when its files began if it is not known when it asked for them', () => {
  const timeline = timelineOf([[batch(0, TEN)], [batch(1, TEN, 30)]]);
  expect(verdict({ ...timeline, areStartsKnown: false })).toBe(
    'Node 1 finished 30 s after node 0: its first recorded file started 30 s late.',
  );
});

it('nodes of a queue that never came are not missed', () => {
  const timeline = timelineOf([[batch(0, TEN)], [batch(1, TEN)], null, null]);
  expect(verdict(timeline)).toBe('All nodes finished within 0 s of each other.');
  expect(assumptions(timeline)).toEqual(['Nodes 2, 3 never came and do not count.']);
  expect(verdict(timelineOf([[batch(0, TEN)], null]))).toBe('One node ran everything.');
});

it('the assumptions name a lost node', () => {
  const timeline = withoutRecording(timelineOf([[batch(0, [null, null], 0, 20)], [batch(1, TEN)], [batch(2, TEN)]]));
  expect(assumptions(timeline)).toEqual([
    'Node 0 recorded nothing for its last files. They count with their expected time, or until another node got them.',
  ]);
});

it.each<[situation: string, mark: (first: Span, again: Span) => void, sentence: string]>([
  ['whose lease expired', first => (first.lease = 'expired'), ' Node 0 fell silent, and its files ran again.'],
  ['whose files came back', first => (first.lease = 'returned'), ' Node 0 fell silent, and its files ran again.'],
  ['whose files were left by a restart', first => (first.lease = 'restarted'), ' Node 0 restarted, and files ran again.'],
  ['that restarted', (_, again) => (again.is_replay = true), ' Node 0 restarted, and files ran again.'],
  [
    'whose queue was closed',
    first => (first.lease = 'closed'),
    ' Nothing stands out: 25 s was lost, most of it to the files that ran again.',
  ],
])('the verdict of a node %s, and that ends with the others, names its repeats', (_, mark, sentence) => {
  const again = batch(0, TEN.slice(5));
  const timeline = timelineOf([[again, { ...again, from: 50, to: 100 }], [batch(1, TEN)]]);
  const { spans } = timeline.nodes[0]!;
  mark(spans[0]!, spans[1]!);
  expect(verdict(timeline)).toBe(`All nodes finished within 0 s of each other.${sentence}`);
});

it('the verdict of a running build counts the nodes at work, and names those that others wait for', () => {
  const timeline = withoutRecording(timelineOf([[batch(0, [null], 0, 20)], [batch(1, [10])], null]));
  expect(verdict({ ...timeline, is_running: true })).toBe(
    'The build is running: 1 of at most 3 nodes is at work, 1 has ended. Node 0 has not recorded 1 test file yet.',
  );
});

it('the verdict of a running build of which only recordings are known counts these, as nobody knows who is at work', () => {
  const timeline = { ...timelineOf([[batch(0, TEN)], null]), kind: 'recordings' as const, is_running: true };
  expect(verdict(timeline)).toBe('The build may be running: 1 of 2 nodes has recorded.');
});

it('the verdict of a running build names the nodes that have their files for too long', () => {
  const silent = (node: number) => batch(node, [null], 0, 100);
  const timeline = timelineOf([[silent(0)], [silent(1)], [batch(2, [10])]], estimatesOf(silent(0), silent(1)));
  for (const lane of timeline.nodes.slice(0, 2)) lane.recordedAt = null;
  expect(verdict({ ...timeline, is_running: true })).toBe(
    'The build is running: 2 of 3 nodes are at work, 1 has ended. Nodes 0, 1 have not recorded 2 test files yet. Nodes 0, 1 are overdue by up to 90 s: they may have died.',
  );
});

it('the verdict of a running build counts on what files take besides their estimates', () => {
  const busy = batch(0, [null], 0, 100);
  const timeline = timelineOf([[busy], [batch(1, [10])]], estimatesOf(busy));
  timeline.nodes[0]!.recordedAt = null;
  const cost = { pull_cost: 1, hidden: 80, slowdown: 1 };
  expect(verdict({ ...timeline, cost, is_running: true })).toBe(
    'The build is running: 1 of 2 nodes is at work, 1 has ended. Node 0 has not recorded 1 test file yet.',
  );
});

it('the assumptions name a node that began again', () => {
  const first = batch(0, TEN);
  const timeline = timelineOf([[{ ...first, seconds: first.seconds.map(() => null) }, batch(0, TEN, 120)]]);
  expect(assumptions(timeline)).toEqual(['Node 0 began again before recording some files. Until then, these count with their estimates.']);
});

it('the assumptions name what is not known', () => {
  const timeline = timelineOf([[batch(0, TEN, 0, 50)], null]);
  expect(assumptions({ ...timeline, kind: 'recordings', areStartsKnown: false, paused: 90 })).toEqual([
    'The start of a node is not known. It is taken to be the last recording minus the recorded times, so late starts include gaps.',
    'No queue or split of the build is known. It is taken to begin with the first recorded time, and no file is known to be missing.',
    'Node 0 recorded more time than passed, as parallel test runners do. The times of its files are scaled down to fit.',
    'Node 1 recorded nothing and counts as late for the whole build.',
    'A pause of 90 s, in which nothing ran until a node was retried, is left out.',
  ]);
  expect(assumptions(timelineOf([[batch(0, TEN)]]))).toEqual([]);
});

it('files that failed when they last ran, that are missing and that took longest', () => {
  const first = batch(0, [3, 9, null], 0, 20);
  const again = { ...first, seconds: [4, 2, null], from: 20, to: 40 };
  const timeline = timelineOf([[first, again]]);
  const [ran, ranAgain] = timeline.nodes[0]!.spans;
  ran!.failed = [0, 1];
  ranAgain!.failed = [1];
  timeline.paths.push('0-0-2.rb[1:1]', 'left.rb');
  expect(fileOutcomes(timeline, 1)).toEqual({
    slowest: [{ path: '0-0-1.rb', seconds: 9, estimate: 2, is_guess: false, node_index: 0 }],
    failed: [{ path: '0-0-1.rb', node_index: 0 }],
    flaky: [{ path: '0-0-0.rb', node_index: 0 }],
    // Its node reported that 0-0-2.rb passed, and recorded others since.
    missing: [
      { path: '0-0-2.rb[1:1]', node_index: null },
      { path: 'left.rb', node_index: null },
    ],
    open: ['0-0-2.rb[1:1]', 'left.rb'],
  });
  ran!.failed = ranAgain!.failed = [2];
  expect(fileOutcomes(timeline, 1).missing[0]).toEqual({ path: '0-0-2.rb', node_index: 0 });
});

it('the verdict counts the files of pieces that failed, and names the pieces', () => {
  const ran = { files: [1, 2].map(number => piecePath({ file: 'a.rb', number, count: 2 })), seconds: [10, 10], from: 0, to: 20 };
  const timeline = timelineOf([[ran], [batch(1, [10, 10])]]);
  for (const { spans } of timeline.nodes) spans[0]!.failed = [0, 1];
  expect(verdict(timeline)).toMatch(/^1 test file failed, in 2 pieces: a\.rb::piece 1 of 2 on node 0, a\.rb::piece 2 of 2 on node 0\. /);
});
