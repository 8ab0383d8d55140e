import { lockFolder } from '../store/lock.js';
import { problemsOf, repair } from '../store/check/check.js';
import { type Problem, type Seen, sentenceOf } from '../store/check/problem.js';
import type { Store } from '../store/open.js';
import { withExistingStore } from './data-folder.js';
import { startProgress } from './progress.js';

export interface CheckOptions {
  repair?: true;
  json?: true;
}

/** Problems of one table that are printed one by one. */
const MOST_SHOWN = 20;
/** A repair may show what it did not look for: a build without runs is still listed. */
const MOST_ROUNDS = 5;

/** Looks whether everything in the store fits together, and repairs what follows from the rest. Exit code 1: it does not fit. */
export function check(dataDir: string, options: CheckOptions): Promise<void> {
  return withExistingStore(dataDir, async store => {
    const lock = options.repair ? lockFolder(dataDir) : null;
    try {
      const { found, records } = look(store);
      const left = options.repair ? await repairAll(store, found) : found;
      print({ found, left, records }, options);
      if (left.length > 0) process.exitCode = 1;
    } finally {
      lock?.release();
    }
  });
}

interface Outcome {
  found: readonly Problem[];
  /** After repairs. */
  left: readonly Problem[];
  /** How many were looked at, by table. */
  records: ReadonlyMap<string, number>;
}

function look(store: Store): { found: Problem[]; records: Map<string, number> } {
  const records = new Map<string, number>();
  const progress = startProgress();
  const seen: Seen = table => {
    const count = (records.get(table) ?? 0) + 1;
    records.set(table, count);
    progress.tell(() => `${table}: ${count.toLocaleString('en')}`);
  };
  const found = [...problemsOf(store, seen)];
  progress.end();
  return { found, records };
}

async function repairAll(store: Store, found: readonly Problem[]): Promise<readonly Problem[]> {
  let left = found;
  for (let round = 0; round < MOST_ROUNDS && left.some(problem => problem.repair); round++) {
    await repair(left);
    left = look(store).found;
  }
  return left;
}

function print({ found, left, records }: Outcome, { json }: CheckOptions): void {
  if (json) {
    const plain = (problems: readonly Problem[]) => problems.map(({ table, key, what, repair }) => ({ table, key, what, repairable: repair !== null }));
    process.stdout.write(`${JSON.stringify({ sound: left.length === 0, records: Object.fromEntries(records), found: plain(found), left: plain(left) })}\n`);
    return;
  }
  const shown = new Map<string, number>();
  for (const problem of found) {
    const { table } = problem;
    const count = (shown.get(table) ?? 0) + 1;
    shown.set(table, count);
    if (count <= MOST_SHOWN) process.stdout.write(`${sentenceOf(problem)}\n`);
  }
  for (const [table, count] of shown) if (count > MOST_SHOWN) process.stdout.write(`${table}: ${count - MOST_SHOWN} more\n`);
  process.stdout.write(`${verdict(found, left)}; looked at ${[...records].map(([table, count]) => `${count} ${table}`).join(', ') || 'nothing: the store is empty'}\n`);
}

function verdict(found: readonly Problem[], left: readonly Problem[]): string {
  if (found.length === 0) return 'sound';
  if (left.length === 0) return `${found.length} problems, all repaired`;
  const repairable = left.filter(problem => problem.repair).length;
  const rest = left.length - repairable;
  const advice = [
    ...(repairable > 0 ? [`${repairable} can be repaired: stop the server and run this with --repair`] : []),
    ...(rest > 0 ? [`${rest} cannot: start from a backup, or let what is named expire`] : []),
  ];
  return `${found.length} problems${found === left ? '' : `, ${left.length} left`}; ${advice.join('; ')}`;
}
