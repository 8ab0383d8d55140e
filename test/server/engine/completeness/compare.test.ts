import { describe, expect, it } from 'vitest';
import { timestamp } from '../../../../src/base/time.js';
import { type Assignment, compare } from '../../../../src/server/engine/completeness/compare.js';
import { retriedFailures } from '../../../../src/server/engine/completeness/outcomes.js';

const AT = 1000;
/** Before the first run that these tests record. */
const processBegan = { runs_before: 6, at: AT };
const assignment = (node_index: number, more: Partial<Assignment> = {}) => ({
  ...{ node_index, at: AT, ran: false, hasFailed: false, processBegan },
  ...more,
});
/** Assigns files to nodes; those of the node null are not handed out. */
const handedTo = (nodes: Record<string, readonly string[]>) => {
  const handed = new Map<string, Assignment[]>();
  for (const [node, paths] of Object.entries(nodes)) {
    for (const path of paths) handed.set(path, node === 'null' ? [] : [assignment(Number(node))]);
  }
  return handed;
};
const ran = (node_index: number, ...paths: string[]) => ({
  node_index,
  ordinal: 7,
  paths,
  seconds: new Float64Array(paths.length).fill(1),
});

const PIECES = { hasPieces: true };

const lost = (path: string, node_index: number) => ({ path, node_index, handed_out_at: timestamp(AT) });

const COMPLETE = {
  never_handed_out: [],
  handed_out_not_recorded: [],
  ran_not_recorded: [],
  nodesWithoutRecording: [],
  silentNodes: [],
  emptyReruns: [],
  lostReruns: [],
  recorded_twice: [],
  recorded_not_handed_out: [],
  recorded_without_time: [],
  nodes_came: [0, 1],
  nodes_never_came: [],
};

