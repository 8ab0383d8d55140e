import { expect, it } from 'vitest';
import { asBuffer, type Segments, segment } from '../../../../src/base/bytes.js';
import { digestOfList } from '../../../../src/protocol/list-digest.js';
import { type CutFile, type Cuts, encodeCuts } from '../../../../src/server/engine/pieces/cuts.js';
import type { PlanParts } from '../../../../src/server/engine/ports/plans.js';
import { encodeBasis } from '../../../../src/server/planning/estimating/basis.js';
import { problemsOfQueue, problemsOfSplit } from '../../../../src/server/store/check/plans.js';
import { problemOf } from '../../../../src/server/store/check/problem.js';
import { encodeFiles } from '../../../../src/server/store/codecs/file-blocks.js';
import type { PartName } from '../../../../src/server/store/codecs/plan-parts.js';
import { plannedPaths } from '../../../harness/planned-paths.js';
import { estimates } from '../contract/fixtures.js';

const cut = (file: string, pieces: number): CutFile => ({
  ...{ file, is_trial: false, outcomes: [] },
  pieces: Array.from({ length: pieces }, (_, i) => [`case ${i}`]),
});

const readFrom = (files: Segments) => (number: number) => (number < files.ends.length ? asBuffer(segment(files, number)) : undefined);
const partIn =
  (parts: Partial<PlanParts>) =>
  <Name extends PartName>(name: Name): PlanParts[Name] | null =>
    parts[name] ?? null;
const planOf = (paths: readonly string[]) => ({ ...estimates(paths.length), ...plannedPaths(paths) });

/** Faults of a queue that has these paths, made from a list of files. */
function wrongWithQueue(paths: readonly string[], files: readonly string[], cuts: Cuts | null, pieces_for = cuts && 'pytest'): string[] {
  const plan = planOf(paths);
  const blocks = encodeFiles(plan);
  const queue = {
    ...{ id: 'queue', node_total: 2, blocks: blocks.ends.length },
    list: { digest: digestOfList(files), test_files: files.length, ...(pieces_for !== null && { pieces_for }) },
    readBlock: readFrom(blocks),
    part: partIn({ basis: encodeBasis(plan), weights: plan.weights, ...(cuts && { cuts: encodeCuts(cuts) }) }),
    batches: () => [],
  };
  return Array.from(problemsOfQueue(queue, problemOf('queues', 'queue')), ({ what }) => what);
}

/** Paths with the form of pieces, as a store may have them that another Ballast filled. */
const NAMED = ['a.py::piece 1 of 2', 'a.py', 'b.py::piece 1 of 1', 'c.py::piece 1 of 2::piece 2 of 2', 'd\n.py::piece 0 of 2'];

it('a queue of whole files is sound, whatever their names', () => {
  expect(wrongWithQueue(NAMED, NAMED, null)).toEqual([]);
  expect(wrongWithQueue(NAMED, [...NAMED, 'b.py'], null)).toEqual(['has other files than its list']);
});

it('a queue that leaves out files is sound if it has the others, or none', () => {
  const wrongWith = (paths: readonly string[], leftOut: number) => {
    const plan = planOf(paths);
    const blocks = encodeFiles(plan);
    const proved = { tree: 'a'.repeat(40), keys: [], test_files: leftOut, seconds: 9, ci_runs: [] };
    const queue = {
      ...{ id: 'queue', node_total: 2, blocks: blocks.ends.length, batches: () => [] },
      list: { digest: digestOfList(NAMED), test_files: NAMED.length, proved },
      readBlock: readFrom(blocks),
      part: partIn({ basis: encodeBasis(plan), weights: plan.weights }),
    };
    return Array.from(problemsOfQueue(queue, problemOf('queues', 'queue')), ({ what }) => what);
  };
  expect(wrongWith(NAMED.slice(0, 2), NAMED.length - 2)).toEqual([]);
  expect(wrongWith([], NAMED.length)).toEqual([]);
  expect(wrongWith(NAMED.slice(0, 2), 1)).toEqual(['has other files than its list']);
});

it('a split is sound, whatever the names of its files', () => {
  const plan = planOf(NAMED);
  const planned = Uint32Array.of(0, 1, 2, 3, 4);
  const readBlock = readFrom(encodeFiles(plan, planned));
  const nodeEnds = Uint32Array.of(3, 5, 5);
  const list = { digest: digestOfList(NAMED), test_files: NAMED.length };
  const split = { id: 'split', node_total: 3, list, readBlock, part: partIn({ basis: encodeBasis(plan, planned), nodeEnds }) };
  expect([...problemsOfSplit(split, problemOf('splits', 'split'))]).toEqual([]);
});

it('a queue with pieces is sound if it has all of them in the place of their files, and only its cuts name them', () => {
  const cuts = { files: [cut('a.py', 2), cut('b.py::piece 1 of 2', 2)] };
  const pieces = ['a.py', 'b.py::piece 1 of 2'].flatMap(file => [`${file}::piece 1 of 2`, `${file}::piece 2 of 2`]);
  const files = ['a.py', 'b.py::piece 1 of 2', 'c.py::piece 1 of 2'];
  expect(wrongWithQueue([...pieces, files[2]!], files, cuts)).toEqual([]);
  expect(wrongWithQueue([...pieces.slice(1), files[2]!], files, cuts)).toEqual(['lacks "a.py::piece 1 of 2"']);
  expect(wrongWithQueue(pieces, files, cuts)).toEqual(['has other files than its list']);
});

it('a queue has cuts if its list says that it has pieces', () => {
  const cuts = { files: [cut('a.py', 2)] };
  const pieces = ['a.py::piece 1 of 2', 'a.py::piece 2 of 2'];
  expect(wrongWithQueue(pieces, ['a.py'], cuts, null)).toEqual(['has cuts, but its list has no pieces']);
  expect(wrongWithQueue(pieces, ['a.py'], null, 'pytest')).toContain('has pieces, but no cuts');
});

it('a queue has the files that go first', () => {
  const plan = planOf(['a.py', 'b.py']);
  const blocks = encodeFiles(plan);
  const wrongWith = (file: number) => {
    const queue = {
      ...{ id: 'queue', node_total: 2, blocks: blocks.ends.length, batches: () => [] },
      list: { digest: digestOfList(['a.py', 'b.py']), test_files: 2 },
      readBlock: readFrom(blocks),
      part: partIn({ basis: encodeBasis(plan), weights: plan.weights, first: { failed: [], unmeasured: [file] } }),
    };
    return Array.from(problemsOfQueue(queue, problemOf('queues', 'queue')), ({ what }) => what);
  };
  expect(wrongWith(1)).toEqual([]);
  expect(wrongWith(2)).toEqual(['has files that go first, but not in its list']);
});
