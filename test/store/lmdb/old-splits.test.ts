import { expect, it } from 'vitest';
import { openLog } from '../../../src/server/log.js';
import { problemsOf } from '../../../src/store/lmdb/check/check.js';
import { closeParts, openParts } from '../../../src/store/lmdb/parts.js';
import { serveFolder } from '../../../src/store/lmdb/serve-folder.js';
import { lmdbSplits } from '../../../src/store/lmdb/splits.js';
import { STORE_VERSION } from '../../../src/store/lmdb/tables.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { FORECAST, NOBODY } from '../contract/fixtures.js';
import { estimatesOf, splitOf } from './temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);
const key = splitOf(null, 2);
const paths = ['a[1:2]}].rb', 'größe.rb'];

/** A folder as store versions 5 to 7 wrote it: each blob of a split is the whole answer to its node. */
async function oldFolder(version: number): Promise<string> {
  const dataDir = temporaryFolder();
  const parts = openParts(dataDir);
  const splits = lmdbSplits(parts);
  const files = splits.encode(estimatesOf(paths), [[0, 1], []]);
  const plan = { people: NOBODY, list: { digest: '', test_files: 2 }, files, basis: new Uint8Array(), forecast: FORECAST };
  const { id } = await splits.create(key, plan, NOW);
  await parts.blobs.remove([id, 'basis']);
  const { list: _l, has_basis: _h, ...record } = parts.splits.get(key.digest)!;
  await parts.splits.put(key.digest, record);
  for (const [node_index, listed] of [paths, []].entries()) {
    const test_files = listed.map(path => ({ path, time_execution: 1.5 }));
    await parts.blobs.put([id, node_index], Buffer.from(JSON.stringify({ build_distribution_id: id, node_index, test_files })));
  }
  await parts.meta.put('version', version);
  await closeParts(parts);
  return dataDir;
}

it.each([5, 6, 7])('a split of store version %d is served and checked as before', async version => {
  const dataDir = await oldFolder(version);
  const store = await serveFolder(dataDir, openLog('silent'));
  const split = (await store.splits.find(key))!;
  const listed = [0, 1].map(node => JSON.parse(store.splits.files(split, node)!.toString()) as unknown);
  expect(listed).toEqual([paths.map(path => ({ path, time_execution: 1.5 })), []]);
  expect(store.splits.basis(split)).toBeNull();
  // Other tables report the missing project.
  expect([...problemsOf(store.parts, () => {})].filter(({ table }) => table === 'splits')).toEqual([]);
  expect(store.parts.meta.get('version')).toBe(STORE_VERSION);
  await store.close();
});
