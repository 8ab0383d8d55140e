import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { PartName } from '../../../../src/protocol/answers/minutes.js';
import { type Minutes, minutesOf } from '../../../../src/server/insight/minutes/minutes.js';
import { countedNodes } from '../../../../src/server/insight/timeline/counted-nodes.js';
import type { Timeline } from '../../../../src/server/insight/timeline/timeline.js';
import { timelines } from '../any-timeline.js';
import { type Batch, timelineOf, withoutRecording } from '../lanes.js';

const sum = (numbers: Iterable<number>) => [...numbers].reduce((total, each) => total + each, 0);

/** The parts that are not 0. */
function partsOf(minutes: Minutes): Partial<Record<PartName, number>> {
  return Object.fromEntries(minutes.parts.filter(({ seconds }) => seconds > 0).map(({ name, seconds }) => [name, seconds]));
}

/** A batch of files of some seconds each, named after the node, that begins at `from`. */
function files(node: number, seconds: readonly number[], from: number, gap = 0): Batch {
  return { files: seconds.map((_, i) => `${node}-${from}-${i}.rb`), seconds: [...seconds], from, to: from + sum(seconds) + gap };
}

const TEN = Array<number>(10).fill(10);
const FIFTEEN = TEN.map(() => 15);
const six = files(0, TEN.slice(4), 0);
const lost = files(0, [20, 20], 0);
/** A queue of three batches, each with a gap after it. */
const withGaps = (node: number) => [0, 30, 60].map(from => files(node, [10, 10], from, 10));
/** A build of one batch for each node, planned with 10 s for each file. */
const planned = (...batches: Batch[]) =>
  timelineOf(
    batches.map(batch => [batch]),
    Object.fromEntries(batches.flatMap(batch => batch.files.map(path => [path, 10]))),
  );

describe('the minutes of a build', () => {
  it.each<[what: string, timeline: Timeline, parts: Partial<Record<PartName, number>>, cause?: { node_index: number; seconds: number }]>([
    [
      'name a slow node',
      planned(...[TEN, TEN, FIFTEEN, TEN].map((each, node) => files(node, each, 0))),
      { even_share: 100, slow_nodes: 50 },
      { node_index: 2, seconds: 200 },
    ],
    [
      'name a late node',
      timelineOf([[files(0, TEN, 0)], [files(1, TEN, 30)], [files(2, TEN, 0)]]),
      { even_share: 100, late_starts: 30 },
      { node_index: 1, seconds: 90 },
    ],
    [
      'name an estimate that was wrong',
      planned(...[TEN, [30, ...TEN.slice(1)], TEN, TEN].map((each, node) => files(node, each, 0))),
      { even_share: 105, estimates: 15 },
      { node_index: 1, seconds: 60 },
    ],
    [
      'name a slow node for which the queue made up',
      planned(...[0, 1, 2].map(node => files(node, [...TEN, 10, 10], 0)), files(3, FIFTEEN.slice(2), 0)),
      { even_share: 110, slow_nodes: 10 },
    ],
    [
      'name a late node for which the queue made up',
      timelineOf([[files(0, [...TEN, 10], 0)], [files(1, TEN, 10)]]),
      { even_share: 105, late_starts: 5 },
    ],
    ['leave out a node of a queue that never came', timelineOf([[files(0, TEN, 0)], null]), { even_share: 100 }],
    [
      'name a node of a split that recorded nothing',
      { ...timelineOf([[files(0, TEN, 0)], null]), kind: 'split' },
      { even_share: 50, late_starts: 50 },
    ],
    [
      'name a file that is longer than an even share',
      timelineOf([[files(0, [90], 0)], [files(1, [20, 10], 20)], [files(2, [30], 0)]]),
      { even_share: 50, longest_file: 40 },
    ],
    [
      'name what delayed the file that decides',
      timelineOf([[files(0, [90], 20)], [files(1, [20, 10], 0)], [files(2, [30], 0)]]),
      { even_share: 50, longest_file: 40, late_starts: 20 },
    ],
    ['name the gaps between batches', timelineOf([withGaps(0), withGaps(1)]), { even_share: 60, gaps: 30 }],
    [
      'name what files took besides their recorded times, and leave the rest to the gaps',
      { ...timelineOf([withGaps(0), withGaps(1)]), cost: { pull_cost: 4, hidden: 3, slowdown: 1 } },
      { even_share: 60, unreported: 18, gaps: 12 },
    ],
    [
      'name no more of that than the gaps are',
      { ...timelineOf([withGaps(0), withGaps(1)]), cost: { pull_cost: 4, hidden: 30, slowdown: 1 } },
      { even_share: 60, unreported: 30 },
    ],
    [
      'name files that ran again',
      timelineOf([[files(0, TEN, 0), { ...files(0, TEN, 0), from: 100, to: 200 }], [files(1, TEN, 0)]]),
      { even_share: 100, repeats: 100 },
    ],
    [
      // Node 0 lost 60 seconds, waited 20, and without both, node 1 would have shared its files.
      'name a node that came back to run its files again, with the wait for it',
      timelineOf([
        [
          { ...six, seconds: six.files.map(() => null) },
          { ...six, from: 80, to: 140 },
        ],
        [files(1, TEN, 0)],
      ]),
      { even_share: 80, gaps: 10, repeats: 50 },
    ],
    [
      // 20 seconds that node 1 waited for the lease are a gap.
      'name a node that was lost and whose files ran again at the end',
      withoutRecording(
        timelineOf([[{ ...lost, seconds: [null, null] }], [files(1, [40], 0), { ...lost, from: 60, to: 100 }], [files(2, [60], 0)]]),
      ),
      { even_share: 46.667, gaps: 6.667, longest_file: 13.333, repeats: 33.333 },
    ],
    [
      'scale the times of files that ran side by side',
      timelineOf([[{ ...files(0, TEN, 0), to: 50 }], [files(1, TEN.slice(5), 0)]]),
      { even_share: 50 },
    ],
    ['of a build in which nothing ran are none', timelineOf([null, null]), {}],
    [
      'have a part of idle time that no cause explains',
      timelineOf([[files(0, TEN, 0)], [files(1, TEN.slice(2), 0)]]),
      { even_share: 90, idle: 10 },
    ],
  ])('%s', (_, timeline, parts, cause) => {
    const minutes = minutesOf(timeline);
    expect(partsOf(minutes)).toEqual(parts);
    if (cause) expect(minutes.parts.flatMap(({ nodes }) => nodes)).toEqual([cause]);
    expect(minutes.floor).toBeCloseTo((parts.even_share ?? 0) + (parts.longest_file ?? 0), 6);
  });

  it('name each cause when nodes end late for different ones', () => {
    const usual = [3, 4, 5].map(node => files(node, TEN, 0));
    const minutes = minutesOf(planned(files(0, FIFTEEN, 0), files(1, TEN, 30), files(2, [30, ...TEN.slice(1)], 0), ...usual));
    expect(minutes.wall).toBe(150);
    expect(Object.keys(partsOf(minutes)).sort()).toEqual(['estimates', 'even_share', 'late_starts', 'slow_nodes']);
  });
});

