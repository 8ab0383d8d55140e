/** Something in the store that does not fit together. */
export interface Problem {
  table: string;
  key: unknown;
  /** What is wrong with it: the end of a sentence that begins with the table and the key. */
  what: string;
  /** Writes what follows from the rest; null: nothing tells what was there. */
  repair: (() => Promise<unknown>) | null;
}

/** What makes the problems of one record. */
export function problemOf(table: string, key: unknown): (what: string, repair: Problem['repair']) => Problem {
  return (what, repair) => ({ table, key, what, repair });
}

export function sentenceOf({ table, key, what }: Pick<Problem, 'table' | 'key' | 'what'>): string {
  return `${table} ${JSON.stringify(key)} ${what}`;
}

/** Told of each record that is looked at. */
export type Seen = (table: string) => void;

/** The problems of one record, or of all of a kind; what cannot be read is one. */
export function* ofRecord(table: string, key: unknown, problems: () => Iterable<Problem>): Generator<Problem> {
  try {
    yield* problems();
  } catch (error) {
    yield { table, key, what: `cannot be read: ${(error as Error).message}`, repair: null };
  }
}
