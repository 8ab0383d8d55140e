import { pluralize } from '../../base/plural.js';
import { print, startProgress } from '../../base/terminal.js';
import { SILENT_PROCESS_MILLISECONDS } from '../../server/api/dashboard/process-status.js';
import { openSyncLog } from '../../server/process/log.js';
import { serveFolder } from '../../server/store/lmdb/folder/serve-folder.js';
import { hasStore } from '../../server/store/lmdb/tables.js';
import { databaseSide } from '../../server/store/move/database.js';
import { folderSide } from '../../server/store/move/folder.js';
import { move, type Side } from '../../server/store/move/move.js';
import type { PostgresqlStore } from '../../server/store/postgresql/store.js';
import { type DatabaseSource, placeOf } from '../../server/store/source.js';
import { withDatabase } from './with-store.js';

export type Direction = 'to-database' | 'to-folder';

export interface MoveOptions {
  json?: true;
}

/** Copies a store from a folder to a database, or back. The source stays as it is, and no server may have either open. `stop` ends it. */
export async function moveStore(
  direction: Direction,
  dataDir: string,
  source: DatabaseSource,
  { json }: MoveOptions,
  stop: AbortSignal,
): Promise<void> {
  const isToDatabase = direction === 'to-database';
  const [from, to] = isToDatabase ? [dataDir, placeOf(source)] : [placeOf(source), dataDir];
  const attempt = `cannot move ${from} to ${to}`;
  if (isToDatabase && !hasStore(dataDir)) throw new Error(`${attempt}: there is no store in ${dataDir}; name its folder with --data-dir`);
  if (!isToDatabase && hasStore(dataDir))
    throw new Error(`${attempt}: ${dataDir} has a store already; name another folder with --data-dir`);
  const rows = new Map<string, number>();
  const progress = startProgress();
  const seen = (table: string) => {
    stop.throwIfAborted();
    rows.set(table, (rows.get(table) ?? 0) + 1);
    progress.show(() => `${table}: ${rows.get(table)!.toLocaleString('en')}`);
  };
  const copy = async (store: PostgresqlStore) => {
    await assertNotServed(store, attempt);
    const folder = await serveFolder(dataDir, openSyncLog('warn'));
    try {
      // The times of all recorded runs count.
      for (const { maintenance } of [folder, store]) await maintenance.publish('timings');
      const sides: [Side, Side] = [folderSide(folder.parts), databaseSide(store.database)];
      await move(sides[isToDatabase ? 0 : 1], sides[isToDatabase ? 1 : 0], seen);
    } finally {
      await folder.close();
    }
  };
  try {
    // Its statements read large tables, and take longer than the client of a server would wait.
    await withDatabase(source, { mayMigrate: isToDatabase, isWatched: true }, copy);
  } catch (error) {
    stop.throwIfAborted();
    const { message } = error as Error;
    throw message.startsWith('cannot ') ? error : new Error(`${attempt}: ${message}`, { cause: error });
  } finally {
    progress.end();
  }
  if (json) return print(JSON.stringify({ from, to, rows: Object.fromEntries(rows) }));
  const count = (table: string, name: string) => pluralize(rows.get(table) ?? 0, name);
  print(`moved ${from} to ${to}: ${count('projects', 'project')}, ${count('builds', 'build')}, ${count('paths', 'path')}; both are equal`);
  print(`serve ${to} from now on; ${from} is unchanged`);
}

/** Throws a sentence when a process has been seen that serves a database. */
async function assertNotServed({ maintenance, now }: PostgresqlStore, attempt: string): Promise<void> {
  const serving = (await maintenance.processes!.others(now() - SILENT_PROCESS_MILLISECONDS)).length;
  if (serving > 0)
    throw new Error(
      `${attempt}: ${pluralize(serving, 'process', 'processes')} served the database in the last ${SILENT_PROCESS_MILLISECONDS / 1000} s; stop them, and try again`,
    );
}
