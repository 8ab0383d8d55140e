import type { PlanParts, Plans } from '../../../engine/ports/plans.js';
import { filesOfNode, filesOfQueue, type ReadBlock } from '../../codecs/file-blocks.js';
import { decodePart, type PartName } from '../../codecs/plan-parts.js';
import type { Tables } from '../tables.js';
import { type BlobParts, readBlob } from '../writes/blobs.js';

export function lmdbPlans(parts: BlobParts & Pick<Tables, 'forecasts'>) {
  const forecastOf = (plan: string) => parts.forecasts.get(plan) ?? null;
  return {
    part: <Name extends keyof PlanParts>(plan: string, name: Name) =>
      (name === 'forecast' ? forecastOf(plan) : partOf(parts, plan, name)) as PlanParts[Name] | null,
    files: (plan: string, which: number | readonly number[]) =>
      typeof which === 'number' ? filesOfNode(blocksIn(parts, plan), plan, which) : filesOfQueue(blocksIn(parts, plan), plan, which),
  } satisfies Plans;
}

/** Reads a part of a split or queue; null: it has none, or expired. */
export function partOf<Name extends PartName>(parts: BlobParts, plan: string, name: Name): PlanParts[Name] | null {
  // Nodes read the cuts with their batches, and the other parts are read now and then.
  const bytes = name === 'cuts' ? readBlob(parts, plan, name) : parts.blobs.get([plan, name]);
  return bytes ? decodePart(name, bytes) : null;
}

/** Reads the blocks of a split or queue. */
export function blocksIn(parts: BlobParts, plan: string): ReadBlock {
  return number => readBlob(parts, plan, number);
}

/** Counts the blocks of a queue. */
export function blocksOf({ blobs }: Pick<Tables, 'blobs'>, queue: string): number {
  return blobs.getKeysCount({ start: [queue, 0], end: [queue, Infinity] });
}