describe('the comparison of handed out with recorded files', () => {
  it('is complete when a late node ran nothing', () => {
    expect(compare(handedTo({ 0: ['a'] }), [ran(0, 'a'), ran(1)], 2)).toEqual({ ...COMPLETE, test_files: 1, recorded: 1 });
  });

  it('names the last node that was handed a file, if no node recorded it', () => {
    const handed = new Map([['a', [assignment(0, { at: 1 }), assignment(2, { at: 2 })]]]);
    expect(compare(handed, [], 3)).toEqual({
      ...COMPLETE,
      ...{ test_files: 1, recorded: 0 },
      handed_out_not_recorded: [{ path: 'a', node_index: 2, handed_out_at: timestamp(2) }],
      silentNodes: [2],
      nodes_came: [0, 2],
      nodes_never_came: [1],
    });
  });

  it('lists acknowledged files apart, even if another node got them later', () => {
    const handed = new Map([['a', [assignment(0, { at: 1, ran: true }), assignment(2, { at: 2 })]]]);
    expect(compare(handed, [], 3)).toEqual({
      ...COMPLETE,
      ...{ test_files: 1, recorded: 0 },
      ran_not_recorded: [{ path: 'a', node_index: 0 }],
      nodesWithoutRecording: [0],
      nodes_came: [0, 2],
      nodes_never_came: [1],
    });
    // The node, or a later process of it, recorded something since.
    expect(compare(handed, [ran(0)], 3)).toMatchObject({ ran_not_recorded: [{ path: 'a' }], nodesWithoutRecording: [] });
    expect(compare(handed, [{ ...ran(0), ordinal: 6 }], 3).nodesWithoutRecording).toEqual([0]);
  });

  it('counts test cases as their file, and a file as its test cases', () => {
    const handed = handedTo({ 0: ['a_spec.rb', 'b_spec.rb[1:1]'], 1: ['b_spec.rb[1:2]'] });
    const runs = [ran(0, 'a_spec.rb[1:1]', 'a_spec.rb[1:2]', 'b_spec.rb[1:1]'), ran(1, 'b_spec.rb')];
    expect(compare(handed, runs, 2)).toEqual({ ...COMPLETE, test_files: 3, recorded: 3 });
  });

  it('does not count a test case as its file if both were handed out', () => {
    const handed = handedTo({ 0: ['a_spec.rb'], 1: ['a_spec.rb[1:1]'] });
    expect(compare(handed, [ran(0), ran(1, 'a_spec.rb[1:1]')], 2).handed_out_not_recorded).toEqual([lost('a_spec.rb', 0)]);
    expect(compare(handed, [ran(0, 'a_spec.rb'), ran(1)], 2).handed_out_not_recorded).toEqual([lost('a_spec.rb[1:1]', 1)]);
  });

  it('does not count a file that one node recorded as a test case of another node', () => {
    const handed = handedTo({ 0: ['a_spec.rb[1:1]'], 1: ['a_spec.rb[1:2]'] });
    expect(compare(handed, [ran(0, 'a_spec.rb')], 2).handed_out_not_recorded).toEqual([lost('a_spec.rb[1:2]', 1)]);
    // A node in fallback had no test case, and ran the whole file.
    expect(compare(handed, [ran(2, 'a_spec.rb')], 3).handed_out_not_recorded).toEqual([]);
  });

  it('does not count a piece of an earlier queue as its file, nor as a piece of another cut', () => {
    for (const path of ['a.py', 'a.py::piece 1 of 2']) {
      const { handed_out_not_recorded } = compare(handedTo({ 0: [path] }), [ran(1, 'a.py::piece 1 of 3')], 2, PIECES);
      expect(handed_out_not_recorded).toEqual([lost(path, 0)]);
    }
  });

  it('counts a piece only if a node recorded it that was handed it', () => {
    const handed = handedTo({ 0: ['a.py::piece 1 of 2'], null: ['a.py::piece 2 of 2'] });
    const runs = [ran(1, 'a.py::piece 1 of 2', 'a.py::piece 2 of 2')];
    expect(compare(handed, runs, 2, PIECES)).toMatchObject({
      handed_out_not_recorded: [{ path: 'a.py::piece 1 of 2', node_index: 0 }],
      never_handed_out: [{ path: 'a.py::piece 2 of 2' }],
    });
    expect(compare(handed, [...runs, ran(0, 'a.py::piece 1 of 2')], 2, PIECES).handed_out_not_recorded).toEqual([]);
  });

  it('counts no piece that its node recorded before the process began that was handed it', () => {
    const path = 'a.py::piece 1 of 2';
    const handed = new Map([[path, [assignment(0, { processBegan: { runs_before: 7, at: AT } })]]]);
    expect(compare(handed, [ran(0, path)], 1, PIECES).handed_out_not_recorded).toMatchObject([{ path, node_index: 0 }]);
    expect(compare(handed, [ran(0, path), { ...ran(0, path), ordinal: 8 }], 1, PIECES).handed_out_not_recorded).toEqual([]);
    // A file is the same in each queue.
    const files = new Map([['a.py', handed.get(path)!]]);
    expect(compare(files, [ran(0, 'a.py')], 1, PIECES).handed_out_not_recorded).toEqual([]);
  });

  it('takes a path with the form of a piece for a file, if the queue has no pieces', () => {
    const paths = ['a.py', 'a.py::piece 1 of 2', 'a.py::piece 2 of 2'];
    const handed = handedTo({ 0: paths });
    expect(compare(handed, [ran(1, ...paths)], 2)).toMatchObject({ test_files: 3, recorded: 3, handed_out_not_recorded: [] });
    const { recorded, handed_out_not_recorded } = compare(handed, [ran(0, ...paths.slice(0, 2))], 2);
    expect([recorded, handed_out_not_recorded.map(({ path }) => path)]).toEqual([2, paths.slice(2)]);
  });

  it('counts a file that a node in fallback ran as all of its pieces', () => {
    const handed = handedTo({ 0: ['a.py::piece 1 of 2'], 1: ['a.py::piece 2 of 2'] });
    expect(compare(handed, [ran(2, 'a.py')], 3, PIECES).handed_out_not_recorded).toEqual([]);
    expect(compare(handed, [ran(0, 'a.py')], 3, PIECES).handed_out_not_recorded).toMatchObject([{ path: 'a.py::piece 2 of 2' }]);
  });
});

it.each<[string, Partial<Assignment>[], number[][]]>([
  ['passed in its retry', [{ isRetry: true, ran: true }], [[0]]],
  ['failed in its retry', [{ isRetry: true, hasFailed: true }], []],
  ['failed after it', [{ isRetry: true, ran: true }, { hasFailed: true }], []],
  ['passed in the second of two retries, and was lost in the first', [{ isRetry: true }, { isRetry: true, ran: true }], [[0]]],
  [
    'passed in the second of two retries, and failed in the first',
    [
      { isRetry: true, hasFailed: true },
      { isRetry: true, ran: true },
    ],
    [],
  ],
])('a file that %s', (_, retries, nodes) => {
  const hands = [{ hasFailed: true }, ...retries].map((hand, i) => assignment(i, hand));
  expect([...retriedFailures(new Map([['a.py', hands]])).values()]).toEqual(nodes);
});
