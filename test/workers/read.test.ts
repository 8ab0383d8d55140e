import { expect, it } from 'vitest';
import { limits } from '../../src/limits.js';
import { listBuilds, runsSince } from '../../src/store/lmdb/builds.js';
import type { Parts } from '../../src/store/lmdb/open.js';
import { recordedDistribution } from '../../src/workers/read.js';
import { recordRun, temporaryStore } from '../store/lmdb/temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);
const key = { commit_hash: 'abc', branch: 'main', node_total: 1 };
const LONG = 'x'.repeat(limits.pathMaxCharacters);

it('a build of too many test files is refused for good before any is read', () => {
  const build = { test_files: limits.mergedTestFiles + 1 };
  expect(() => recordedDistribution(null as never, build as never)).toThrow(expect.objectContaining({ status: 422, reason: null }));
});

it('a build of too long paths is refused for good, merged or compared', async () => {
  const store = temporaryStore();
  const count = Math.floor(limits.mergedCharacters / LONG.length) + 1;
  await recordRun(
    store,
    1,
    { ...key, node_index: 0 },
    Array.from({ length: count }, (_, i) => ({ path: `${i}_spec.rb`, time_execution: 1 })),
    NOW,
  );
  const [build] = listBuilds(store, 1, {}, 1).builds;
  expect(runsSince(store, 1, key, null)[0]!.paths).toHaveLength(count);
  const withLong = { ...store, pathNames: { get: () => JSON.stringify(LONG) } } as unknown as Parts;
  for (const read of [() => recordedDistribution(withLong, build!), () => runsSince(withLong, 1, key, null)]) {
    expect(read).toThrow(
      expect.objectContaining({ status: 422, errors: [expect.stringContaining('they have more than 67108864 characters of paths')] }),
    );
  }
});
