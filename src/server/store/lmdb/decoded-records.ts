import type { Database, RootDatabase } from 'lmdb';
import { LRUCache } from 'lru-cache';

/** Memory, in each thread, for each of decoded tokens and decoded splits. */
const DECODED_RECORD_BYTES = 4_194_304;

/** Approximate memory of a record besides its bytes and its fields, which take about as much as these. */
const OVERHEAD_BYTES = 500;
/** Records that are kept between two commits without a comparison of their bytes. */
const READ_AT_ONCE = 1000;

/**
 * Reads the records of a table that every request needs. A record is decoded only when its bytes changed. It is read once between two
 * commits, and once in a turn of the event loop where another thread or process may change it. The records are shared, so nobody may
 * change them.
 */
export class DecodedRecords<V extends object, K extends string | number> {
  readonly #decoded: LRUCache<K, { bytes: Buffer; record: V }>;
  /** The records that were read since the last commit or, if others change the table, in this turn of the event loop. */
  readonly #read = new Map<K, V>();

  /** @param changesHere whether only the caller's process and thread change the table */
  constructor(
    root: RootDatabase,
    readonly table: Database<V, K>,
    readonly changesHere = () => false,
  ) {
    this.#decoded = new LRUCache({ maxSize: DECODED_RECORD_BYTES, sizeCalculation: ({ bytes }) => OVERHEAD_BYTES + 2 * bytes.length });
    // Runs before the promises of the commit resolve.
    root.on('aftercommit', this.#forgetRead);
  }

  get(key: K): V | undefined {
    return this.#read.get(key) ?? this.#get(key);
  }

  #get(key: K): V | undefined {
    // A buffer that the next read overwrites. Only its `length` is that of the record.
    const current = this.table.getBinaryFast(key);
    if (!current) return undefined;
    const cached = this.#decoded.get(key);
    const isSame = cached?.bytes.length === current.length && cached.bytes.compare(current, 0, current.length) === 0;
    const record = isSame ? cached.record : this.#decode(key);
    if (this.#read.size === 0 && !this.changesHere()) setImmediate(this.#forgetRead);
    if (this.#read.size >= READ_AT_ONCE) this.#read.clear();
    this.#read.set(key, record);
    return record;
  }

  #decode(key: K): V {
    const bytes = this.table.getBinary(key)!;
    const record = this.table.get(key)!;
    this.#decoded.set(key, { bytes, record });
    return record;
  }

  readonly #forgetRead = () => this.#read.clear();
}
