import { expect, it } from 'vitest';
import {
  BuildPieces,
  buildAnswer,
  buildOutline,
  buildPiece,
  PIECE_CHARACTERS,
  subsetAnswer,
} from '../../../src/server/api/build-pieces.js';
import { createProject } from '../../../src/server/engine/access.js';
import type { Build, RunHead } from '../../../src/server/engine/ports/builds.js';
import type { Store } from '../../../src/server/engine/ports/store.js';
import { memoryStore } from '../../harness/memory-store.js';
import { recordRun } from '../../harness/recording.js';

const NOW = Date.UTC(2026, 0, 1);
const key = { commit_hash: 'abc', branch: 'main', node_total: 3 };

/** A build with so many runs of as many files, the first of them last. */
async function buildOf(store: Store, runs: number, files: number): Promise<Build> {
  const test_files = Array.from({ length: files }, (_, i) => ({
    path: `spec/größe "${i}"\t${'x'.repeat(i % 90)}_spec.rb`,
    time_execution: i / 7,
  }));
  for (let run = 0; run < runs; run++) await recordRun(store, 1, { ...key, node_index: run % 3 }, test_files, NOW - run);
  return (await store.builds.find(1, key))!;
}

/** The whole build as one JSON text, without some of its runs. */
async function whole({ builds }: Store, build: Build, isLeftOut: (head: RunHead) => boolean = () => false): Promise<string> {
  const heads = (await builds.runs(build.number)).filter(head => !isLeftOut(head)).sort((a, b) => b.created_at - a.created_at);
  const build_subsets = await Promise.all(
    heads.map(async head => {
      const { paths, seconds } = (await builds.run(build.number, head))!;
      return subsetAnswer(
        head,
        paths.map((path, i) => ({ path, time_execution: seconds[i]! })),
      );
    }),
  );
  return JSON.stringify({ ...buildAnswer(build), ci_runs: [], build_subsets });
}

async function piecesOf(store: Store, build: Build, asked: () => void = () => {}): Promise<BuildPieces> {
  return new BuildPieces(build, [], await buildOutline(store, build), async subject => {
    asked();
    return buildPiece(store, subject);
  });
}

async function textOf(pieces: BuildPieces): Promise<string> {
  const all = [await pieces.first()];
  for await (const piece of pieces.rest()) all.push(piece);
  return Buffer.concat(all).toString();
}

/** The store after a run of the build expired. */
function without(store: Store, isExpired: (run: Pick<RunHead, 'node_index'>) => boolean): Store {
  const run: Store['builds']['run'] = (build, head, ...range) => (isExpired(head) ? null : store.builds.run(build, head, ...range));
  return { ...store, builds: { ...store.builds, run } };
}

async function openStore(): Promise<Store> {
  const store = memoryStore();
  await createProject(store.access, 'default', NOW);
  return store;
}

it.each([
  ['runs in one piece', 3, 5, 1],
  ['runs that end in different pieces', 7, 2000, 4],
  ['a run of several pieces', 1, 12_000, 4],
  ['runs without files', 4, 0, 1],
])('the pieces of %s are the bytes of the whole', async (_, runs, files, least) => {
  const store = await openStore();
  const build = await buildOf(store, runs, files);
  let count = 0;
  const pieces = await piecesOf(store, build, () => {
    count += 1;
  });
  expect(await textOf(pieces)).toBe(await whole(store, build));
  expect(count).toBeGreaterThanOrEqual(least);
});

it('a run that expires before it is read is left out', async () => {
  const store = await openStore();
  const build = await buildOf(store, 3, 4);
  const isExpired = ({ node_index }: Pick<RunHead, 'node_index'>) => node_index === 1;
  expect(await textOf(await piecesOf(without(store, isExpired), build))).toBe(await whole(store, build, isExpired));
});

it('a run that expires while it is read ends the answer', async () => {
  const store = await openStore();
  const build = await buildOf(store, 1, PIECE_CHARACTERS / 50);
  let isExpired = false;
  const pieces = await piecesOf(
    without(store, () => isExpired),
    build,
  );
  await pieces.first();
  isExpired = true;
  await expect(pieces.rest().next()).rejects.toMatchObject({ reason: 'expired' });
});
