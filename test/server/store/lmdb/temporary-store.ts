import { setImmediate as nextTurn } from 'node:timers/promises';
import { onTestFinished } from 'vitest';
import { queueKey, splitKey } from '../../../../src/server/engine/keys.js';
import { expirePaths, expireStep } from '../../../../src/server/store/lmdb/expiry/expiry.js';
import { closeParts, openParts, type Parts, type PartsOptions } from '../../../../src/server/store/lmdb/parts.js';
import { Journal } from '../../../../src/server/store/lmdb/writes/journal.js';
import { JournalFiles, type WriteBytes } from '../../../../src/server/store/lmdb/writes/journal-files.js';
import type { TimingWriteBuffer } from '../../../../src/server/store/lmdb/writes/timing-write-buffer.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';

/** The parts of a store, by default in a folder of its own, closed after the test. */
export function temporaryStore(dataDir = temporaryFolder(), options: PartsOptions = {}): Parts {
  const parts = openParts(dataDir, options);
  onTestFinished(() => closeParts(parts));
  return parts;
}

/** Stops the timers of another journal or write buffer on the store after the test. */
export function closedAfterTest<Part extends Journal | TimingWriteBuffer>(part: Part): Part {
  onTestFinished(() => part.close().catch(() => {}));
  return part;
}

/** The parts as a process finds them that starts after another one was killed. */
export function afterKill(parts: Parts): Parts {
  const journal = newJournal(parts);
  journal.recover();
  return { ...parts, journal };
}

/** Another journal in the folder of a store, closed after the test. */
export function newJournal(parts: Parts, write?: WriteBytes): Journal {
  return closedAfterTest(new Journal(parts, new JournalFiles(parts.journal.files.folder, parts.failure, write), parts.runs));
}

/** The table with another `put`. */
export function withPut<T extends object>(table: T, put: () => Promise<boolean>): T {
  return Object.assign(Object.create(table) as T, { put });
}

/** Resolves after everything that waits for a turn of the event loop has had one. */
export async function nextTurns(): Promise<void> {
  for (let turn = 0; turn < 3; turn++) await nextTurn();
}

const COMMIT = { commit_hash: 'abc', branch: 'main' };

/** The key of a queue of one build. */
export const queueOf = (ci_run: string, node_total = 4) => queueKey(1, { ...COMMIT, node_total }, ci_run);

/** The key of a split of that build; null: of a fixed one. */
export const splitOf = (ci_run: string | null, node_total = 3) => splitKey(1, { ...COMMIT, node_total }, ci_run ?? '', ci_run === null);

/** Sweeps to the end, as the service does. */
export async function expire(
  parts: Parts,
  before: number,
  { dropped = () => {}, stepped = () => {} }: { dropped?: (key: string) => void; stepped?: () => void } = {},
): Promise<void> {
  await parts.timingBuffer.save();
  await parts.journal.checkpoint();
  for (let more = true; more; stepped()) more = await expireStep(parts, before, dropped);
  for (let at: number | null = 0; at !== null; stepped()) at = await expirePaths(parts, before, at);
}

/** The number of records by table. */
export function recordsByTable(parts: Parts): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const [name, table] of Object.entries(parts)) {
    if (name !== 'root' && 'getCount' in table) counts[name] = table.getCount();
  }
  return counts;
}

/** Tables that are not empty, apart from those that never expire. */
export function leftovers(parts: Parts): string[] {
  return Object.entries(recordsByTable(parts))
    .filter(([name, count]) => count > 0 && !['meta', 'projects', 'projectNames', 'tokens'].includes(name))
    .map(([name]) => name);
}
