import { Packr } from 'msgpackr';
import { applyChange, type Change, isBatch } from '../../engine/ports/queues.js';
import type { Batch } from '../../engine/queue/batch.js';

const msgpack = new Packr({ useRecords: false });

/** The fields that a batch may lack are last. */
const BATCH_FIELDS = [
  'seq',
  'node_index',
  'run',
  'batch_uuid',
  'handed_at',
  'files',
  'isFirstRequest',
  'isReplay',
  'build_subset_id',
  'decision',
  'delivered',
  'acknowledges',
  'failed',
  'runs_before',
  'lease',
  'cases',
  'failed_cases',
  'repeated',
  'cancelled_at',
  'heartbeats',
  'times',
  'kept',
  'retry',
] as const satisfies (keyof Batch)[];

export function encodeChange(change: Change): Buffer {
  if (!isBatch(change)) return msgpack.pack(change);
  const row: unknown[] = [];
  for (const field of BATCH_FIELDS) row.push(change[field]);
  while (row.at(-1) === undefined) row.pop();
  return msgpack.pack(row);
}

export function decodeChange(bytes: Uint8Array): Change {
  const change = msgpack.unpack(bytes) as Change | unknown[];
  if (!Array.isArray(change)) return change;
  const batch: Record<string, unknown> = {};
  for (let i = 0; i < change.length; i++) if (change[i] !== undefined) batch[BATCH_FIELDS[i]!] = change[i];
  return batch as unknown as Batch;
}

/** The changes of a queue that are saved together. */
export function encodeChanges(changes: readonly Buffer[]): Buffer {
  return msgpack.pack(changes);
}

export function decodeChanges(bytes: Uint8Array): Change[] {
  return (msgpack.unpack(bytes) as Buffer[]).map(decodeChange);
}

/** The batches of a queue after all of its changes, which are encoded in groups; oldest first. */
export function batchesIn(groups: Iterable<Buffer>): Batch[] {
  const batches = new Map<number, Batch>();
  for (const group of groups) for (const change of decodeChanges(group)) applyChange(batches, change);
  return [...batches.values()].sort((a, b) => a.seq - b.seq);
}
