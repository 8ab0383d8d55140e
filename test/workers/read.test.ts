import { expect, it } from 'vitest';
import { limits } from '../../src/limits.js';
import { completeness } from '../../src/workers/completeness.js';
import { recordedDistribution } from '../../src/workers/read.js';
import { recordRun, temporaryLmdbStore } from '../store/lmdb/temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);
const key = { commit_hash: 'abc', branch: 'main', node_total: 1 };
const LONG = 'x'.repeat(limits.pathMaxCharacters);

it('a build of too many test files is refused for good before any is read', () => {
  const build = { test_files: limits.mergedTestFiles + 1 };
  expect(() => recordedDistribution(null as never, build as never)).toThrow(expect.objectContaining({ status: 422, reason: null }));
});

it('a build of too long paths is refused for good, merged or compared', async () => {
  const store = temporaryLmdbStore();
  const count = Math.floor(limits.mergedCharacters / LONG.slice(5).length) + 1;
  await recordRun(
    store.parts,
    1,
    { ...key, node_index: 0 },
    Array.from({ length: count }, (_, i) => ({ path: `${LONG.slice(5)}${i}`, time_execution: 1 })),
    NOW,
  );
  const build = store.builds.newest(1, {})!;
  const compared = () => completeness(store, { project: 1, query: { ...key, wait: 0 } });
  for (const read of [() => recordedDistribution(store, build), compared]) {
    expect(read).toThrow(
      expect.objectContaining({ status: 422, errors: [expect.stringContaining('they have more than 67108864 characters of paths')] }),
    );
  }
});
