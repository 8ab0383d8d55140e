/** Something in the store that does not fit together. */
export interface Problem {
  table: string;
  key: unknown;
  /** What is wrong with it: the end of a sentence that begins with the table and the key. */
  what: string;
  /** Writes what follows from the rest; null: nothing tells what was there. */
  repair: (() => Promise<unknown>) | null;
}

/** Told of each record that is looked at. */
export type Seen = (table: string) => void;
