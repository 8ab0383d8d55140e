/** An inconsistency in the store. */
export interface Problem {
  table: string;
  key: unknown;
  /** The problem, as the end of a sentence that begins with the table and the key. */
  what: string;
  /** Restores the record from others; null: it cannot be restored. */
  repair: (() => Promise<unknown>) | null;
}

/** Creates a problem of one record. Without a repair it cannot be restored. */
export type ProblemOf = (what: string, repair?: Problem['repair']) => Problem;

export function problemOf(table: string, key: unknown): ProblemOf {
  return (what, repair = null) => ({ table, key, what, repair });
}

export function sentenceOf({ table, key, what }: Pick<Problem, 'table' | 'key' | 'what'>): string {
  return `${table} ${JSON.stringify(key)} ${what}`;
}

/** Called with the table of each record that is checked. */
export type Seen = (table: string) => void;

/** Returns the problems of one record, or of all records of a table. A record that cannot be read is a problem. */
export function* ofRecord(table: string, key: unknown, problems: () => Iterable<Problem>): Generator<Problem> {
  try {
    yield* problems();
  } catch (error) {
    yield { table, key, what: `cannot be read: ${(error as Error).message}`, repair: null };
  }
}

/** Repairs that run at once share a flush. */
const REPAIRS_AT_ONCE = 500;

/** A repair may reveal further problems: a build without runs is still listed. */
const MAX_ROUNDS = 5;

/**
 * Repairs what can be repaired, and looks again, until nothing is left that can be. Returns what is left.
 *
 * @param find looks for problems
 */
export async function repairAll(found: readonly Problem[], find: () => Promise<readonly Problem[]>): Promise<readonly Problem[]> {
  let left = found;
  for (let round = 0; round < MAX_ROUNDS && left.some(problem => problem.repair); round++) {
    await repair(left);
    left = await find();
  }
  return left;
}

/** Repairs what can be repaired. */
export async function repair(problems: readonly Problem[]): Promise<void> {
  const repairs = problems.flatMap(problem => problem.repair ?? []);
  for (let from = 0; from < repairs.length; from += REPAIRS_AT_ONCE) {
    await Promise.all(repairs.slice(from, from + REPAIRS_AT_ONCE).map(once => once()));
  }
}
