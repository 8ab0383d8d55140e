import fc from 'fast-check';
import { expect, it } from 'vitest';
import { asBuffer, segment } from '../../../../src/base/bytes.js';
import type { PlannedTestFile } from '../../../../src/server/engine/test-file.js';
import { toSeconds } from '../../../../src/server/planning/weight.js';
import { blocksFor, encodeFiles, filesInTurns, filesOf } from '../../../../src/server/store/codecs/file-blocks.js';
import { plannedPaths } from '../../../harness/planned-paths.js';

const seed = 20_260_123;

const seconds = fc.oneof(
  fc.constant(NaN),
  fc.nat(6_048_000_000).map(toSeconds),
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, 0.0001, 0.1, 1, 10, 9.9999, 604_800, 604_800.1, 1e21, 5e-324, Number.MAX_VALUE),
);
const name = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 8 });
// Few directories, so that files share them.
const path = fc
  .tuple(fc.constantFrom('', '/', 'spec/', 'spec/größe/', 'spec//', '"\\\\/'), name)
  .map(([directory, file]) => directory + file);
const suite = fc.uniqueArray(fc.tuple(path, seconds), { selector: ([one]) => one, maxLength: 20 });

it('planned files are written as JSON.stringify writes them, in any order', () => {
  fc.assert(
    fc.property(suite, fc.integer({ min: 1, max: 4 }), (files, step) => {
      const plan = { ...plannedPaths(files.map(([path]) => path)), seconds: Float64Array.from(files, ([, time]) => time) };
      const order = [...files.keys()].sort((a, b) => (a % step) - (b % step));
      const blocks = encodeFiles(plan, Uint32Array.from(order));
      const expected = order.map(file => {
        const [path, time] = files[file]!;
        return { path, time_execution: Number.isNaN(time) ? null : time };
      });
      const read = (number: number) => asBuffer(segment(blocks, number));
      expect(filesOf(read, 'plan', [...order.keys()])!.toString()).toBe(JSON.stringify(expected));
    }),
    { seed, numRuns: 500 },
  );
});

it('any files of a plan of several blocks are read, in any order', () => {
  const count = 2500;
  const paths = Array.from({ length: count }, (_, i) => `spec/${i % 7}/${'deep/'.repeat(i % 3)}${String(i).padStart(5, '0')}_spec.rb`);
  const plan = { ...plannedPaths(paths), seconds: Float64Array.from(paths, (_, i) => i / 8) };
  const blocks = encodeFiles(plan);
  expect(blocks.ends.length).toBe(blocksFor(count));
  const read = (number: number) => asBuffer(segment(blocks, number));
  const list = (files: readonly number[]) => JSON.parse(filesOf(read, 'plan', files)!.toString()) as PlannedTestFile[];
  const expected = (file: number) => ({ path: plan.list.at(plan.order[file]!), time_execution: file / 8 });
  for (const files of [[0], [2499, 0, 1024, 1023], [...plan.order.keys()]]) expect(list(files)).toEqual(files.map(expected));
});

it('a long list is made in turns, and is the same', async () => {
  const paths = Array.from({ length: 9000 }, (_, i) => `spec/${String(i).padStart(5, '0')}_spec.rb`);
  const plan = { ...plannedPaths(paths), seconds: Float64Array.from(paths, (_, i) => i) };
  const blocks = encodeFiles(plan);
  const read = (number: number) => asBuffer(segment(blocks, number));
  const files = [...plan.order.keys()];
  let turns = 0;
  const list = await filesInTurns(read, 'plan', files, () => Promise.resolve(turns++));
  expect(list!.equals(filesOf(read, 'plan', files)!)).toBe(true);
  expect(turns).toBe(2);
  // It expires meanwhile.
  expect(
    await filesInTurns(
      number => (turns > 2 ? undefined : read(number)),
      'plan',
      files,
      () => Promise.resolve(turns++),
    ),
  ).toBeNull();
});

it('a damaged block is refused, however it is damaged', () => {
  const plan = { ...plannedPaths(['spec/a.rb', 'spec/b.rb', 'c.rb']), seconds: Float64Array.of(3, 2, 1) };
  const block = asBuffer(segment(encodeFiles(plan), 0));
  const list = (bytes: Buffer) => filesOf(() => bytes, 'plan', [0, 1, 2]);
  for (let bytes = 0; bytes < block.length; bytes++)
    expect(() => list(block.subarray(0, bytes)), `${bytes} bytes`).toThrow('block 0 of plan is damaged');
  expect(() => filesOf(() => block, 'plan', [3])).toThrow('block 0 of plan is damaged');
  fc.assert(
    fc.property(fc.nat(block.length - 1), fc.nat(255), (at, byte) => {
      const damaged = Buffer.from(block);
      damaged[at] = byte;
      // A text may be another one, and no number leads out of the block.
      try {
        expect(list(damaged)!.length).toBeLessThan(10 * block.length);
      } catch (error) {
        expect((error as Error).message).toBe('block 0 of plan is damaged');
      }
    }),
    { seed, numRuns: 2000 },
  );
});
