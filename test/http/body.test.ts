import { describe, expect, it } from 'vitest';
import type { ApiError } from '../../src/api-error.js';
import { Body } from '../../src/http/body.js';
import { MemoryBudget } from '../../src/http/memory-budget.js';

const MEGABYTE = 1_000_000;

describe('a body', () => {
  it('takes little more memory than its bytes, however small the chunks that it comes in', () => {
    const held = new MemoryBudget(10 * MEGABYTE);
    let whole: Uint8Array[] | ApiError = [];
    const body = new Body(
      null,
      { maxBytes: MEGABYTE, seconds: 60 },
      held,
      () => null,
      result => (whole = result),
    );
    const chunk = Buffer.from('x');
    const taken = process.memoryUsage().arrayBuffers;
    for (let i = 0; i < MEGABYTE; i++) body.receive(chunk, false);
    expect(process.memoryUsage().arrayBuffers - taken).toBeLessThan(4 * MEGABYTE);
    expect(held.reservedBytes).toBe(MEGABYTE);
    body.receive(new Uint8Array(), true);
    expect(Buffer.concat(whole as unknown as Uint8Array[]).equals(Buffer.alloc(MEGABYTE, 'x'))).toBe(true);
    body.release();
    expect(held.reservedBytes).toBe(0);
  });

  it('keeps copies of its chunks, whose memory is used again', () => {
    let whole: Uint8Array[] | ApiError = [];
    const body = new Body(
      null,
      { maxBytes: MEGABYTE, seconds: 60 },
      new MemoryBudget(10 * MEGABYTE),
      () => null,
      result => (whole = result),
    );
    // A view into a larger buffer, as Node hands out.
    const chunk = Buffer.alloc(100_000).subarray(10, 70_010);
    for (const letter of 'abc') body.receive(chunk.fill(letter), letter === 'c');
    const pieces = whole as unknown as Uint8Array[];
    expect(Buffer.concat(pieces).toString()).toBe('a'.repeat(70_000) + 'b'.repeat(70_000) + 'c'.repeat(70_000));
    // A thread gets them as they are.
    for (const piece of pieces) expect(piece.buffer.byteLength).toBeLessThan(100_000);
  });
});
