import { asBuffer, segment } from '../../../base/bytes.js';
import type { NewQueue } from '../../engine/ports/queues.js';
import type { NewSplit } from '../../engine/ports/splits.js';
import type { ReadBlock } from '../codecs/file-blocks.js';
import { copyOf } from '../codecs/run-times.js';
import type { Tables } from './tables.js';
import { type Blob, type BlobParts, readBlob } from './writes/blobs.js';

/**
 * What splits and queues consist of: the blocks of their files, by number, the weights and cuts of a queue, and what the estimates rest on.
 */
const WEIGHTS = 'weights';
export const BASIS = 'basis';
export const CUTS = 'cuts';

export function blobsOfQueue({ weights, cuts, ...plan }: Pick<NewQueue, 'files' | 'weights' | 'basis' | 'cuts'>): Blob[] {
  const others = [{ part: WEIGHTS, bytes: asBuffer(weights) }, ...(cuts ? [{ part: CUTS, bytes: asBuffer(cuts) }] : [])];
  return [...blobsOfSplit(plan), ...others];
}

export function blobsOfSplit({ files, basis }: Pick<NewSplit, 'files' | 'basis'>): Blob[] {
  const blocks = Array.from(files.ends, (_, part) => ({ part, bytes: segment(files, part) }));
  return [...blocks, { part: BASIS, bytes: asBuffer(basis) }];
}

/** Reads the blocks of a split or queue. */
export function blocksIn(parts: BlobParts, plan: string): ReadBlock {
  return number => readBlob(parts, plan, number);
}

/** How many blocks a queue has. */
export function blocksOf({ blobs }: Pick<Tables, 'blobs'>, queue: string): number {
  return blobs.getKeysCount({ start: [queue, 0], end: [queue, Infinity] });
}

/** The weights of a queue's files, in their order. */
export function weightsOfQueue({ blobs }: Pick<Tables, 'blobs'>, queue: string): Float64Array {
  const weights = blobs.get([queue, WEIGHTS])!;
  return new Float64Array(copyOf(weights), 0, Math.floor(weights.length / Float64Array.BYTES_PER_ELEMENT));
}
