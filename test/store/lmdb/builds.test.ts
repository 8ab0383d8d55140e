import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BuildFilter, NodeKey } from '../../../src/engine/build-key.js';
import { limits } from '../../../src/limits.js';
import { filterKeys } from '../../../src/store/lmdb/build-index.js';
import { lmdbBuilds } from '../../../src/store/lmdb/builds.js';
import { problemsOfBuildIndex } from '../../../src/store/lmdb/check/build-index.js';
import type { Parts } from '../../../src/store/lmdb/parts.js';
import { expire, leftovers, recordRun, recordsByTable, temporaryStore } from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);
const seed = 20_260_106;

const node: NodeKey = { commit_hash: 'abc', branch: 'main', node_total: 2, node_index: 0 };

function record(store: Parts, { project = 1, at = NOW, ...key }: Partial<NodeKey> & { project?: number; at?: number } = {}) {
  return recordRun(store, project, { ...node, ...key }, [{ path: 'a_spec.rb', time_execution: 1 }], at);
}

/** Gives each build an entry under each of eight filters. */
async function indexAsVersion10({ builds, buildCounts, buildIndex }: Parts): Promise<void> {
  for (const { key: filter, value } of [...buildCounts.getRange()]) {
    const [count, next, first] = value;
    if (first === undefined) continue;
    await buildIndex.put([filter, 0], first);
    await buildCounts.put(filter, [count, next]);
  }
  for (const { key: number, value: build } of [...builds.getRange()]) {
    const filter = filterKeys(build.project, build, 8)[7]!;
    await buildIndex.put([filter, 0], number);
    await buildCounts.put(filter, [1, 1]);
    await builds.put(number, { ...build, places: [...build.places, 0] });
  }
}

describe('builds in the tables', () => {
  it('continue the numbers of runs that an older store recorded and that have expired', async () => {
    const store = temporaryStore();
    for (const at of [NOW, NOW + 1, NOW + 2]) await record(store, { at });
    const builds = lmdbBuilds(store);
    const { number } = builds.find(1, node)!;
    const { recorded: _, ...older } = store.builds.get(number)!;
    await store.builds.put(number, older);
    const { recorded } = builds.find(1, node)!;
    await expire(store, NOW + 2);
    await record(store, { at: NOW + 2 * limits.lastUseUpdateMilliseconds });
    expect(builds.runs(number).at(-1)!.ordinal).toBe(recorded + 1);
  });

  it('keep their records while a run is left', async () => {
    const store = temporaryStore();
    await record(store);
    await record(store, { at: NOW + 100, node_index: 1 });
    await expire(store, NOW + 50);
    expect(recordsByTable(store)).toMatchObject({ builds: 1, buildNumbers: 2, subsets: 1, buildIndex: 0, buildCounts: 7, buildGaps: 0 });
  });

  it('are listed and deleted in a store that version 10 wrote in part', async () => {
    const store = temporaryStore();
    for (const [i, commit_hash] of ['a', 'b'].entries()) await record(store, { commit_hash, at: NOW + i });
    await indexAsVersion10(store);
    for (const [i, commit_hash] of ['c', 'd'].entries()) await record(store, { commit_hash, at: NOW + 2 + i });
    await record(store, { commit_hash: 'a', node_total: 4, at: NOW + 4 });
    const nodes = { branch: 'main', node_total: 2 };
    const numbers = (filter: BuildFilter) =>
      lmdbBuilds(store)
        .page(1, filter, 1)
        .builds.map(({ number }) => number);
    const listed = () => [{}, { commit_hash: 'a' }, { ...nodes, commit_hash: 'a' }, { ...nodes, commit_hash: 'c' }].map(numbers);
    expect(listed()).toEqual([[5, 4, 3, 2, 1], [5, 1], [1], [3]]);
    expect([...problemsOfBuildIndex(store, () => {})]).toEqual([]);
    await expire(store, NOW + 3);
    expect(listed()).toEqual([[5, 4], [5], [], []]);
    expect([...problemsOfBuildIndex(store, () => {})]).toEqual([]);
    await expire(store, NOW + 2 * limits.lastUseUpdateMilliseconds);
    expect(leftovers(store)).toEqual([]);
  });

  it('expire with their last run and leave nothing behind', async () => {
    const store = temporaryStore();
    const recording = fc.record({
      project: fc.integer({ min: 1, max: 2 }),
      commit_hash: fc.constantFrom('c1', 'c2', 'c3'),
      branch: fc.constantFrom('main', 'next'),
      node_total: fc.constantFrom(2, 4),
      node_index: fc.constantFrom(0, 1),
      after: fc.integer({ min: 0, max: 5 }),
    });
    const round = fc.tuple(fc.array(recording, { maxLength: 12 }), fc.integer({ min: 0, max: 40 }));
    let now = NOW;
    await fc.assert(
      fc.asyncProperty(fc.array(round, { maxLength: 5 }), async rounds => {
        let kept: number[] = [];
        for (const [recordings, age] of rounds) {
          const runs = recordings.map(({ after, ...key }) => ({ ...key, at: (now += after) }));
          await Promise.all(runs.map(run => record(store, run)));
          await expire(store, now - age);
          kept = [...kept, ...runs.map(({ at }) => at)].filter(at => at >= now - age);
          expect([store.subsets.getCount(), store.expiry.getCount()]).toEqual([kept.length, store.builds.getCount()]);
        }
        now += 1;
        // The names of paths stay an hour longer.
        await expire(store, now + limits.lastUseUpdateMilliseconds);
        expect(leftovers(store)).toEqual([]);
      }),
      { seed, numRuns: 25 },
    );
  });

  it('are on the same page as in a plain list, also after some of the oldest were recorded again', async () => {
    const store = temporaryStore();
    let now = NOW;
    const commits = Array.from({ length: 3300 }, (_, i) => `c${i}`);
    const recordAll = (hashes: string[]) => Promise.all(hashes.map(commit_hash => record(store, { commit_hash, at: now++ })));
    await recordAll(commits);
    const repeated = commits.filter((_, i) => i % 7 === 0 && i < 2400);
    await recordAll(repeated);
    await expire(store, NOW + 2350);
    let expected = [...repeated.filter(commit => Number(commit.slice(1)) < 2350), ...commits.slice(2350)].reverse();
    for (const added of [[], ['new-1', 'new-2']]) {
      await recordAll(added);
      expected = [...added.toReversed(), ...expected];
      for (let page = 1; page <= 14; page++) {
        const { total, builds } = lmdbBuilds(store).page(1, { branch: 'main' }, page);
        expect(total).toBe(expected.length);
        expect(builds.map(({ commit_hash }) => commit_hash)).toEqual(expected.slice(100 * (page - 1), 100 * page));
      }
    }
  });
});