describe('the minutes of any build', () => {
  it('add up to its wall time, and no part is negative', () => {
    fc.assert(fc.property(timelines, areAdded), { numRuns: 200 });
  });

  it('have a floor that is the work and the longest file, and nodes that lost the rest', () => {
    fc.assert(
      fc.property(timelines, timeline => {
        const { floor, wall, parts, nodes } = minutesOf(timeline);
        const count = countedNodes(timeline).length;
        const [even, longest] = parts;
        expect(floor).toBeCloseTo(even!.seconds + longest!.seconds, 6);
        expect(floor).toBeLessThanOrEqual(wall);
        const lost = sum(parts.slice(2).flatMap(part => part.nodes.map(({ seconds }) => seconds)));
        expect(Math.abs(lost - (wall - floor) * count)).toBeLessThan(0.008 * nodes.length + 0.001);
        // Slow nodes would take less at usual speed.
        expect(even!.seconds * count).toBeLessThanOrEqual(sum(nodes.map(({ work }) => work)) + 0.001 * count + 1e-6);
      }),
    );
  });
});

function areAdded(timeline: Timeline): void {
  const { wall, parts, nodes } = minutesOf(timeline);
  expect(wall).toBe(timeline.wall);
  expect(sum(parts.map(({ seconds }) => Math.round(1000 * seconds)))).toBe(Math.round(1000 * wall));
  for (const { seconds, nodes: causes } of parts) {
    expect(seconds).toBe(Math.round(1000 * seconds) / 1000);
    for (const each of [seconds, ...causes.map(cause => cause.seconds)]) expect(each).toBeGreaterThanOrEqual(0);
  }
  const counted = new Set(countedNodes(timeline).map(({ node_index }) => node_index));
  for (const { node_index, late, work, repeats, unreported, gaps, idle } of nodes) {
    expect(Math.min(late, work, repeats, unreported, gaps, idle)).toBeGreaterThanOrEqual(0);
    expect(Math.abs(late + work + repeats + unreported + gaps + idle - (counted.has(node_index) ? wall : 0))).toBeLessThan(0.001);
  }
}
