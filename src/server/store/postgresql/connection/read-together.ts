import { setImmediate as nextTurn } from 'node:timers/promises';

/** Reads records by a key: those that are asked for in one turn of the event loop with one statement. */
export class ReadTogether<Row> {
  /** The keys of this turn, and the read of their rows. */
  #turn: { keys: Set<string>; rows: Promise<Map<string, Row>> } | null = null;

  /**
   * @param read returns the rows of the keys, in any order
   * @param keyOf the key of a row
   */
  constructor(
    readonly read: (keys: string[]) => Promise<Row[]>,
    readonly keyOf: (row: Row) => string,
  ) {}

  /** Null: there is none. */
  async get(key: string): Promise<Row | null> {
    const { keys, rows } = (this.#turn ??= this.#begin());
    keys.add(key);
    return (await rows).get(key) ?? null;
  }

  #begin() {
    const keys = new Set<string>();
    const read = async () => {
      await nextTurn();
      this.#turn = null;
      return new Map((await this.read([...keys])).map(row => [this.keyOf(row), row]));
    };
    return { keys, rows: read() };
  }
}
