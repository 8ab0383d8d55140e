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
  it('have every path once, with the median of its measured times, slowest first', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(run, { maxLength: 8 }), async runs => {
        const merged = await merge(runs);
        const all = runs.flat();
        expect(merged.map(({ path }) => path).sort()).toEqual([...new Set(all.map(({ path }) => path))].sort());
        for (const { path, time_execution } of merged) {
          const measured = all.filter(file => file.path === path && file.time_execution > 0);
          expect(time_execution).toBe(medianOf(measured.map(file => file.time_execution)));
        }
        const slowestFirst = [...merged].sort((a, b) => b.time_execution - a.time_execution || (a.path < b.path ? -1 : 1));
        expect(merged).toEqual(slowestFirst);
      }),
      { seed, numRuns: 500 },
    );
  });

  it('do not depend on the order of the runs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(run, { maxLength: 8 }), async runs => {
        expect(await merge([...runs].reverse())).toEqual(await merge(runs));
      }),
      { seed, numRuns: 100 },
    );
  });

  it('have 0 for a file that was only scheduled, which does not lower the median', async () => {
    const scheduled = [{ path: 'a_spec.rb', time_execution: 0 }];
    expect(await merge([scheduled, scheduled])).toEqual(scheduled);
    expect(await merge([scheduled, [{ path: 'a_spec.rb', time_execution: 8 }]])).toEqual([{ path: 'a_spec.rb', time_execution: 8 }]);
  });

  it('are empty when nothing was recorded', async () => {
    expect(await merge([])).toEqual([]);
    expect(await merge([[], []])).toEqual([]);
  });
});
