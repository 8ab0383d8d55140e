import { expect, it } from 'vitest';
import { boundsFor, DEFAULT_MEMORY_BYTES, LEAST_MEMORY_BYTES, memoryBounds } from '../../../src/server/engine/memory-bounds.js';

const MIB = 1_048_576;
/** All bounds, of which the last four count in each of three threads, and what the program takes. */
function sumOf(bytes: number): number {
  const { pathNumbers, pathNames, planParts, scratch, ...once } = boundsFor(bytes);
  const inEachThread = pathNumbers + pathNames + planParts + scratch;
  return 600 * MIB + 3 * inEachThread + Object.values(once).reduce((sum, each) => sum + each, 0);
}

it('the bounds of the memory fit in it, whatever its size', () => {
  expect(boundsFor(DEFAULT_MEMORY_BYTES)).toEqual(memoryBounds);
  for (const bytes of [LEAST_MEMORY_BYTES, 1024 * MIB, DEFAULT_MEMORY_BYTES, 64 * 1024 * MIB]) {
    expect(sumOf(bytes)).toBeLessThanOrEqual(bytes);
    expect(sumOf(bytes)).toBeGreaterThan(0.9 * bytes);
  }
});
