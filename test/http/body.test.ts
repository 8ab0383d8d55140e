import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../src/http/api-error.js';
import { Body } from '../../src/http/body.js';
import { MemoryBudget } from '../../src/http/in-flight.js';

const MEGABYTE = 1_000_000;

describe('a request body', () => {
  it('takes little more memory than its size, even in tiny chunks', () => {
    const memory = new MemoryBudget(10 * MEGABYTE);
    let received: Uint8Array[] | ApiError = [];
    const body = new Body(
      null,
      { maxBodyBytes: MEGABYTE, bodySeconds: 60 },
      memory,
      () => null,
      result => (received = result),
    );
    const chunk = Buffer.from('x');
    const before = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < MEGABYTE; i++) body.receive(chunk, false);
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4 * MEGABYTE);
    expect(memory.reservedBytes).toBe(MEGABYTE);
    body.receive(new Uint8Array(), true);
    expect(Buffer.concat(received as unknown as Uint8Array[]).equals(Buffer.alloc(MEGABYTE, 'x'))).toBe(true);
    body.release();
    expect(memory.reservedBytes).toBe(0);
  });

  it('copies its chunks, whose memory is reused', () => {
    let received: Uint8Array[] | ApiError = [];
    const body = new Body(
      null,
      { maxBodyBytes: MEGABYTE, bodySeconds: 60 },
      new MemoryBudget(10 * MEGABYTE),
      () => null,
      result => (received = result),
    );
    // A view of a larger buffer, as Node passes.
    const chunk = Buffer.alloc(100_000).subarray(10, 70_010);
    for (const letter of 'abc') body.receive(chunk.fill(letter), letter === 'c');
    const pieces = received as unknown as Uint8Array[];
    expect(Buffer.concat(pieces).toString()).toBe('a'.repeat(70_000) + 'b'.repeat(70_000) + 'c'.repeat(70_000));
    // The pieces can move to another thread without the rest of that buffer.
    for (const piece of pieces) expect(piece.buffer.byteLength).toBeLessThan(100_000);
  });
});
