import { Packr } from 'msgpackr';
import { buildDigest } from '../../../engine/keys.js';
import type { NewSubset } from '../writes/put-subsets.js';
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
  hasTestCases: boolean,
  isRetry: boolean,
  commit_hash: string,
  branch: string,
  node_total: number,
  node_index: number,
  run: Buffer,
];

const msgpack = new Packr({ useRecords: false });

export function isRun(payload: Uint8Array): boolean {
  return payload[0] === RUN;
}

export function encodeRun({ entry, project, hasTestCases, isRetry, key, bytes }: NewSubset): Buffer {
  const { commit_hash, branch, node_total, node_index } = key;
  const record: RunRecord = [entry, project, hasTestCases, isRetry, commit_hash, branch, node_total, node_index, bytes];
  return Buffer.concat([Buffer.of(RUN), msgpack.pack(record)]);
}

export function decodeRun(payload: Buffer): NewSubset {
  const [entry, project, hasTestCases, isRetry, commit_hash, branch, node_total, node_index, run] = msgpack.unpack(
    payload.subarray(1),
  ) as RunRecord;
  const key = { commit_hash, branch, node_total, node_index };
  // A copy, because the run gets its ordinal when it is put.
  const bytes = Buffer.from(run);
  const { created_at: at } = subsetHead(bytes);
  return { entry, project, key, build: buildDigest(project, key), hasTestCases, isRetry, at, bytes };
}
