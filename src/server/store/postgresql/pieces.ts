import { LRUCache } from 'lru-cache';
import { asBuffer, type Segments, segment } from '../../../base/bytes.js';
import { memoryBounds } from '../../engine/memory-bounds.js';
import type { NewQueue } from '../../engine/ports/queues.js';
import type { NewPlan } from '../../engine/ports/splits.js';
import { piecesPerBlock } from '../codecs/file-blocks.js';
import type { Database } from './database.js';
import { ReadTogether } from './read-together.js';

/** The parts of a split or queue besides the blocks of its files, which have the numbers from 0 on. */
export const BASIS = -1;
export const WEIGHTS = -2;
export const CUTS = -3;

interface PieceRow {
  owner: string;
  part: number;
  bytes: Buffer;
}

/** Memory of a piece in the cache besides its bytes. */
const OVERHEAD_BYTES = 400;

/** The columns `part` and `bytes` of the pieces of a plan. */
export function piecesOf({ files, basis, weights, cuts }: Pick<NewPlan, 'files' | 'basis'> & Partial<NewQueue>): [number[], Buffer[]] {
  const blocks = Array.from(files.ends, (_, number) => segment(files, number));
  const parts = [...blocks.keys(), BASIS, ...(weights ? [WEIGHTS] : []), ...(cuts ? [CUTS] : [])];
  return [parts, [...blocks, asBuffer(basis), ...(weights ? [asBuffer(weights)] : []), ...(cuts ? [asBuffer(cuts)] : [])]];
}

/** Reads the pieces of splits and queues. A piece never changes, so those that were read or made last are kept. */
export class Pieces {
  readonly #known = new LRUCache<string, Buffer>({
    // A database has no journal in memory.
    maxSize: memoryBounds.fileBlobs + memoryBounds.journal,
    sizeCalculation: ({ length }) => OVERHEAD_BYTES + length,
  });
  readonly #reading: ReadTogether<PieceRow>;

  constructor(database: Database) {
    this.#reading = new ReadTogether(
      keys => {
        const pairs = keys.map(key => key.split(' ') as [string, string]);
        return database.read<PieceRow>(
          `select f.* from unnest($1::text[], $2::int4[]) as v (owner, part)
          cross join lateral (select owner, part, bytes from pieces where owner = v.owner and part = v.part limit 1) f`,
          [pairs.map(([owner]) => owner), pairs.map(([, part]) => part)],
        );
      },
      ({ owner, part }) => `${owner} ${part}`,
    );
  }

  /** Keeps the blocks of a plan that was created. */
  keep(owner: string, files: Segments): void {
    // A copy: a block that is left would keep all others in memory.
    for (const number of files.ends.keys()) this.#known.set(`${owner} ${number}`, Buffer.from(segment(files, number)));
  }

  /** Undefined: the owner expired, or has no such part. */
  async get(owner: string, part: number): Promise<Buffer | undefined> {
    const key = `${owner} ${part}`;
    const known = this.#known.get(key);
    if (known) return known;
    const row = await this.#reading.get(key);
    if (row) this.#known.set(key, row.bytes);
    return row?.bytes;
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
    const numbers = new Set(pieces.map(piece => Math.floor(piece / size)));
    const blocks = new Map(await Promise.all(Array.from(numbers, async number => [number, await this.get(owner, number)] as const)));
    return use(number => (number === 0 ? first : blocks.get(number)));
  }

  /** Forgets the pieces of plans that may have expired. */
  forget(): void {
    this.#known.clear();
  }
}
