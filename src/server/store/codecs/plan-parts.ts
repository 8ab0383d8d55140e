import { asBuffer, segment } from '../../../base/bytes.js';
import type { NewPlan, PlanParts } from '../../engine/ports/plans.js';
import type { NewQueue } from '../../engine/ports/queues.js';
import type { NewSplit } from '../../engine/ports/splits.js';
import { allFirst } from '../../planning/batching/first-files.js';
import { copyOf } from './run-times.js';

/** Parts that are kept in bytes, apart from the record of their split or queue. The forecast is not: it is small. */
export type PartName = Exclude<keyof PlanParts, 'forecast'>;

/** A block of files, by its number, or another part, by its name. */
export interface EncodedPart {
  part: number | PartName;
  bytes: Buffer;
}

/** A split has the ends of its nodes, a queue has weights, and may have cuts and files that go first. */
export type NewParts = Pick<NewPlan, 'files' | 'basis'> &
  Partial<Pick<NewSplit, 'nodeEnds'> & Pick<NewQueue, 'weights' | 'cuts' | 'first'>>;

export function encodeParts({ files, basis, nodeEnds, weights, cuts, first }: NewParts): EncodedPart[] {
  const parts: EncodedPart[] = Array.from(files.ends, (_, part) => ({ part, bytes: segment(files, part) }));
  parts.push({ part: 'basis', bytes: asBuffer(basis) });
  if (nodeEnds) parts.push({ part: 'nodeEnds', bytes: asBuffer(nodeEnds) });
  if (weights) parts.push({ part: 'weights', bytes: asBuffer(weights) });
  if (cuts) parts.push({ part: 'cuts', bytes: asBuffer(cuts) });
  if (first) parts.push({ part: 'first', bytes: asBuffer(Uint32Array.of(first.failed.length, ...allFirst(first))) });
  return parts;
}

const DECODERS: { [Name in PartName]: (bytes: Buffer) => PlanParts[Name] } = {
  basis: bytes => bytes,
  nodeEnds: numbersIn,
  // A check reads damaged ones, too.
  weights: bytes => new Float64Array(copyOf(bytes), 0, Math.floor(bytes.length / Float64Array.BYTES_PER_ELEMENT)),
  cuts: bytes => bytes,
  first(bytes) {
    const [failed = 0, ...files] = numbersIn(bytes);
    return { failed: files.slice(0, failed), unmeasured: files.slice(failed) };
  },
};

export function decodePart<Name extends PartName>(name: Name, bytes: Buffer): PlanParts[Name] {
  return DECODERS[name](bytes);
}

function numbersIn(bytes: Buffer): Uint32Array {
  return new Uint32Array(copyOf(bytes), 0, Math.floor(bytes.length / Uint32Array.BYTES_PER_ELEMENT));
}
