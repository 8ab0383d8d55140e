import { Unpackr } from 'msgpackr';
import { buildDigest } from '../../../engine/keys.js';
import type { NewSubset } from '../writes/put-subsets.js';
import { MsgpackWriter } from './msgpack-writer.js';
import { subsetHead } from './subset-codec.js';

/**
 * A recorded run in the journal: RUN, 1 byte | RunRecord in msgpack. The changes of queues (see batch-codec.ts) begin with another byte,
 * because they are an array in msgpack.
 */
const RUN = 1;

/** A NewSubset without the digest of its build and the time, which follow from the rest. */
type RunRecord = [
  entry: number,
  project: number,
  flags: number,
  commit_hash: string,
  branch: string,
  node_total: number,
  node_index: number,
  run: Buffer,
];
const FIELDS = 8;

/** The bits of `flags`. */
const HAS_TEST_CASES = 1;
const IS_RETRY = 2;

const writer = new MsgpackWriter();
const msgpack = new Unpackr({ useRecords: false });

export function isRun(payload: Uint8Array): boolean {
  return payload[0] === RUN;
}

export function encodeRun({ entry, project, hasTestCases, isRetry, key, bytes }: NewSubset): Buffer {
  writer.begin();
  writer.number(RUN);
  writer.array(FIELDS);
  writer.number(entry);
  writer.number(project);
  writer.number((hasTestCases ? HAS_TEST_CASES : 0) | (isRetry ? IS_RETRY : 0));
  writer.string(key.commit_hash);
  writer.string(key.branch);
  writer.number(key.node_total);
  writer.number(key.node_index);
  writer.bytes(bytes);
  return writer.finish();
}

export function decodeRun(payload: Buffer): NewSubset {
  const [entry, project, flags, commit_hash, branch, node_total, node_index, run] = msgpack.unpack(payload.subarray(1)) as RunRecord;
  const key = { commit_hash, branch, node_total, node_index };
  // A copy, because the run gets its ordinal when it is put.
  const bytes = Buffer.from(run);
  const { created_at: at } = subsetHead(bytes);
  const hasTestCases = (flags & HAS_TEST_CASES) !== 0;
  return { entry, project, key, build: buildDigest(project, key), hasTestCases, isRetry: (flags & IS_RETRY) !== 0, at, bytes };
}
