import { chmodSync, existsSync, renameSync, statfsSync, statSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { dirname, join } from 'node:path';
import { type ChildMessage, workAsChild } from '../../base/child-process.js';
import { fsyncPath } from '../../base/fsync.js';
import { type Problem, placesOf } from '../store/check/problem.js';
import { problemsOf, projectNames } from '../store/lmdb/check/check.js';
import { copyFolder, createPartialCopy, SNAPSHOT_RESERVE_BYTES, SNAPSHOT_SECONDS } from '../store/lmdb/folder/copy-folder.js';
import { openParts } from '../store/lmdb/parts.js';
import { storeFileOf } from '../store/lmdb/tables.js';

/**
 * The process that makes a snapshot for the server: copies the store, checks the copy, and gives it its name, which says whether it is sound. It
 * sends the sentence that says where a copy is not sound, or null if it is. The server does not wait for the disk of the snapshots, and a damaged copy
 * cannot crash it.
 */

const RECORDS_BETWEEN_LOOKS = 1000;

const server = process.ppid;
const [dataDir, folder, sound, unsound] = process.argv.slice(2) as [string, string, string, string];
await workAsChild(async () => {
  const part = await createPartialCopy(folder);
  try {
    assertRoom();
    const tooLong = setTimeout(endCopy, 1000 * SNAPSHOT_SECONDS);
    await copyFolder(dataDir, part.path).finally(() => clearTimeout(tooLong));
    // Only now: the server waits while this process opens the store.
    setPriority(constants.priority.PRIORITY_LOW);
    const problems = await check(dirname(part.path));
    const name = problems === null ? sound : unsound;
    chmodSync(part.path, 0o600);
    fsyncPath(part.path);
    if (existsSync(join(folder, name))) throw new Error(`${name} exists`);
    renameSync(part.path, join(folder, name));
    fsyncPath(folder);
    return problems;
  } finally {
    await part.remove();
  }
});

/** Ends this process: LMDB cannot stop a copy. The server removes what there is of it. */
function endCopy(): void {
  const failure = `the copy took longer than ${SNAPSHOT_SECONDS} s and was stopped, because the store cannot reuse freed pages meanwhile`;
  process.send!({ failure } satisfies ChildMessage, () => process.kill(process.pid, 'SIGKILL'));
}

/** Throws if the copy may fill the disk of the store: the server could then write nothing. */
function assertRoom(): void {
  if (statSync(dataDir).dev !== statSync(folder).dev) return;
  const { bavail, bsize } = statfsSync(folder);
  const needed = storeFileOf(dataDir)!.bytes + SNAPSHOT_RESERVE_BYTES;
  if (bavail * bsize >= needed) return;
  throw new Error(`the disk, which is that of the store, has ${bavail * bsize} bytes left, and ${needed} are needed; use another disk`);
}

/**
 * Says where a copy is not sound; null: it is. Has no limit of time, because only the next snapshot waits for it. Throws if a table cannot be
 * read: then the file is damaged, and not just some records.
 */
async function check(copy: string): Promise<string | null> {
  const parts = openParts(copy);
  let records = 0;
  // The check does not yield to the event loop, which tells that the server has ended.
  const seen = () => {
    records += 1;
    if (records % RECORDS_BETWEEN_LOOKS === 0 && process.ppid !== server) process.kill(process.pid, 'SIGKILL');
  };
  try {
    const unread: string[] = [];
    const places = placesOf(readable(problemsOf(parts, seen), unread), projectNames(parts));
    if (unread.length > 0)
      throw new Error(`the copy is damaged: ${unread.join('; ')}; run "ballast check" to see what is wrong with the store`);
    return places;
  } finally {
    await parts.root.close();
  }
}

/** The problems of single records. Adds a sentence to `unread` for each table that cannot be read. */
function* readable(problems: Iterable<Problem>, unread: string[]): Generator<Problem> {
  for (const problem of problems) {
    if (problem.key === null) unread.push(`${problem.table} ${problem.what}`);
    else yield problem;
  }
}
