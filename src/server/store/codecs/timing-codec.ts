import type { RecordedPath } from '../../engine/ports/timings.js';
import type { BranchExpectation, BranchTiming } from '../../planning/estimating/branch-timings.js';
import type { Level } from '../../planning/estimating/level.js';
import { expectationOf } from '../../planning/estimating/timing.js';

/** The timings of a path. `seen_at` decides when the path expires. */
export type PathTimings = Pick<RecordedPath, 'project' | 'seen_at' | 'timings'>;

/**
 * Every build that measures a path rewrites its timings, so they are coded as bytes:
 *
 * version (1 byte)
 * 4   project
 * 6   seen_at
 * then for each branch:
 * 1   number of times, + 128 if there is a level before
 * 6   branch, 0: all
 * 6   build
 * 6   at
 * 18  what is expected: seconds and deviation, little-endian, and builds, at most 65,535
 * 8   each of the times, little-endian
 * 16  the level: log, variance, drift, residual, little-endian
 * 4   at of the level, in seconds
 * 2   builds of the level, at most 65,535
 */
const VERSION = 1;
const START = 11;
const HEAD = 37;
const EXPECTED = 19;
const TIME = 8;
const LEVEL = 22;
const HAS_LEVEL = 128;
const MAX_BUILDS = 65_535;

export function encodeTimings({ project, seen_at, timings }: PathTimings): Buffer {
  let size = START;
  for (const { times, before } of timings) size += HEAD + TIME * times.length + (before ? LEVEL : 0);
  const bytes = Buffer.allocUnsafe(size);
  bytes.writeUInt8(VERSION, 0);
  bytes.writeUInt32BE(project, 1);
  let offset = bytes.writeUIntBE(dated(seen_at), 5, 6);
  for (const { branch, build, at, times, before } of timings) {
    offset = bytes.writeUInt8(times.length + (before ? HAS_LEVEL : 0), offset);
    offset = bytes.writeUIntBE(branch ?? 0, offset, 6);
    offset = bytes.writeUIntBE(build, offset, 6);
    offset = bytes.writeUIntBE(dated(at), offset, 6);
    const { seconds, deviation, builds } = expectationOf({ build, at, times, before });
    offset = bytes.writeDoubleLE(seconds, offset);
    offset = bytes.writeDoubleLE(deviation, offset);
    offset = bytes.writeUInt16BE(Math.min(MAX_BUILDS, builds), offset);
    for (const time of times) offset = bytes.writeDoubleLE(time, offset);
    if (before) offset = writeLevel(bytes, before, offset);
  }
  return bytes;
}

/** Throws a sentence when the bytes have another version. */
export function decodeTimings(bytes: Buffer): PathTimings {
  const { project, seen_at } = headOfTimings(bytes);
  const timings: BranchTiming[] = [];
  for (let offset = START; offset < bytes.length; offset += sizeAt(bytes, offset)) timings.push(readTiming(bytes, offset));
  return { project, seen_at, timings };
}

/** Returns the same as `expectationOn`, but decodes nothing else, because planning a large suite spends most of its time here. */
export function decodeExpectationOn(bytes: Buffer, branch: number, defaultBranch: number | null): BranchExpectation | undefined {
  assertVersion(bytes);
  if (bytes.length === START) return undefined;
  let ofDefault = -1;
  let ofAll = -1;
  for (let offset = START; offset < bytes.length; offset += sizeAt(bytes, offset)) {
    const name = bytes.readUIntBE(offset + 1, 6);
    if (name === branch) return readExpectation(bytes, offset);
    if (name === defaultBranch) ofDefault = offset;
    if (name === 0) ofAll = offset;
  }
  return readExpectation(bytes, ofDefault > 0 ? ofDefault : ofAll > 0 ? ofAll : START);
}

export function headOfTimings(bytes: Buffer): Omit<PathTimings, 'timings'> {
  assertVersion(bytes);
  return { project: bytes.readUInt32BE(1), seen_at: bytes.readUIntBE(5, 6) };
}

/** A copy with another `seen_at`. */
export function withSeenAt(bytes: Buffer, seen_at: number): Buffer {
  assertVersion(bytes);
  const copy = Buffer.from(bytes);
  copy.writeUIntBE(dated(seen_at), 5, 6);
  return copy;
}

function assertVersion(bytes: Buffer): void {
  if (bytes[0] !== VERSION) throw new Error(`timings have version ${bytes[0]}, and this Ballast reads ${VERSION}`);
}

function readExpectation(bytes: Buffer, start: number): BranchExpectation {
  const at = start + EXPECTED;
  return {
    branch: bytes.readUIntBE(start + 1, 6) || null,
    seconds: bytes.readDoubleLE(at),
    deviation: bytes.readDoubleLE(at + 8),
    builds: bytes.readUInt16BE(at + 16),
  };
}

function readTiming(bytes: Buffer, start: number): BranchTiming {
  const flags = bytes[start]!;
  const branch = bytes.readUIntBE(start + 1, 6) || null;
  const build = bytes.readUIntBE(start + 7, 6);
  const at = bytes.readUIntBE(start + 13, 6);
  const count = flags & ~HAS_LEVEL;
  const times: number[] = [];
  for (let i = 0; i < count; i++) times.push(bytes.readDoubleLE(start + HEAD + TIME * i));
  return { branch, before: flags & HAS_LEVEL ? readLevel(bytes, start + HEAD + TIME * count) : null, build, times, at };
}

function sizeAt(bytes: Buffer, offset: number): number {
  const flags = bytes[offset]!;
  return HEAD + TIME * (flags & ~HAS_LEVEL) + (flags & HAS_LEVEL ? LEVEL : 0);
}

function writeLevel(bytes: Buffer, { log, variance, drift, residual, at, builds }: Level, offset: number): number {
  for (const value of [log, variance, drift, residual]) offset = bytes.writeFloatLE(value, offset);
  offset = bytes.writeUInt32BE(Math.min(2 ** 32 - 1, Math.floor(dated(at) / 1000)), offset);
  return bytes.writeUInt16BE(Math.min(MAX_BUILDS, builds), offset);
}

/** Bounds a time to what six bytes can hold, because a clock may be far off. */
function dated(at: number): number {
  return Math.min(2 ** 48 - 1, Math.max(0, Math.floor(at)));
}

function readLevel(bytes: Buffer, offset: number): Level {
  return {
    log: bytes.readFloatLE(offset),
    variance: bytes.readFloatLE(offset + 4),
    drift: bytes.readFloatLE(offset + 8),
    residual: bytes.readFloatLE(offset + 12),
    at: 1000 * bytes.readUInt32BE(offset + 16),
    builds: bytes.readUInt16BE(offset + 20),
  };
}
