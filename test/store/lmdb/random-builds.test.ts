import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { BuildFilter, BuildKey, NodeKey } from '../../../src/engine/build-key.js';
import { limits } from '../../../src/limits.js';
import type { Parts } from '../../../src/store/lmdb/parts.js';
import { expire, leftovers, listBuilds, recordRun, runsOfBuild, temporaryStore } from './temporary-store.js';

const seed = 20_260_106;
const NOW = Date.UTC(2026, 0, 1);

const record = (
  store: Parts,
  { project = 1, at, count = 1, ...key }: Partial<NodeKey> & { project?: number; at: number; count?: number },
) => {
  const files = Array.from({ length: count }, (_, i) => ({ path: `spec/${i}_spec.rb`, time_execution: i }));
  return recordRun(store, project, { commit_hash: 'abc', branch: 'main', node_total: 2, node_index: 0, ...key }, files, at);
};

interface Model {
  project: number;
  key: NodeKey;
  at: number;
  count: number;
}

const recording = fc.record({
  project: fc.integer({ min: 1, max: 2 }),
  commit_hash: fc.constantFrom('c1', 'c2', 'c3'),
  branch: fc.constantFrom('main', 'next'),
  node_total: fc.constantFrom(2, 4),
  node_index: fc.constantFrom(0, 1),
  count: fc.integer({ min: 0, max: 3 }),
  after: fc.integer({ min: 0, max: 5 }),
});

const nameOf = ({ commit_hash, branch, node_total }: BuildKey) => `${commit_hash} ${branch} ${node_total}`;

/** The store must list the builds of the kept runs, under every filter. */
function expectSame(store: Parts, kept: readonly Model[]): void {
  for (const project of [1, 2]) {
    for (let bits = 0; bits < 8; bits++) {
      const filter: BuildFilter = {
        ...(bits & 1 && { commit_hash: 'c1' }),
        ...(bits & 2 && { branch: 'main' }),
        ...(bits & 4 && { node_total: 2 }),
      };
      const builds = new Map<string, Model[]>();
      for (const run of kept) {
        if (run.project !== project) continue;
        if (Object.entries(filter).some(([name, value]) => run.key[name as keyof BuildFilter] !== value)) continue;
        builds.set(nameOf(run.key), [...(builds.get(nameOf(run.key)) ?? []), run]);
      }
      const listed = listBuilds(store, project, filter, 1);
      expect(listed.total).toBe(builds.size);
      expect(listed.builds.map(nameOf).sort()).toEqual([...builds.keys()].sort());
      for (const build of listed.builds) {
        const runs = builds.get(nameOf(build))!;
        expect(build.subsets).toBe(runs.length);
        expect(build.test_files).toBe(runs.reduce((sum, run) => sum + run.count, 0));
        expect(build.updated_at).toBe(Math.max(...runs.map(({ at }) => at)));
        expect(runsOfBuild(store, build).map(({ created_at }) => created_at)).toEqual(runs.map(({ at }) => at).sort((a, b) => b - a));
      }
    }
  }
}

describe('builds that are recorded and expire at random', () => {
  it('are listed and counted as a plain list of runs would be, and leave nothing behind', async () => {
    const store = temporaryStore();
    let now = NOW;
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.tuple(fc.array(recording, { maxLength: 12 }), fc.integer({ min: 0, max: 40 })), { maxLength: 5 }),
        async rounds => {
          let kept: Model[] = [];
          for (const [recordings, age] of rounds) {
            const writes: Promise<unknown>[] = [];
            for (const { project, count, after, ...key } of recordings) {
              now += after;
              kept.push({ project, key, at: now, count });
              writes.push(record(store, { project, ...key, at: now, count }));
            }
            await Promise.all(writes);
            expectSame(store, kept);
            await expire(store, now - age);
            kept = kept.filter(({ at }) => at >= now - age);
            expectSame(store, kept);
            expect(store.expiry.getCount()).toBe(kept.length);
          }
          now += 1;
          // What paths are called is kept an hour longer.
          await expire(store, now + limits.lastUseUpdateMilliseconds);
          expect(leftovers(store)).toEqual([]);
        },
      ),
      { seed, numRuns: 25 },
    );
  });

  it('are on the page that a plain list of them has them on', async () => {
    const store = temporaryStore();
    let now = NOW;
    const commits = Array.from({ length: 3300 }, (_, i) => `c${i}`);
    const recordAll = (some: string[]) => Promise.all(some.map(commit_hash => record(store, { commit_hash, at: now++ })));
    await recordAll(commits);
    // Some of the oldest are run again, and outlive those around them.
    const again = commits.filter((_, i) => i % 7 === 0 && i < 2400);
    await recordAll(again);
    await expire(store, NOW + 2350);
    let listed = [...again.filter(commit => Number(commit.slice(1)) < 2350), ...commits.slice(2350)].reverse();
    for (const more of [[], ['new-1', 'new-2']]) {
      await recordAll(more);
      listed = [...more.toReversed(), ...listed];
      for (let page = 1; page <= 14; page++) {
        const { total, builds } = listBuilds(store, 1, { branch: 'main' }, page);
        expect(total).toBe(listed.length);
        expect(builds.map(({ commit_hash }) => commit_hash)).toEqual(listed.slice(100 * (page - 1), 100 * page));
      }
    }
  });
});
