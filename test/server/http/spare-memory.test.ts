import { beforeEach, expect, it } from 'vitest';
import { giveMemory, takeMemory } from '../../../src/server/http/spare-memory.js';

const KIB = 1024;
const MOST = 32 * 1024 * KIB;
const part = (memory: ArrayBuffer) => new Uint8Array(memory, 0, memory.byteLength);
const kept = (memory: ArrayBuffer) => {
  giveMemory([part(memory)], MOST);
  return takeMemory(memory.byteLength) === memory;
};

beforeEach(() => {
  // What other tests gave.
  for (let i = 0; i < 64; i++) takeMemory(512 * KIB);
});

it('memory that a body had is taken for the next large part of a body', () => {
  const memory = takeMemory(400 * KIB);
  giveMemory([part(memory)], MOST);
  expect(takeMemory(500 * KIB)).toBe(memory);
  expect(takeMemory(500 * KIB)).not.toBe(memory);
});

it('a part has room for as many bytes as it is taken for, and a small one for no more', () => {
  for (const bytes of [1, 100 * KIB, 256 * KIB, 900 * KIB]) expect(takeMemory(bytes).byteLength).toBe(bytes);
  for (const bytes of [256 * KIB + 1, 512 * KIB]) expect(takeMemory(bytes).byteLength).toBe(512 * KIB);
});

it('memory of other sizes, and memory that was moved to a thread, is not kept', () => {
  expect(kept(takeMemory(100 * KIB))).toBe(false);
  const moved = takeMemory(512 * KIB);
  const view = part(moved);
  structuredClone(moved, { transfer: [moved] });
  giveMemory([view], MOST);
  expect(takeMemory(512 * KIB).byteLength).toBe(512 * KIB);
});

it('as many bytes as may be are kept', () => {
  const all = Array.from({ length: 65 }, () => takeMemory(512 * KIB));
  giveMemory(all.map(part), MOST);
  const taken = Array.from({ length: 65 }, () => takeMemory(512 * KIB));
  expect(taken.filter(memory => all.includes(memory))).toHaveLength(64);
});
