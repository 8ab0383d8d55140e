import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../../src/server/http/api-error.js';
import { Body } from '../../../src/server/http/body.js';
import { MemoryBudget } from '../../../src/server/http/in-flight.js';

const SIZE = 300_000;

/** A body of at most that size, the memory that it takes, and its bytes once they are complete. */
function opened(pathBytes = Infinity, contentLength: number | null = null) {
  const memory = new MemoryBudget(10 * SIZE);
  let received: Uint8Array[] | ApiError = [];
  const bounds = { maxBodyBytes: SIZE, bodySeconds: 60 };
  const body = new Body(
    contentLength,
    bounds,
    pathBytes,
    memory,
    () => null,
    result => (received = result),
  );
  return { body, memory, pieces: () => received as unknown as Uint8Array[] };
}

/** What comes of a body of three chunks of which no memory is kept. */
function discarded(pathBytes: number, chunkBytes: number, contentLength: number | null): Uint8Array[] {
  const { body, memory, pieces } = opened(pathBytes, contentLength);
  for (let i = 0; i < 3; i++) {
    body.receive(Buffer.alloc(chunkBytes), i === 2);
    expect(memory.reservedBytes).toBe(0);
  }
  return pieces();
}

describe('a request body', () => {
  it('beyond what its path takes is not kept, whether its length is declared or not', () => {
    for (const length of [null, SIZE])
      expect(discarded(1000, SIZE / 3, length)).toMatchObject({
        status: 413,
        errors: [expect.stringContaining('1000 bytes, the limit of this path')],
      });
  });

  it('for a path that takes none is discarded, whatever its length, and has no bytes', () => {
    for (const length of [null, 3 * SIZE]) expect(Buffer.concat(discarded(0, SIZE, length))).toHaveLength(0);
  });

  it('takes little more memory than its size, even in tiny chunks', () => {
    const { body, memory, pieces } = opened();
    const chunk = Buffer.from('x');
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < SIZE; i++) body.receive(chunk, false);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * SIZE);
    expect(memory.reservedBytes).toBe(SIZE);
    body.receive(new Uint8Array(), true);
    expect(Buffer.concat(pieces()).equals(Buffer.alloc(SIZE, 'x'))).toBe(true);
    body.release();
    expect(memory.reservedBytes).toBe(0);
  });

  it('copies its chunks, whose memory is reused', () => {
    const { body, pieces } = opened();
    // A view of a larger buffer, as Node passes.
    const chunk = Buffer.alloc(100_000).subarray(10, 70_010);
    for (const letter of 'abc') body.receive(chunk.fill(letter), letter === 'c');
    expect(Buffer.concat(pieces()).toString()).toBe('a'.repeat(70_000) + 'b'.repeat(70_000) + 'c'.repeat(70_000));
    // The pieces can move to another thread without the rest of that buffer.
    for (const piece of pieces()) expect(piece.buffer.byteLength).toBeLessThan(100_000);
  });
});
