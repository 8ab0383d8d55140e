import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { mergeRuns } from '../../src/engine/builds.js';
import type { RecordedTestFile } from '../../src/engine/test-file.js';

const seed = 20_260_105;

const run = fc.uniqueArray(
  fc.record({
    path: fc.constantFrom('a_spec.rb', 'b_spec.rb', 'c_spec.rb', 'd_spec.rb', 'e_spec.rb'),
    time_execution: fc.oneof(fc.constant(0), fc.integer({ min: 1, max: 1000 })),
  }),
  { selector: ({ path }) => path },
);

const merge = (runs: RecordedTestFile[][]) =>
  mergeRuns(
    runs.map(files => ({
      paths: files.map(({ path }) => path),
      seconds: Float64Array.from(files, ({ time_execution }) => time_execution),
    })),
  );

function medianOf(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  if (sorted.length === 0) return 0;
  const [low, high] = [sorted[Math.floor((sorted.length - 1) / 2)]!, sorted[Math.ceil((sorted.length - 1) / 2)]!];
  return (low + high) / 2;
}

describe('the merged runs of a build', () => {
  it('have every path once, with the median of its measured times, slowest first, in whatever order the runs are', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(run, { maxLength: 8 }), async runs => {
        const times = new Map<string, number[]>();
        for (const { path, time_execution } of runs.flat()) times.set(path, [...(times.get(path) ?? []), time_execution]);
        const expected = [...times]
          .map(([path, all]) => ({ path, time_execution: medianOf(all.filter(time => time > 0)) }))
          .sort((a, b) => b.time_execution - a.time_execution || (a.path < b.path ? -1 : 1));
        expect(await merge(runs)).toEqual(expected);
        expect(await merge(runs.toReversed())).toEqual(expected);
      }),
      { seed, numRuns: 150 },
    );
  });
});
