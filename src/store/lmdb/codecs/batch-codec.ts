import { Packr } from 'msgpackr';
import { type Change, isDelivery } from '../../../engine/ports/queues.js';
import type { Batch, CasesByFile, EndedLease } from '../../../engine/queue/batch.js';
import type { KeptDecision } from '../../../engine/queue/decision.js';

/** A batch on disk: an array, because the names of fields would take more space than the values. */
type BatchRecord = [
  seq: number,
  node_index: number,
  run: string,
  batch_uuid: string | null,
  handed_at: number,
  files: number[],
  flags: number,
  decision: KeptDecision | null,
  failed: number[] | null,
  build_subset_id: string | null,
  runs_before: number | null,
  lease: EndedLease | null,
  cases: CasesByFile | null,
  failed_cases: CasesByFile | null,
];

/** The bits of `flags`. */
const IS_FIRST_REQUEST = 1;
const IS_REPLAY = 2;
const IS_DELIVERED = 4;
const ACKNOWLEDGES = 8;

/** A change on disk: a new or changed batch, the seq of a batch that was taken back, or that of one that was delivered. */
type ChangeRecord = BatchRecord | number | [delivered_seq: number];

/** A change of a queue, encoded: the batch may change again before it is written. */
export type QueueChange = readonly [queue: string, change: Buffer];

const msgpack = new Packr({ useRecords: false });

/** Encodes the changes of all queues in one turn of the event loop, in their order. */
export function encodeTurn(changes: readonly QueueChange[]): Buffer {
  return msgpack.pack(changes);
}

export function decodeTurn(payload: Uint8Array): QueueChange[] {
  return msgpack.unpack(payload) as QueueChange[];
}

export function encodeChange(change: Change): Buffer {
  return msgpack.pack(toRecord(change));
}

export function decodeChange(bytes: Uint8Array): Change {
  const record = msgpack.unpack(bytes) as ChangeRecord;
  if (typeof record === 'number') return record;
  return record.length === 1 ? { delivered_seq: record[0] } : decodeBatch(record);
}

function toRecord(change: Change): ChangeRecord {
  if (typeof change === 'number') return change;
  if (isDelivery(change)) return [change.delivered_seq];
  const { seq, node_index, run, batch_uuid, handed_at, files, decision, failed, build_subset_id, runs_before, lease } = change;
  return [
    seq,
    node_index,
    run,
    batch_uuid,
    handed_at,
    files,
    flagsOf(change),
    decision,
    failed ?? null,
    build_subset_id,
    runs_before ?? null,
    lease ?? null,
    change.cases ?? null,
    change.failed_cases ?? null,
  ];
}

function flagsOf({ isFirstRequest, isReplay, delivered, acknowledges }: Batch): number {
  return (
    (isFirstRequest ? IS_FIRST_REQUEST : 0) |
    (isReplay ? IS_REPLAY : 0) |
    (delivered ? IS_DELIVERED : 0) |
    (acknowledges ? ACKNOWLEDGES : 0)
  );
}

function decodeBatch(record: BatchRecord): Batch {
  const [seq, node_index, run, batch_uuid, handed_at, files, flags, decision, failed, build_subset_id] = record;
  const [runs_before, lease, cases, failed_cases] = record.slice(10) as [
    number | null,
    EndedLease | null,
    CasesByFile | null,
    CasesByFile | null,
  ];
  const batch: Batch = {
    seq,
    node_index,
    run,
    batch_uuid,
    handed_at,
    files,
    isFirstRequest: (flags & IS_FIRST_REQUEST) > 0,
    isReplay: (flags & IS_REPLAY) > 0,
    build_subset_id,
    decision,
    delivered: (flags & IS_DELIVERED) > 0,
  };
  if (flags & ACKNOWLEDGES) batch.acknowledges = true;
  if (runs_before !== null) batch.runs_before = runs_before;
  if (cases) batch.cases = cases;
  if (failed) batch.failed = failed;
  if (failed_cases) batch.failed_cases = failed_cases;
  if (lease) batch.lease = lease;
  return batch;
}
