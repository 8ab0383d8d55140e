import { LRUCache } from 'lru-cache';
import { asBuffer, type Segments, segment } from '../../bytes.js';
import { memoryBounds } from '../../memory-bounds.js';
import { piecesPerBlock } from '../codecs/file-blocks.js';
import type { Database } from './connection.js';

/** The parts of a split or queue besides the blocks of its files, which have the numbers from 0 on. */
export const BASIS = -1;
export const WEIGHTS = -2;

/** Memory of a piece in the cache besides its bytes. */
const OVERHEAD_BYTES = 400;

/** The columns `part` and `bytes` of the pieces of a plan. */
export function piecesOf({ files, basis, weights }: { files: Segments; basis: Uint8Array; weights?: Float64Array }): [number[], Buffer[]] {
  const blocks = Array.from(files.ends, (_, number) => segment(files, number));
  const parts = [...blocks.keys(), BASIS, ...(weights ? [WEIGHTS] : [])];
  return [parts, [...blocks, asBuffer(basis), ...(weights ? [asBuffer(weights)] : [])]];
}

/** Reads the pieces of splits and queues. A piece never changes, so those that were read last are kept. */
export class Pieces {
  readonly #read = new LRUCache<string, Buffer>({
    maxSize: memoryBounds.fileBlobs,
    sizeCalculation: ({ length }) => OVERHEAD_BYTES + length,
  });

  constructor(readonly database: Database) {}

  /** Undefined: the owner expired, or has no such part. */
  async get(owner: string, part: number): Promise<Buffer | undefined> {
    return (await this.#getAll(owner, [part])).get(part);
  }

  /**
   * Calls a function with the blocks of a plan that it needs; null: the plan expired.
   *
   * @param pieces the pieces that it reads
   */
  async withBlocks<T>(
    owner: string,
    pieces: readonly number[],
    use: (read: (number: number) => Buffer | undefined) => T,
  ): Promise<T | null> {
    const first = await this.get(owner, 0);
    const size = piecesPerBlock(() => first, owner);
    if (size === null) return null;
    const numbers = [...new Set(pieces.map(piece => Math.floor(piece / size)))];
    const blocks = await this.#getAll(owner, numbers);
    return use(number => (number === 0 ? first : blocks.get(number)));
  }

  /** Forgets the pieces of plans that may have expired. */
  forget(): void {
    this.#read.clear();
  }

  async #getAll(owner: string, parts: readonly number[]): Promise<Map<number, Buffer>> {
    const found = new Map<number, Buffer>();
    const missing: number[] = [];
    for (const part of parts) {
      const bytes = this.#read.get(`${owner} ${part}`);
      if (bytes) found.set(part, bytes);
      else missing.push(part);
    }
    if (missing.length === 0) return found;
    const rows = await this.database.read<{ part: number; bytes: Buffer }>(
      'select part, bytes from pieces where owner = $1 and part = any($2::int4[])',
      [owner, missing],
    );
    for (const { part, bytes } of rows) {
      found.set(part, bytes);
      this.#read.set(`${owner} ${part}`, bytes);
    }
    return found;
  }
}
