import type { BuildFailures, FileFailure, Outage } from '../../engine/ports/failures.js';

/** A record begins with its time (8) and the number of its outages (2). All numbers are little-endian. */
const HEAD_BYTES = 10;
/** The node of an outage (2), and its files (4). */
const OUTAGE_BYTES = 6;
/** The number of a path (4), the node (2) above which is the bit of a flake, the milliseconds run again (4), and those later (4). */
export const FAILURE_BYTES = 14;
const ALL_NODES = 0xffff;
const FLAKY = 0x8000;
const MOST_MILLISECONDS = 0xffffffff;

export function encodeFailures({ at, outages, files }: BuildFailures): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + OUTAGE_BYTES * outages.length + FAILURE_BYTES * files.length);
  bytes.writeDoubleLE(at);
  let end = bytes.writeUInt16LE(outages.length, 8);
  for (const { node_index, files: count } of outages) end = bytes.writeUInt32LE(count, bytes.writeUInt16LE(node_index ?? ALL_NODES, end));
  for (const { path, isFlaky, node_index, seconds, later } of files) {
    end = bytes.writeUInt16LE(node_index + (isFlaky ? FLAKY : 0), bytes.writeUInt32LE(path, end));
    for (const each of [seconds, later]) end = bytes.writeUInt32LE(Math.min(MOST_MILLISECONDS, Math.round(1000 * each)), end);
  }
  return bytes;
}

/** Throws a sentence on bytes that are no record. */
export function decodeFailures(bytes: Buffer): BuildFailures {
  const outages = bytes.length < HEAD_BYTES ? 0 : bytes.readUInt16LE(8);
  const start = HEAD_BYTES + OUTAGE_BYTES * outages;
  const files = (bytes.length - start) / FAILURE_BYTES;
  if (files < 0 || !Number.isInteger(files)) throw new Error(`what failed in a build has ${bytes.length} bytes, which is no record`);
  return {
    at: bytes.readDoubleLE(),
    outages: Array.from({ length: outages }, (_, i): Outage => {
      const from = HEAD_BYTES + OUTAGE_BYTES * i;
      const node = bytes.readUInt16LE(from);
      return { node_index: node === ALL_NODES ? null : node, files: bytes.readUInt32LE(from + 2) };
    }),
    files: Array.from({ length: files }, (_, i): FileFailure => {
      const from = start + FAILURE_BYTES * i;
      const node = bytes.readUInt16LE(from + 4);
      return {
        path: bytes.readUInt32LE(from),
        isFlaky: node >= FLAKY,
        node_index: node % FLAKY,
        seconds: bytes.readUInt32LE(from + 6) / 1000,
        later: bytes.readUInt32LE(from + 10) / 1000,
      };
    }),
  };
}
