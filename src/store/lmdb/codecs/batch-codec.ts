import { Unpackr } from 'msgpackr';
import { type Change, isDelivery } from '../../../engine/ports/queues.js';
import type { Batch, CasesByFile, EndedLease } from '../../../engine/queue/batch.js';
import type { KeptDecision } from '../../../engine/queue/decision.js';
import { MsgpackWriter } from './msgpack-writer.js';

/** A batch on disk: an array, because the names of fields would take more space than the values. */
export type BatchRecord = [
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
const FIELDS = 14;

/** The bits of `flags`. */
const IS_FIRST_REQUEST = 1;
const IS_REPLAY = 2;
const IS_DELIVERED = 4;
const ACKNOWLEDGES = 8;

/** A change on disk: a new or changed batch, the seq of a batch that was taken back, or that of one that was delivered. */
export type ChangeRecord = BatchRecord | number | [delivered_seq: number];

/** The changes of all queues in one turn of the event loop, in their order. */
export type Turn = readonly (readonly [queue: string, change: Change])[];
type TurnRecord = [queue: string, change: ChangeRecord][];

const writer = new MsgpackWriter();
const msgpack = new Unpackr({});

export interface EncodedTurn {
  /** A TurnRecord, for the journal. */
  payload: Buffer;
  /** Each a ChangeRecord, a part of the payload. */
  changes: [queue: string, change: Buffer][];
}

export function encodeTurn(turn: Turn): EncodedTurn {
  const positions: [from: number, end: number][] = [];
  writer.begin();
  writer.array(turn.length);
  for (const [queue, change] of turn) {
    writer.array(2);
    writer.string(queue);
    const from = writer.length;
    writeChange(change);
    positions.push([from, writer.length]);
  }
  const payload = writer.finish();
  return { payload, changes: turn.map(([queue], i) => [queue, payload.subarray(...positions[i]!)]) };
}

export function decodeTurn(payload: Uint8Array): Turn {
  return (msgpack.unpack(payload) as TurnRecord).map(([queue, change]) => [queue, decodeChange(change)]);
}

/** Encodes changes as a ChangeRecord[]. */
export function encodeChanges(changes: readonly Change[]): Buffer {
  writer.begin();
  writer.array(changes.length);
  for (const change of changes) writeChange(change);
  return writer.finish();
}

/** Joins changes that are encoded to a ChangeRecord[]. */
export function joinChanges(changes: readonly Buffer[]): Buffer {
  writer.begin();
  writer.array(changes.length);
  return Buffer.concat([writer.finish(), ...changes]);
}

export function decodeChanges(records: Uint8Array): Change[] {
  return (msgpack.unpack(records) as ChangeRecord[]).map(decodeChange);
}

export function decodeChange(record: ChangeRecord): Change {
  if (typeof record === 'number') return record;
  return record.length === 1 ? { delivered_seq: record[0] } : decodeBatch(record);
}

function writeChange(change: Change): void {
  if (typeof change === 'number') {
    writer.number(change);
  } else if (isDelivery(change)) {
    writer.array(1);
    writer.number(change.delivered_seq);
  } else {
    writeBatch(change);
  }
}

function writeBatch(batch: Batch): void {
  writer.array(FIELDS);
  writer.number(batch.seq);
  writer.number(batch.node_index);
  writer.string(batch.run);
  writer.string(batch.batch_uuid);
  writer.number(batch.handed_at);
  writer.numbers(batch.files);
  writer.number(flagsOf(batch));
  writer.numbers(batch.decision);
  writer.numbers(batch.failed);
  writer.string(batch.build_subset_id);
  writer.number(batch.runs_before);
  writer.string(batch.lease);
  writeCases(batch.cases);
  writeCases(batch.failed_cases);
}

function flagsOf({ isFirstRequest, isReplay, delivered, acknowledges }: Batch): number {
  return (
    (isFirstRequest ? IS_FIRST_REQUEST : 0) |
    (isReplay ? IS_REPLAY : 0) |
    (delivered ? IS_DELIVERED : 0) |
    (acknowledges ? ACKNOWLEDGES : 0)
  );
}

function writeCases(cases: CasesByFile | undefined): void {
  if (!cases) {
    writer.number(null);
    return;
  }
  writer.array(cases.length);
  for (const [file, paths] of cases) {
    writer.array(2);
    writer.number(file);
    writer.array(paths.length);
    for (const path of paths) writer.string(path);
  }
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
