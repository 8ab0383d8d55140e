import type { PlanParts, Plans } from '../../../engine/ports/plans.js';
import { encodeFiles, filesInTurns, filesOfNode, type ReadBlock } from '../../codecs/file-blocks.js';
import { decodePart, type PartName } from '../../codecs/plan-parts.js';
import { sharedTurn } from '../../shared-turn.js';
import type { Tables } from '../tables.js';

export function lmdbPlans(tables: Pick<Tables, 'blobs' | 'forecasts'>) {
  const forecastOf = (plan: string) => tables.forecasts.get(plan) ?? null;
  return {
    part: <Name extends keyof PlanParts>(plan: string, name: Name) =>
      (name === 'forecast' ? forecastOf(plan) : partOf(tables, plan, name)) as PlanParts[Name] | null,
    files(plan: string, which: number | readonly number[]) {
      const files = typeof which === 'number' ? filesOfNode(tables.blobs.getBinaryFast([plan, 'nodeEnds']), plan, which) : which;
      return files && filesInTurns(blocksIn(tables, plan), plan, files, sharedTurn);
    },
    encode: encodeFiles,
  } satisfies Plans;
}

/** Reads a part of a split or queue; null: it has none, or expired. */
export function partOf<Name extends PartName>({ blobs }: Pick<Tables, 'blobs'>, plan: string, name: Name): PlanParts[Name] | null {
  const bytes = blobs.get([plan, name]);
  return bytes ? decodePart(name, bytes) : null;
}

/** Reads the blocks of a split or queue, without a copy of each. */
export function blocksIn({ blobs }: Pick<Tables, 'blobs'>, plan: string): ReadBlock {
  return number => blobs.getBinaryFast([plan, number]);
}

/** Counts the blocks of a queue. */
export function blocksOf({ blobs }: Pick<Tables, 'blobs'>, queue: string): number {
  return blobs.getKeysCount({ start: [queue, 0], end: [queue, Infinity] });
}
