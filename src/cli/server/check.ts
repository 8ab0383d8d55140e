import { once } from 'node:events';
import { getHeapStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { pluralize } from '../../base/plural.js';
import { print, startProgress } from '../../base/terminal.js';
import { packageFolder } from '../../base/version.js';
import { type FoundProblem, type Problem, repairAll, sentenceOf, toFound } from '../../server/store/check/problem.js';
import { lockFolder } from '../../server/store/lmdb/folder/open-lock.js';
import type { Database } from '../../server/store/postgresql/connection/database.js';
import type { StoreSource } from '../../server/store/source.js';
import { snapshotDeadline } from './data-folder/copy-store.js';
import { withExistingFolder } from './data-folder/data-folder.js';
import { withDatabase } from './with-store.js';

export interface CheckOptions {
  repair?: true;
  json?: true;
}

/** Input of the checking thread. */
export interface CheckInput {
  dataDir: string;
  isRepairing: boolean;
}

/** Progress of the check. */
export interface CheckProgress {
  table: string;
  count: number;
}

/** Result of the check. */
export interface CheckOutcome {
  found: FoundProblem[];
  /** The problems that are left after repairs. */
  left: FoundProblem[];
  /** The number of records that were checked, by table. */
  records: ReadonlyMap<string, number>;
}

/** Number of problems of one table that are printed. */
const MAX_SHOWN = 20;

/**
 * Checks that the store is consistent. With --repair, rebuilds records that can be derived from others. `stop` ends it. Exit code 1: problems
 * are left.
 */
export async function check(source: StoreSource, options: CheckOptions, stop: AbortSignal): Promise<void> {
  const finish = (outcome: CheckOutcome) => {
    printOutcome(outcome, options);
    if (outcome.left.length > 0) process.exitCode = 1;
  };
  if (!('dataDir' in source)) {
    // Its statements read large tables, and take longer than the client of a server would wait.
    const opening = { mayMigrate: false, isWatched: true };
    return withDatabase(source, opening, async ({ database }) => finish(await checkDatabase(database, options.repair ?? false, stop)));
  }
  const { dataDir } = source;
  return withExistingFolder(dataDir, async () => {
    const lock = options.repair ? lockFolder(dataDir) : null;
    try {
      finish(await runCheckThread({ dataDir, isRepairing: options.repair ?? false }, stop));
    } finally {
      lock?.release();
    }
  });
}

async function checkDatabase(database: Database, isRepairing: boolean, stop: AbortSignal): Promise<CheckOutcome> {
  const { problemsOf } = await import('../../server/store/postgresql/check.js');
  const progress = startProgress();
  let records = new Map<string, number>();
  const find = async () => {
    records = new Map();
    const found: Problem[] = [];
    const seen = (table: string) => {
      stop.throwIfAborted();
      records.set(table, (records.get(table) ?? 0) + 1);
      progress.show(() => `${table}: ${records.get(table)!.toLocaleString('en')}`);
    };
    for await (const problem of problemsOf(database, seen)) found.push(problem);
    return found;
  };
  try {
    const found = await find();
    const left = isRepairing ? await repairAll(found, find) : found;
    const projects = new Map(
      (await database.read<{ id: number; name: string }>('select id, name from projects')).map(({ id, name }) => [id, name]),
    );
    return { found: toFound(found, projects), left: toFound(left, projects), records };
  } finally {
    progress.end();
  }
}

async function runCheckThread(setup: CheckInput, stop: AbortSignal): Promise<CheckOutcome> {
  stop.throwIfAborted();
  // No server runs during a repair, so the repair has no deadline.
  const abort = setup.isRepairing ? stop : AbortSignal.any([stop, snapshotDeadline()]);
  const thread = new Worker(new URL('dist/src/cli/server/data-folder/check-thread.js', packageFolder), {
    workerData: setup,
    resourceLimits: { maxOldGenerationSizeMb: Math.floor(getHeapStatistics().heap_size_limit / 2 ** 20) },
  });
  const progress = startProgress();
  let outcome: CheckOutcome | null = null;
  thread.on('message', (message: CheckProgress | CheckOutcome) => {
    if ('found' in message) outcome = message;
    else progress.show(() => `${message.table}: ${message.count.toLocaleString('en')}`);
  });
  const terminate = () => void thread.terminate();
  abort.addEventListener('abort', terminate);
  try {
    await once(thread, 'exit');
  } finally {
    abort.removeEventListener('abort', terminate);
    progress.end();
  }
  if (outcome) return outcome;
  abort.throwIfAborted();
  throw new Error(`cannot check ${setup.dataDir}: the checking thread ended without a result`);
}

function printOutcome({ found, left, records }: CheckOutcome, { json }: CheckOptions): void {
  if (json) {
    print(JSON.stringify({ sound: left.length === 0, records: Object.fromEntries(records), found, left }));
    return;
  }
  const shown = new Map<string, number>();
  for (const problem of found) {
    const { table, project } = problem;
    const count = (shown.get(table) ?? 0) + 1;
    shown.set(table, count);
    if (count <= MAX_SHOWN) print(`${sentenceOf(problem)}${project === null ? '' : ` (project ${JSON.stringify(project)})`}`);
  }
  for (const [table, count] of shown) if (count > MAX_SHOWN) print(`${table}: ${count - MAX_SHOWN} more`);
  const counts = [...records].map(([table, count]) => `${count} ${table}`).join(', ');
  print(`${verdict(found, left)}; checked ${counts || 'nothing: the store is empty'}`);
}

function verdict(found: readonly FoundProblem[], left: readonly FoundProblem[]): string {
  if (found.length === 0) return 'sound';
  if (left.length === 0) return `${pluralize(found.length, 'problem')}, ${found.length === 1 ? '' : 'all '}repaired`;
  const repairable = left.filter(problem => problem.repairable).length;
  const unrepairable = left.length - repairable;
  const advice = [
    ...(repairable > 0 ? [`${repairable} can be repaired: stop the server and run this with --repair`] : []),
    ...(unrepairable > 0 ? [`${unrepairable} cannot: restore a backup, or wait until the named records expire`] : []),
  ];
  const remaining = left.length < found.length ? `, ${left.length} left` : '';
  return `${pluralize(found.length, 'problem')}${remaining}; ${advice.join('; ')}`;
}
