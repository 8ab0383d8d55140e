import { expect, it } from 'vitest';
import type { Build } from '../../src/engine/ports/builds.js';
import { limits } from '../../src/limits.js';
import { deleteSubset } from '../../src/store/lmdb/recordings.js';
import type { LmdbStore } from '../../src/store/lmdb/store.js';
import { BuildPieces, buildOutline, buildPiece } from '../../src/workers/build-pieces.js';
import { buildDetail } from '../../src/workers/read.js';
import { recordRun, temporaryLmdbStore } from '../store/lmdb/temporary-store.js';

const NOW = Date.UTC(2026, 0, 1);
const key = { commit_hash: 'abc', branch: 'main', node_total: 3 };

/** So many runs of as many files, the first of them last. */
async function buildOf(store: LmdbStore, runs: number, files: number): Promise<Build> {
  const test_files = Array.from({ length: files }, (_, i) => ({
    path: `spec/größe "${i}"\t${'x'.repeat(i % 90)}_spec.rb`,
    time_execution: i / 7,
  }));
  for (let run = 0; run < runs; run++) await recordRun(store.parts, 1, { ...key, node_index: run % 3 }, test_files, NOW - run);
  return store.builds.newest(1, {})!;
}

function piecesOf(store: LmdbStore, build: Build, asked: () => void = () => {}): BuildPieces {
  return new BuildPieces(build, buildOutline(store, build), async subject => {
    asked();
    return buildPiece(store, subject);
  });
}

async function textOf(pieces: BuildPieces): Promise<string> {
  const all = [await pieces.first()];
  for await (const piece of pieces.rest()) all.push(piece);
  return Buffer.concat(all).toString();
}

it.each([
  ['runs that one piece has', 3, 5, 1],
  ['runs that end in different pieces', 7, 2000, 4],
  ['a run of several pieces', 1, 12_000, 4],
  ['runs without a file', 4, 0, 1],
])('%s come to the same bytes as the whole', async (_, runs, files, least) => {
  const store = temporaryLmdbStore();
  const build = await buildOf(store, runs, files);
  let count = 0;
  expect(await textOf(piecesOf(store, build, () => (count += 1)))).toBe(buildDetail(store, build).body);
  expect(count).toBeGreaterThanOrEqual(least);
});

it('a run that expires before its turn is left out', async () => {
  const store = temporaryLmdbStore();
  const build = await buildOf(store, 3, 4);
  for (const node of [0, 1]) {
    const pieces = piecesOf(store, build);
    await store.parts.root.transaction(() => deleteSubset(store.parts, [build.number, node, 1]));
    expect(await textOf(pieces)).toBe(buildDetail(store, build).body);
  }
});

it('a run that expires in the middle of it ends the answer', async () => {
  const store = temporaryLmdbStore();
  const build = await buildOf(store, 1, limits.pieceCharacters / 50);
  const pieces = piecesOf(store, build);
  await pieces.first();
  await store.parts.root.transaction(() => deleteSubset(store.parts, [build.number, 0, 1]));
  await expect(pieces.rest().next()).rejects.toMatchObject({ status: 503 });
});
