import { randomUUID } from 'node:crypto';

/**
 * Recorded runs take most of the space of a store, so they are coded as bytes:
 *
 * version (1 byte)
 * 6    created_at
 * 16   id
 * 4    ordinal
 * 6    CI run
 * then for each test file, little-endian:
 * 4    path, the key of its name
 * 8    seconds
 */
const VERSION = 1;
const ID = 7;
const ORDINAL = 23;
const CI_RUN = 27;
const HEAD = 33;
const ENTRY = 12;

export interface SubsetHead {
  /** A UUID. */
  id: string;
  /** In milliseconds since 1970. */
  created_at: number;
  /** Its number among the runs of its build, from 1. */
  ordinal: number;
  /** shortDigest of its ci_build_id; 0: it has none. */
  ciRun: number;
}

export interface CodedSubset extends SubsetHead {
  paths: Uint32Array;
  seconds: Float64Array;
}

/**
 * Begins a run with a random id and a number of test files, each of which `setTime` sets. Its ordinal is set by `setOrdinal` when the run is
 * put.
 */
export function newSubset({ created_at, ciRun }: Omit<SubsetHead, 'id' | 'ordinal'>, files: number): Buffer {
  const bytes = Buffer.allocUnsafe(HEAD + ENTRY * files);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUIntBE(created_at, 1, 6);
  bytes.write(randomUUID().replaceAll('-', ''), ID, 'hex');
  setOrdinal(bytes, 0);
  bytes.writeUIntBE(ciRun, CI_RUN, 6);
  return bytes;
}

/** The test files of a run. A DataView is many times as fast as a Buffer's own methods. */
export function timesOf(bytes: Buffer): DataView {
  assertVersion(bytes);
  return new DataView(bytes.buffer, bytes.byteOffset + HEAD, bytes.length - HEAD);
}

export function setTime(times: DataView, file: number, path: number, seconds: number): void {
  times.setUint32(ENTRY * file, path, true);
  times.setFloat64(ENTRY * file + 4, seconds, true);
}

export function pathAt(times: DataView, file: number): number {
  return times.getUint32(ENTRY * file, true);
}

export function secondsAt(times: DataView, file: number): number {
  return times.getFloat64(ENTRY * file + 4, true);
}

/** Sets the number of a run among the runs of its build, from 1. */
export function setOrdinal(bytes: Buffer, ordinal: number): void {
  bytes.writeUInt32BE(ordinal, ORDINAL);
}

/** Decodes a run with its test files from one index to another. Throws a sentence on bytes that are no run. */
export function decodeSubset(bytes: Buffer, from = 0, to = Infinity): CodedSubset {
  const files = subsetCount(bytes);
  if (!Number.isInteger(files)) throw new Error(`a recorded run has ${bytes.length} bytes, which is not a whole number of test files`);
  const first = Math.min(from, files);
  const count = Math.max(0, Math.min(files, to) - first);
  const paths = new Uint32Array(count);
  const seconds = new Float64Array(count);
  const times = timesOf(bytes);
  for (let i = 0; i < count; i++) {
    paths[i] = pathAt(times, first + i);
    seconds[i] = secondsAt(times, first + i);
  }
  return { ...subsetHead(bytes), paths, seconds };
}

export function subsetHead(bytes: Buffer): SubsetHead {
  assertVersion(bytes);
  const id = bytes.toString('hex', ID, ORDINAL).replace(/^(.{8})(.{4})(.{4})(.{4})/, '$1-$2-$3-$4-');
  return { id, created_at: bytes.readUIntBE(1, 6), ordinal: bytes.readUInt32BE(ORDINAL), ciRun: bytes.readUIntBE(CI_RUN, 6) };
}

/** How many test files a run has. */
export function subsetCount(bytes: Buffer): number {
  assertVersion(bytes);
  return (bytes.length - HEAD) / ENTRY;
}

/** Whether two runs have the same CI run, test files and times. */
export function areSameRuns(a: Buffer, b: Buffer): boolean {
  return subsetHead(a).ciRun === subsetHead(b).ciRun && a.subarray(HEAD).equals(b.subarray(HEAD));
}

function assertVersion(bytes: Buffer): void {
  if (bytes[0] !== VERSION) throw new Error(`cannot read a recorded run of version ${bytes[0]}: this Ballast reads version ${VERSION}`);
}
