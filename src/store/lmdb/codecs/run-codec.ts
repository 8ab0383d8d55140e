import type { NewSubset } from '../writes/put-subsets.js';

/**
 * A recorded run in the journal:
 *
 * RUN, 1 byte | length of the head, 4, little-endian | the head as JSON | the run, see subset-codec.ts
 *
 * The changes of queues (see batch-codec.ts) begin with another byte, because they are an array in msgpack.
 */
const RUN = 1;
const HEAD_AT = 5;

export function isRun(payload: Uint8Array): boolean {
  return payload[0] === RUN;
}

export function encodeRun({ bytes: run, ...head }: NewSubset): Buffer {
  const text = JSON.stringify(head);
  const end = HEAD_AT + Buffer.byteLength(text);
  const bytes = Buffer.allocUnsafe(end + run.length);
  bytes[0] = RUN;
  bytes.writeUInt32LE(end - HEAD_AT, 1);
  bytes.write(text, HEAD_AT);
  bytes.set(run, end);
  return bytes;
}

export function decodeRun(payload: Buffer): NewSubset {
  const end = HEAD_AT + payload.readUInt32LE(1);
  const head = JSON.parse(payload.toString('utf8', HEAD_AT, end)) as Omit<NewSubset, 'bytes'>;
  // A copy, because the run gets its ordinal when it is put.
  return { ...head, bytes: Buffer.from(payload.subarray(end)) };
}
