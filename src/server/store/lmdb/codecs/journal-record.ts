import { hash } from 'node:crypto';
import { Packr } from 'msgpackr';
import type { RunToPut } from '../writes/put-runs.js';

/**
 * The bytes of a record of the journal, in whole blocks, so that no write touches the block of another record. Numbers are little-endian.
 *
 * SHA-1 of what follows, 20 bytes | journal, 6 | number, 6 | length of the content, 4 | content | zeros up to the end of the block
 *
 * The content has the payloads, each after its length in 4 bytes. The id of the journal is random and no client knows it: the text of a
 * client in a payload is never taken for a record.
 */
export const BLOCK_BYTES = 4096;
const DIGEST_BYTES = 20;
const JOURNAL_AT = 20;
const NUMBER_AT = 26;
const LENGTH_AT = 32;
const CONTENT_AT = 36;
const ID_BYTES = 6;

export interface JournalRecord {
  /** Counted from 1. */
  number: number;
  payloads: Buffer[];
}

/** The first block of each file: a record with the number 0, which is never overwritten. Without it, a file is not what was written. */
export function encodeHead(journal: number): Buffer {
  return encodeRecord(journal, 0, [], Buffer.alloc(BLOCK_BYTES));
}

/** Reports whether a file begins with the head of a journal. */
export function hasHead(file: Buffer, journal: number): boolean {
  const [head] = recordsIn(file.subarray(0, BLOCK_BYTES), journal, -1);
  return head?.number === 0;
}

/** Encodes a record into the start of `room`, or into a new buffer if it is larger. Returns its bytes. */
export function encodeRecord(journal: number, number: number, payloads: readonly Uint8Array[], room: Buffer): Buffer {
  let end = CONTENT_AT;
  for (const { length } of payloads) end += 4 + length;
  const size = toBlocks(end);
  const bytes = size <= room.length ? room.subarray(0, size) : Buffer.allocUnsafe(size);
  bytes.writeUIntLE(journal, JOURNAL_AT, ID_BYTES);
  bytes.writeUIntLE(number, NUMBER_AT, ID_BYTES);
  bytes.writeUInt32LE(end - CONTENT_AT, LENGTH_AT);
  let at = CONTENT_AT;
  for (const payload of payloads) {
    at = bytes.writeUInt32LE(payload.length, at);
    bytes.set(payload, at);
    at += payload.length;
  }
  bytes.set(digestOf(bytes.subarray(DIGEST_BYTES, end)), 0);
  return bytes.fill(0, end);
}

/** Returns the intact records of a journal in a file that have a number above `after`, each with the position behind it. */
export function* recordsIn(file: Buffer, journal: number, after: number): Generator<JournalRecord & { end: number }> {
  for (let at = 0; at + CONTENT_AT <= file.length; ) {
    const end = at + CONTENT_AT + file.readUInt32LE(at + LENGTH_AT);
    const number = file.readUIntLE(at + NUMBER_AT, ID_BYTES);
    const isIntact =
      file.readUIntLE(at + JOURNAL_AT, ID_BYTES) === journal &&
      number > after &&
      end <= file.length &&
      digestOf(file.subarray(at + DIGEST_BYTES, end)).equals(file.subarray(at, at + DIGEST_BYTES));
    if (isIntact) yield { number, payloads: payloadsIn(file.subarray(at + CONTENT_AT, end)), end: toBlocks(end) };
    at = isIntact ? toBlocks(end) : at + BLOCK_BYTES;
  }
}

function payloadsIn(content: Buffer): Buffer[] {
  const payloads: Buffer[] = [];
  for (let at = 0; at < content.length; ) {
    const from = at + 4;
    at = from + content.readUInt32LE(at);
    payloads.push(content.subarray(from, at));
  }
  return payloads;
}

const toBlocks = (bytes: number) => Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES;
const digestOf = (bytes: Uint8Array) => hash('sha1', bytes, 'buffer');

/** A change of a queue, encoded: the batch may change again before it is written. */
export type QueueChange = readonly [queue: string, change: Buffer];

/** One payload of a record of the journal: the changes and the runs of one turn of the event loop, in order. */
export interface Payload {
  changes: QueueChange[];
  runs: RunToPut[];
}

const msgpack = new Packr({ useRecords: false });

/** A list is packed in a quarter of the time of an object with its names. */
const toRow = ({ project, key, build, hasTestCases, isRetry, entry, run }: RunToPut) =>
  [
    project,
    key.commit_hash,
    key.branch,
    key.node_total,
    key.node_index,
    build,
    hasTestCases,
    isRetry,
    entry,
    run.id,
    run.created_at,
    run.ordinal,
    run.ci_run,
    run.times,
    run.asked_at,
    run.has_no_test,
  ] as const;

function toRun(row: ReturnType<typeof toRow>): RunToPut {
  const [project, commit_hash, branch, node_total, node_index, build, hasTestCases, isRetry, entry, ...run] = row;
  const [id, created_at, ordinal, ci_run, times, asked_at, has_no_test] = run;
  const key = { commit_hash, branch, node_total, node_index };
  return { project, key, build, hasTestCases, isRetry, entry, run: { id, created_at, ordinal, ci_run, asked_at, has_no_test, times } };
}

export function encodePayload({ changes, runs }: Payload): Buffer {
  return msgpack.pack([changes, runs.map(toRow)]);
}

export function decodePayload(bytes: Uint8Array): Payload {
  const [changes, rows] = msgpack.unpack(bytes) as [QueueChange[], ReturnType<typeof toRow>[]];
  return { changes, runs: rows.map(toRun) };
}
