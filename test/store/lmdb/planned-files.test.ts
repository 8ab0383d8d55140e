import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { segment } from '../../../src/bytes.js';
import { toSeconds } from '../../../src/planning/weight.js';
import { encodeSplitFiles } from '../../../src/store/lmdb/codecs/split-files.js';
import { plannedPaths } from '../../harness/planned-paths.js';

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

describe('planned files', () => {
  it('are written as JSON.stringify writes them, node by node', () => {
    fc.assert(
      fc.property(suite, fc.integer({ min: 1, max: 4 }), (files, nodeTotal) => {
        const plan = { ...plannedPaths(files.map(([path]) => path)), seconds: Float64Array.from(files, ([, time]) => time) };
        const nodes = Array.from({ length: nodeTotal }, (_, node) => [...files.keys()].filter(file => file % nodeTotal === node));
        const encoded = encodeSplitFiles(plan, nodes);
        const expected = nodes.map(node =>
          JSON.stringify(
            node.map(file => ({ path: files[file]![0], time_execution: Number.isNaN(files[file]![1]) ? null : files[file]![1] })),
          ),
        );
        expect(nodes.map((_, node) => segment(encoded, node).toString())).toEqual(expected);
      }),
      { seed, numRuns: 500 },
    );
  });
});
