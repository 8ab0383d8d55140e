import { expect, it } from 'vitest';
import { limits } from '../../../src/protocol/limits.js';
import { reads } from '../../../src/server/api/reads.js';
import { boundedRuns, lastRunId, mergeRuns, pathsNotRun } from '../../../src/server/engine/builds.js';
import { isAfter } from '../../../src/server/engine/moment.js';
import type { Build, Builds, Run, RunHead } from '../../../src/server/engine/ports/builds.js';
import { memoryStore } from '../../harness/memory-store.js';
import { recordRun } from '../../harness/recording.js';

const BUILD = { number: 1 } as Build;

/** Returns a store of one build with one run. Each path is a number and the given one. */
function buildsWith(files: number, path = 'a_spec.rb'): Builds {
  const head = { node_index: 0, run: 1, ordinal: 1, created_at: 0, test_files: files } as RunHead;
  const run = () => ({ ...head, paths: Array.from({ length: files }, (_, i) => `${i}${path}`), seconds: new Float64Array(files) });
  return { runs: () => [head], run } as unknown as Builds;
}

async function readRuns(builds: Builds): Promise<Run[]> {
  const runs: Run[] = [];
  for await (const run of boundedRuns(builds, BUILD, await builds.runs(1))) runs.push(run);
  return runs;
}

it('a build with too many test files is refused before a run is read', async () => {
  const builds = { runs: () => [{ test_files: limits.mergedTestFiles + 1 }] } as unknown as Builds;
  await expect(reads.recordedDistribution({ builds, ciRuns: { newest: () => [null] } } as never, BUILD)).rejects.toMatchObject({
    reason: 'rule',
  });
});

it('a build with too many characters in its paths is refused, merged or compared', async () => {
  const path = 'x'.repeat(limits.pathMaxCharacters);
  const files = Math.floor(limits.mergedCharacters / path.length) + 1;
  expect((await readRuns(buildsWith(files)))[0]!.paths).toHaveLength(files);
  const builds = buildsWith(files, path);
  const all = [() => reads.recordedDistribution({ builds, ciRuns: { newest: () => [null] } } as never, BUILD), () => readRuns(builds)];
  for (const read of all) {
    await expect(read()).rejects.toMatchObject({
      message: expect.stringContaining('they have more than 67108864 characters of paths') as unknown,
    });
  }
});

it('a run that expires while its build is read is left out', async () => {
  const builds = { ...buildsWith(3), run: () => null };
  expect(await readRuns(builds)).toEqual([]);
});

it('runs after a moment have a greater number, whatever the clock says', async () => {
  const store = memoryStore();
  await store.access.createProject('web', 'hash', 0);
  const node = { commit_hash: 'abc', branch: 'main', node_total: 1, node_index: 0 };
  // The clock is set back before the third run.
  for (const [i, at] of [1000, 2000, 500].entries()) await recordRun(store, 1, node, [{ path: `${i}_spec.rb`, time_execution: i % 2 }], at);
  const build = await store.builds.find(1, node);
  for (const [since, expected] of [
    [{ runs_before: 1, at: 1500 }, [1, 2]],
    [{ runs_before: 3, at: 0 }, []],
  ] as const) {
    const heads = await store.builds.runs(build!.number);
    expect(heads.filter(head => isAfter(head, since)).map(({ ordinal }) => ordinal - 1)).toEqual(expected);
  }
  const last = (await store.builds.runs(build!.number)).at(-1)!;
  expect(await lastRunId(store.builds, 1, node, { runs_before: 1, at: 1500 })).toBe(last.id);
  expect(await lastRunId(store.builds, 1, node, { runs_before: 3, at: 0 })).toBeNull();
  expect(await pathsNotRun(store.builds, 1, node, { runs_before: 1, at: 1500 })).toEqual(new Set(['2_spec.rb']));
});

/** The runs of a build. */
const runsOf = (...runs: Readonly<Record<string, number>>[]) =>
  runs.map((times, i) => ({ ordinal: i + 1, paths: Object.keys(times), seconds: Float64Array.from(Object.values(times)) }));

const RUNS = runsOf(
  { 'long.py::piece 1 of 2': 3, 'long.py::piece 2 of 2': 4, 'lost.py::piece 1 of 2': 5, 'again.py::piece 1 of 2': 9, 'a.py': 1 },
  { 'long.py::piece 2 of 2': 6, 'again.py': 8 },
);

it('the runs of a build with pieces have files in their place, so that the files can be listed again', async () => {
  // Of lost.py not all pieces were recorded, and again.py ran as a whole, too.
  const files = [
    { path: 'again.py', time_execution: 8 },
    { path: 'long.py', time_execution: 8 },
    { path: 'a.py', time_execution: 1 },
    { path: 'lost.py', time_execution: 0 },
  ];
  expect(await mergeRuns(RUNS, null)).toEqual(files);
  expect(await mergeRuns(RUNS, { runs_before: 2, at: 0 })).toEqual(files);
});

it('the runs of a build that ran in pieces, and then whole, have each file once', async () => {
  const runs = runsOf({ 'long.py::piece 1 of 2': 3, 'long.py::piece 2 of 2': 4, 'b.py::piece 1 of 1': 2 }, { 'long.py': 9 });
  expect(await mergeRuns(runs, { runs_before: 1, at: 0 })).toEqual([
    { path: 'long.py', time_execution: 9 },
    { path: 'b.py', time_execution: 2 },
  ]);
});

it('the runs of a build without pieces have files as they are named', async () => {
  for (const runs_before of [0, 1]) {
    expect((await mergeRuns([...RUNS, ...RUNS], { runs_before, at: 0 })).map(({ path }) => path)).toContain('long.py::piece 2 of 2');
  }
});
