import { Packr } from 'msgpackr';
import type { Change } from '../../../engine/ports/queues.js';
import type { Batch, CasesByFile, EndedLease } from '../../../engine/queue/batch.js';
import type { KeptDecision } from '../../../engine/queue/decision.js';

/** A batch on disk. */
export interface BatchRecord {
  v: 1;
  seq: number;
  node_index: number;
  run: string;
  batch_uuid: string | null;
  handed_at: number;
  files: number[];
  /** `Batch.isFirstRequest` */
  starts: boolean;
  /** `Batch.isReplay` */
  again: boolean;
  build_subset_id: string | null;
  acknowledges?: true;
  /** Missing below store version 7. */
  runs_before?: number;
  delivered: boolean;
  /** Missing in records of an older Ballast, which ignores it. */
  decision?: KeptDecision;
  cases?: CasesByFile;
  failed?: number[];
  failed_cases?: CasesByFile;
  lease?: 'lost' | 'late' | 'restarted' | 'ended';
}

export type ChangeRecord = BatchRecord | number;

/** The changes of all queues in one turn of the event loop, in their order: a payload of the journal, in msgpack. */
export type TurnRecord = [queue: string, change: ChangeRecord][];

const msgpack = new Packr({});

const LEASE_ON_DISK = { expired: 'lost', returned: 'late', restarted: 'restarted', closed: 'ended' } as const;
const LEASE_IN_MEMORY = { lost: 'expired', late: 'returned', restarted: 'restarted', ended: 'closed' } as const satisfies Record<
  string,
  EndedLease
>;

// Fields are assigned one by one: every pull encodes a batch, and a spread costs more than the rest of this function.
export function encodeBatch(batch: Batch): BatchRecord {
  const record: BatchRecord = {
    v: 1,
    seq: batch.seq,
    node_index: batch.node_index,
    run: batch.run,
    batch_uuid: batch.batch_uuid,
    handed_at: batch.handed_at,
    files: batch.files,
    starts: batch.isFirstRequest,
    again: batch.isReplay,
    build_subset_id: batch.build_subset_id,
    delivered: batch.delivered,
  };
  if (batch.acknowledges) record.acknowledges = true;
  if (batch.runs_before !== undefined) record.runs_before = batch.runs_before;
  if (batch.decision) record.decision = batch.decision;
  if (batch.cases) record.cases = batch.cases;
  if (batch.failed) record.failed = batch.failed;
  if (batch.failed_cases) record.failed_cases = batch.failed_cases;
  if (batch.lease) record.lease = LEASE_ON_DISK[batch.lease];
  return record;
}

export function encodeChange(change: Change): ChangeRecord {
  return typeof change === 'number' ? change : encodeBatch(change);
}

export function decodeChange(change: ChangeRecord): Change {
  return typeof change === 'number' ? change : decodeBatch(change);
}

/** Encodes changes as the table `batches` has them. */
export function encodeChanges(changes: readonly Change[]): Buffer {
  return msgpack.pack(changes.map(encodeChange));
}

export function encodeTurn(turn: readonly (readonly [queue: string, change: Change])[]): Buffer {
  return msgpack.pack(turn.map(([queue, change]) => [queue, encodeChange(change)]));
}

export function decodeTurn(bytes: Uint8Array): TurnRecord {
  return msgpack.unpack(bytes) as TurnRecord;
}

export function decodeBatch(record: BatchRecord): Batch {
  const batch: Batch = {
    seq: record.seq,
    node_index: record.node_index,
    run: record.run,
    batch_uuid: record.batch_uuid,
    handed_at: record.handed_at,
    files: record.files,
    isFirstRequest: record.starts,
    isReplay: record.again,
    build_subset_id: record.build_subset_id,
    decision: record.decision ?? null,
    delivered: record.delivered,
  };
  if (record.acknowledges) batch.acknowledges = true;
  if (record.runs_before !== undefined) batch.runs_before = record.runs_before;
  if (record.cases) batch.cases = record.cases;
  if (record.failed) batch.failed = record.failed;
  if (record.failed_cases) batch.failed_cases = record.failed_cases;
  if (record.lease) batch.lease = LEASE_IN_MEMORY[record.lease];
  return batch;
}
