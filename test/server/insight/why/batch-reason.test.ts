import { describe, expect, it } from 'vitest';
import { type BatchFacts, batchReason, partReason } from '../../../../src/server/insight/why/batch-reason.js';

const decision = { remaining: 2400, finish_in: 312, speed: 0.9, slowdown: 1, share: 280, target: 168, pull_cost: 2, hidden: 0 };
const facts: BatchFacts = {
  ...{
    node_index: 3,
    nodeTotal: 8,
    wereFewer: false,
    decision,
    isGuessed: false,
    weight: 168,
    files: 12,
    filesWithCases: 0,
    pieces: [],
    replay: null,
    returned: [],
    first: null,
    failedOn: null,
  },
};
const reason = (more: Partial<BatchFacts> = {}, sized: Partial<typeof decision> = {}) =>
  batchReason({ ...facts, decision: { ...decision, ...sized }, ...more });

describe('the reason for a batch', () => {
  it('tells what was left, when all would finish, and the share of the node', () => {
    expect(reason()).toBe(
      '40 m 00 s of work was left for 8 nodes, so all would finish in 5 m 12 s. Node 3 runs at 0.9 of the usual speed and would do ' +
        '4 m 40 s of that work; it got 0.6 of its share, 2 m 48 s, so that later batches can correct errors.',
    );
  });

  it('leaves out what is as usual', () => {
    expect(reason({}, { speed: 1.01 })).toContain('Node 3 would do 4 m 40 s of that work;');
    expect(reason({}, { speed: 1.04 })).toContain('Node 3 runs at 1.04 of the usual speed and');
  });

  it.each<[situation: string, more: Partial<BatchFacts>, sized: Partial<typeof decision>, text: string]>([
    [
      'its files go first',
      { first: { failed: 1, unmeasured: 2 } },
      { target: 4 },
      'Node 3 got files that go first: one file failed in the newest run of the branch, and 2 files were never measured. Such a batch has one file, or up to 4.0 s of files, so that',
    ],
    [
      'its file was never measured',
      { first: { failed: 0, unmeasured: 1 } },
      {},
      'got files that go first: one file was never measured. Such',
    ],
    ['files take longer', {}, { slowdown: 1.3 }, 'was left for 8 nodes, and files took 1.3 times their estimates until then, so all would'],
    [
      'the end is near',
      {},
      { share: 8, target: 8 },
      'it got all of its share, because another pull would take 2.0 s, more than it could gain.',
    ],
    ['it had many batches', {}, { target: 280 }, 'it got all of its share, because it had enough batches before to correct errors.'],
    ['other nodes have yet to come', {}, { target: 70 }, 'it got 0.25 of its share, 70 s, so that nodes that have yet to come find work.'],
    ['most files are guessed', { isGuessed: true }, { target: 42 }, 'it got 42 s of it, because most files were never measured'],
    ['nodes never came', { wereFewer: true }, {}, '40 m 00 s of work was left for up to 8 nodes, so all would'],
    ['it is alone', { nodeTotal: 1 }, {}, 'Node 3 is the only node, so it got all that was left: 40 m 00 s of work.'],
    ['it got the rest', { weight: 20 }, { remaining: 20, target: 20 }, 'These files were the last ones.'],
    ['it got the last file', { weight: 20, files: 1 }, { remaining: 20 }, 'It was the last file.'],
    ['its file is long', { weight: 600, files: 1 }, {}, 'Its one file is longer than that, 10 m 00 s: a batch has at least one file.'],
    [
      'it has a piece of a file',
      { pieces: [{ file: 'a.py', number: 2, count: 3 }] },
      {},
      'It has piece 2 of 3 of a.py: the queue cut the file, because it takes more than half of an even share of the work.',
    ],
    [
      'it has pieces of several files',
      { pieces: [1, 2, 3, 4].map(number => ({ file: `${number}.py`, number, count: 5 })) },
      {},
      'It has piece 1 of 5 of 1.py, piece 2 of 5 of 2.py, piece 3 of 5 of 3.py, and 1 more: the queue cut these files, because each takes',
    ],
    ['it is a retry', { failedOn: [1, 2], decision: null }, {}, 'Node 3 retried a file that had failed on nodes 1, 2.'],
    ['only test cases ran', { filesWithCases: 2 }, {}, 'Of 2 files only the failed test cases ran.'],
  ])('tells that %s', (_, more, sized, text) => {
    expect(reason(more, sized)).toContain(text);
  });

  it('tells from which nodes files came back, and names a few of them', () => {
    const returned = [
      { node_index: 5, lease: 'expired' as const, files: 7 },
      { node_index: 2, lease: 'restarted' as const, files: 1 },
      { node_index: 1, lease: 'returned' as const, files: 1 },
      { node_index: 0, lease: 'returned' as const, files: 1 },
    ];
    expect(reason({ returned })).toMatch(
      /errors\. 7 files were with node 5 before, which was silent for too long\. One file was with node 2 before, which restarted\. One file was with node 1 before, which was silent for too long, and came back later\.$/,
    );
  });

  it.each([
    ['unfinished', 'Node 3 restarted, and got the 12 files again that it had not reported as run, or that failed.'],
    ['own', 'Node 3 was retried, and a retry gets all files that the node had: 12 files.'],
    ['copied', 'Node 3 got the 12 files that it had in the CI run that this one repeats.'],
  ] as const)('of a repeat (%s) needs no decision', (replay, text) => {
    expect(reason({ replay, decision: null })).toBe(text);
  });
});

describe('the reason for a part of a split', () => {
  const forecast = { makespan: 280, lower_bound: 275 };
  const part = { node_index: 1, nodeTotal: 2, files: 3, weight: 280, mean: 270, forecast, isReused: false };

  it('tells the work of the node, of the others and the bound', () => {
    expect(partReason(part)).toBe(
      'A split gives each file, the longest first, to the node with the least work, and then moves files between nodes to even them out. ' +
        'Node 1 got 4 m 40 s of work; the mean of the 2 nodes is 4 m 30 s. ' +
        'The node with the most work has 4 m 40 s; in no split of whole files could it have less than 4 m 35 s.',
    );
  });

  it('tells that the node got no files, is alone, or that the split is an old one', () => {
    expect(partReason({ ...part, files: 0, weight: 0 })).toContain('Node 1 got no files; the mean');
    expect(partReason({ ...part, node_index: 0, nodeTotal: 1 })).toBe('Node 0 is the only node, so it got all files.');
    expect(partReason({ ...part, isReused: true })).toMatch(/made for an earlier CI run of this build, and later ones get the same\.$/);
  });
});
