import fc from 'fast-check';
import { expect, it } from 'vitest';
import { segment } from '../../../../src/base/bytes.js';
import { toSeconds } from '../../../../src/server/planning/weight.js';
import { encodeSplitFiles } from '../../../../src/server/store/codecs/file-blocks.js';
import { plannedPaths } from '../../../harness/planned-paths.js';

const seed = 20_260_123;

const seconds = fc.oneof(
  fc.constant(NaN),
  fc.nat(6_048_000_000).map(toSeconds),
  fc.double({ min: 0, noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(0, 0.0001, 0.1, 1, 10, 9.9999, 604_800, 604_800.1, 1e21, 5e-324, Number.MAX_VALUE),
);
const suite = fc.uniqueArray(fc.tuple(fc.string({ unit: 'grapheme', minLength: 1 }), seconds), {
  selector: ([path]) => path,
  maxLength: 20,
});

it('planned files are written as JSON.stringify writes them, in any order', () => {
  fc.assert(
    fc.property(suite, fc.integer({ min: 1, max: 4 }), (files, step) => {
      const plan = { ...plannedPaths(files.map(([path]) => path)), seconds: Float64Array.from(files, ([, time]) => time) };
      const order = [...files.keys()].sort((a, b) => (a % step) - (b % step));
      const block = segment(encodeSplitFiles(plan, [order]), 0);
      const [start, end] = [0, 4].map(at => block.readUInt32LE(at));
      const expected = order.map(file => {
        const [path, time] = files[file]!;
        return { path, time_execution: Number.isNaN(time) ? null : time };
      });
      expect(block.toString('utf8', start, end)).toBe(JSON.stringify(expected));
    }),
    { seed, numRuns: 500 },
  );
});
