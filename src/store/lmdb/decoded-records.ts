import type { Database } from 'lmdb';
import { LRUCache } from 'lru-cache';
import { limits } from '../../limits.js';

/**
 * Reads the records of a table that every request needs, and decodes a record only when its bytes changed: another thread or process may
 * change it at any time. To compare the bytes takes a fifth of the time of decoding them. The records are shared, so nobody may change them.
 */
export class DecodedRecords<V extends object> {
  readonly #known: LRUCache<string, { bytes: Buffer; record: V }>;

  constructor(readonly table: Database<V, string>) {
    this.#known = new LRUCache({ maxSize: limits.decodedRecordBytes, sizeCalculation: ({ bytes }) => OVERHEAD_BYTES + 2 * bytes.length });
  }

  get(key: string): V | undefined {
    // A buffer that the next read overwrites. Only its `length` is that of the record.
    const current = this.table.getBinaryFast(key);
    if (!current) return undefined;
    const known = this.#known.get(key);
    if (known?.bytes.length === current.length && known.bytes.compare(current, 0, current.length) === 0) return known.record;
    const bytes = this.table.getBinary(key)!;
    const record = this.table.get(key)!;
    this.#known.set(key, { bytes, record });
    return record;
  }
}

/** Approximate memory of a record besides its bytes and its fields, which take about as much as these. */
const OVERHEAD_BYTES = 500;
