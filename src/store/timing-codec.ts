import type { BranchTiming, BranchTimings } from '../plan/times/branch-timings.js';
import type { Level } from '../plan/times/level.js';

/**
 * Timings are the bulk of what is stored, and every recording rewrites them: bytes, not maps.
 *
 * version (1 byte), then for each branch:
 * 1   number of times, + 128 when there is a level before
 * 6   branch, 0: all
 * 6   build
 * 6   at
 * 8   each of the times, little-endian
 * 16  the level: log, variance, drift, rest, little-endian
 * 6   at of the level
 */
const VERSION = 1;
const HEAD = 19;
const TIME = 8;
const LEVEL = 22;
const HAS_LEVEL = 128;

export function encodeTimings(timings: BranchTimings): Buffer {
  const sizes = timings.map(({ times, before }) => HEAD + TIME * times.length + (before ? LEVEL : 0));
  const bytes = Buffer.allocUnsafe(sizes.reduce((sum, size) => sum + size, 1));
  let offset = bytes.writeUInt8(VERSION, 0);
  for (const { branch, build, at, times, before } of timings) {
    offset = bytes.writeUInt8(times.length + (before ? HAS_LEVEL : 0), offset);
    offset = bytes.writeUIntBE(branch ?? 0, offset, 6);
    offset = bytes.writeUIntBE(build, offset, 6);
    offset = bytes.writeUIntBE(dated(at), offset, 6);
    for (const time of times) offset = bytes.writeDoubleLE(time, offset);
    if (before) offset = writeLevel(bytes, before, offset);
  }
  return bytes;
}

/** Throws on bytes that are none. */
export function decodeTimings(bytes: Buffer): BranchTiming[] {
  if (bytes[0] !== VERSION) throw new Error(`timings have version ${bytes[0]}, and this Ballast reads ${VERSION}`);
  const timings: BranchTiming[] = [];
  for (let offset = 1; offset < bytes.length; ) {
    const flags = bytes[offset]!;
    const branch = bytes.readUIntBE(offset + 1, 6) || null;
    const build = bytes.readUIntBE(offset + 7, 6);
    const at = bytes.readUIntBE(offset + 13, 6);
    offset += HEAD;
    const times = Array.from({ length: flags & ~HAS_LEVEL }, (_, i) => bytes.readDoubleLE(offset + TIME * i));
    offset += TIME * times.length;
    const before = flags & HAS_LEVEL ? readLevel(bytes, offset) : null;
    if (before) offset += LEVEL;
    timings.push({ branch, before, build, times, at });
  }
  return timings;
}

/** When the path was measured last, in milliseconds since 1970. */
export function measuredAt(bytes: Buffer): number {
  return decodeTimings(bytes).reduce((last, { at }) => Math.max(last, at), 0);
}

function writeLevel(bytes: Buffer, { log, variance, drift, rest, at }: Level, offset: number): number {
  for (const value of [log, variance, drift, rest]) offset = bytes.writeFloatLE(value, offset);
  return bytes.writeUIntBE(dated(at), offset, 6);
}

/** A time that six bytes can hold, whatever the clock says. */
function dated(at: number): number {
  return Math.min(2 ** 48 - 1, Math.max(0, Math.floor(at)));
}

function readLevel(bytes: Buffer, offset: number): Level {
  const [log, variance, drift, rest] = [0, 4, 8, 12].map(at => bytes.readFloatLE(offset + at)) as [
    number,
    number,
    number,
    number,
  ];
  return { log, variance, drift, rest, at: bytes.readUIntBE(offset + 16, 6) };
}
