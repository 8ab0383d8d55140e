import { LRUCache } from 'lru-cache';
import { type Segments, segment } from '../../../../base/bytes.js';
import { memoryBounds } from '../../../engine/memory-bounds.js';
import type { PlanParts } from '../../../engine/ports/plans.js';
import { blockOf, filesInTurns } from '../../codecs/file-blocks.js';
import { decodePart, encodeParts, type NewParts, type PartName } from '../../codecs/plan-parts.js';
import { sharedTurn } from '../../shared-turn.js';
import type { Database } from '../connection/database.js';
import { ReadTogether } from '../connection/read-together.js';

/** The numbers of the parts of a split or queue besides the blocks of its files, which have those from 0 on. */
export const PARTS = { basis: -1, weights: -2, cuts: -3, nodeEnds: -4, first: -5 } as const satisfies Record<PartName, number>;

interface PieceRow {
  owner: string;
  part: number;
  bytes: Buffer;
}

/** Memory of a piece in the cache besides its bytes. */
const OVERHEAD_BYTES = 400;

/** The columns `part` and `bytes` of the pieces of a plan. */
export function piecesOf(plan: NewParts): [number[], Buffer[]] {
  const parts = encodeParts(plan);
  return [parts.map(({ part }) => (typeof part === 'number' ? part : PARTS[part])), parts.map(({ bytes }) => bytes)];
}

/** Reads the pieces of splits and queues. A piece never changes, so those that were read or made last are kept. */
export class Pieces {
  readonly #known = new LRUCache<string, Buffer>({
    // A database has no journal in memory.
    maxSize: memoryBounds.planParts + memoryBounds.journal,
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

  /** Reads a part of a split or queue; null: it has none, or expired. */
  async part<Name extends PartName>(plan: string, name: Name): Promise<PlanParts[Name] | null> {
    const bytes = await this.get(plan, PARTS[name]);
    return bytes ? decodePart(name, bytes) : null;
  }

  /** Some files of a plan, as a JSON array; null: the plan expired. */
  async files(plan: string, files: readonly number[]): Promise<Buffer | null> {
    const numbers = new Set(files.map(blockOf));
    const blocks = new Map(await Promise.all(Array.from(numbers, async number => [number, await this.get(plan, number)] as const)));
    return filesInTurns(number => blocks.get(number), plan, files, sharedTurn);
  }

  /** Forgets the pieces of plans that may have expired. */
  forget(): void {
    this.#known.clear();
  }
}
