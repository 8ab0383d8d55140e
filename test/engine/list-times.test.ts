import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ListTimes, timesOfList } from '../../src/engine/list-times.js';
import { pathList } from '../../src/planning/paths/path-list.js';
import { openMemoryStore } from '../../src/store/memory/store.js';
import { newProject, record } from '../store/contract/fixtures.js';

const seed = 20_260_126;

/** Files, and test cases of which some are known by their file only. */
const path = fc.constantFrom(
  ...['a', 'b', 'c'].flatMap(name => [`${name}.rb`, `${name}.rb[1:1]`, `${name}.rb[1:2]`, `${name}/${name}.rb`]),
);
const paths = fc.uniqueArray(path, { minLength: 1 });
const measured = fc.dictionary(path, fc.integer({ min: 1, max: 100 }), { minKeys: 1 });
const MOST_CASES = 1000;

async function opened(times: Record<string, number>) {
  const store = openMemoryStore({ pullCost: 0, lease: null });
  const project = await newProject(store);
  await record(store, project, times);
  const question = (listed: readonly string[]) => ({ project, branch: 'main', list: pathList(listed), mostCases: MOST_CASES });
  const lookUp = (listed: readonly string[]) => store.timings.estimates(project, 'main', pathList(listed), MOST_CASES);
  return { store, project, question, lookUp };
}

describe('what is known of a list', () => {
  it('is the same with what was known of another list as without it, as far as its paths are concerned', () =>
    fc.assert(
      fc.asyncProperty(measured, paths, paths, async (times, before, now) => {
        const { store, project, question, lookUp } = await opened(times);
        const version = await store.timings.version(project);
        const base = { list: pathList(before), times: { ...(await lookUp(before)), version, branch: 'main' } };
        const found = await timesOfList(store.timings, question(now), base, version);
        const expected = await lookUp(now);
        expect({ ...found, files: null }).toEqual({ ...expected, files: null });
        for (const [file, seconds] of expected.files) expect(found.files.get(file)).toBe(seconds);
      }),
      { seed, numRuns: 200 },
    ));

  it('is looked up again after a recording, and on another branch', async () => {
    const { store, project, question } = await opened({ 'a.rb': 1 });
    const times: ListTimes = { seconds: Float64Array.of(99), basis: new Uint8Array(3), files: new Map(), version: 'old', branch: 'main' };
    const base = { list: pathList(['a.rb']), times };
    const version = await store.timings.version(project);
    const seconds = async (known: ListTimes, now: string | null) =>
      (await timesOfList(store.timings, question(['a.rb']), { ...base, times: known }, now)).seconds[0];
    expect(await seconds(times, version)).toBe(1);
    expect(await seconds({ ...times, version, branch: 'other' }, version)).toBe(1);
    expect(await seconds({ ...times, version }, null)).toBe(1);
    expect(await seconds({ ...times, version }, version)).toBe(99);
  });
});
