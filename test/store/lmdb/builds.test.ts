import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { NodeKey } from '../../../src/engine/keys.js';
import { limits } from '../../../src/limits.js';
import type { Parts } from '../../../src/store/lmdb/parts.js';
import { expire, leftovers, recordRun, recordsByTable, temporaryStore } from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);
const seed = 20_260_106;

const node: NodeKey = { commit_hash: 'abc', branch: 'main', node_total: 2, node_index: 0 };

function record(store: Parts, { project = 1, at = NOW, ...key }: Partial<NodeKey> & { project?: number; at?: number } = {}) {
  return recordRun(store, project, { ...node, ...key }, [{ path: 'a_spec.rb', time_execution: 1 }], at);
}

describe('builds in the tables', () => {
  it('keep their records while a run is left', async () => {
    const store = temporaryStore();
    await record(store);
    await record(store, { at: NOW + 100, node_index: 1 });
    await expire(store, NOW + 50);
    expect(recordsByTable(store)).toMatchObject({ builds: 1, buildNumbers: 2, subsets: 1, buildIndex: 8 });
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
});
