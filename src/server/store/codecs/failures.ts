import type { BuildFailures, FileFailure, Outage } from '../../engine/ports/failures.js';

/** A record begins with its time (8), and the numbers of its outages (2) and of its files (2). All numbers are little-endian. */
const HEAD_BYTES = 12;
/** The node of an outage (2), and its files (4). */
const OUTAGE_BYTES = 6;
/**
 * The number of a path (4), the node (2) above which is the bit of a flake, the milliseconds run again (4), and those later (4); the path
 * before it (4), and hundredths of its slowdown (2), each 0 if there is none. The names of test cases follow all files: see encodeCases.
 */
export const FAILURE_BYTES = 20;
const ALL_NODES = 0xffff;
const FLAKY = 0x8000;
const MOST_MILLISECONDS = 0xffffffff;
const MOST_SLOWDOWN = 0xffff;

export function encodeFailures({ at, outages, files }: BuildFailures): Buffer {
  const cases = encodeCases(files);
  const bytes = Buffer.allocUnsafe(HEAD_BYTES + OUTAGE_BYTES * outages.length + FAILURE_BYTES * files.length + cases.length);
  bytes.writeDoubleLE(at);
  let end = bytes.writeUInt16LE(files.length, bytes.writeUInt16LE(outages.length, 8));
  for (const { node_index, files: count } of outages) end = bytes.writeUInt32LE(count, bytes.writeUInt16LE(node_index ?? ALL_NODES, end));
  for (const { path, isFlaky, node_index, seconds, later, before, slowdown } of files) {
    end = bytes.writeUInt16LE(node_index + (isFlaky ? FLAKY : 0), bytes.writeUInt32LE(path, end));
    for (const each of [seconds, later]) end = bytes.writeUInt32LE(Math.min(MOST_MILLISECONDS, Math.round(1000 * each)), end);
    end = bytes.writeUInt32LE(before ?? 0, end);
    end = bytes.writeUInt16LE(slowdown === null ? 0 : Math.max(1, Math.min(MOST_SLOWDOWN, Math.round(100 * slowdown))), end);
  }
  cases.copy(bytes, end);
  return bytes;
}

/** Throws a sentence on bytes that are no record. */
export function decodeFailures(bytes: Buffer): BuildFailures {
  const [outages, files] = bytes.length < HEAD_BYTES ? [0, 0] : [bytes.readUInt16LE(8), bytes.readUInt16LE(10)];
  const start = HEAD_BYTES + OUTAGE_BYTES * outages;
  const end = start + FAILURE_BYTES * files;
  if (bytes.length < end) throw new Error(`what failed in a build has ${bytes.length} bytes, which is no record`);
  const casesOf = decodeCases(bytes.toString('utf8', end));
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
        before: bytes.readUInt32LE(from + 14) || null,
        slowdown: bytes.readUInt16LE(from + 18) / 100 || null,
        cases: casesOf.get(i) ?? [],
        seconds: bytes.readUInt32LE(from + 6) / 1000,
        later: bytes.readUInt32LE(from + 10) / 1000,
      };
    }),
  };
}

/** The names of the test cases of files that have any, by the index of the file, as JSON; without any, nothing. */
function encodeCases(files: readonly FileFailure[]): Buffer {
  const named = files.flatMap(({ cases }, i) => (cases.length > 0 ? [[i, cases]] : []));
  return named.length === 0 ? Buffer.alloc(0) : Buffer.from(JSON.stringify(named));
}

function decodeCases(text: string): Map<number, string[]> {
  return new Map(text === '' ? [] : (JSON.parse(text) as [number, string[]][]));
}
