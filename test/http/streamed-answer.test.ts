import { describe, expect, it } from 'vitest';
import { MemoryBudget } from '../../src/http/memory-budget.js';
import type { Answer } from '../../src/http/request.js';
import { listenWith } from '../harness/server.js';
import { RawConnection, requestHead } from './raw-connection.js';

const PIECE = 300_000;
const pieceOf = (i: number) => Buffer.alloc(PIECE, 97 + (i % 26));

/** An answer of so many pieces, which counts those that were asked for. */
class Pieces {
  asked = 1;
  isOver = false;
  #tell = () => {};

  constructor(
    readonly count: number,
    readonly failsAt = Infinity,
  ) {}

  answer(): Answer {
    return { status: 200, body: pieceOf(0), rest: this.#rest(), memoryBytes: 2 * PIECE };
  }

  async until(isSo: () => boolean): Promise<void> {
    while (!isSo()) await new Promise<void>(resolve => (this.#tell = resolve));
  }

  async *#rest(): AsyncGenerator<Uint8Array> {
    try {
      for (let i = 1; i < this.count; i++) {
        if (i === this.failsAt) throw new Error('the disk is gone');
        this.asked += 1;
        this.#tell();
        // As a packing thread does, it takes a moment.
        await new Promise(resolve => setImmediate(resolve));
        yield pieceOf(i);
      }
    } finally {
      this.isOver = true;
      this.#tell();
    }
  }
}

describe('an answer that comes in pieces', () => {
  it('arrives as a whole without its length told, and another request may follow', async () => {
    const held = new MemoryBudget(100_000_000);
    const server = await listenWith(() => new Pieces(20).answer(), { memory: held });
    for (let round = 0; round < 2; round++) {
      const response = await fetch(server.url);
      expect(response.headers.get('content-length')).toBeNull();
      const body = Buffer.from(await response.arrayBuffer());
      expect(body.equals(Buffer.concat(Array.from({ length: 20 }, (_, i) => pieceOf(i))))).toBe(true);
    }
    await expect.poll(() => held.reservedBytes).toBe(0);
  });

  it('has no body when only its head is asked for', async () => {
    const pieces = new Pieces(3);
    const server = await listenWith(() => pieces.answer());
    const connection = await RawConnection.open(server.url);
    for (let round = 0; round < 2; round++) {
      connection.send(requestHead('HEAD /', []));
      const { status, headers, text } = (await connection.reply())!;
      expect({ status, text }).toEqual({ status: 200, text: '' });
      expect(headers).not.toHaveProperty('content-length');
    }
    expect(pieces.asked).toBe(1);
  });

  it('closes the connection when there is no more of it, so that nobody takes a part for the whole', async () => {
    const held = new MemoryBudget(100_000_000);
    let failsAt = 7;
    const server = await listenWith(() => new Pieces(20, failsAt).answer(), { memory: held });
    const response = await fetch(server.url);
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
    expect(held.reservedBytes).toBe(0);
    expect(server.log.join('\n')).toContain('the disk is gone');
    failsAt = Infinity;
    expect((await fetch(server.url).then(again => again.arrayBuffer())).byteLength).toBe(20 * PIECE);
  });

  it('is asked for as fast as its client reads, and no more once that left', async () => {
    const pieces = new Pieces(1000);
    const held = new MemoryBudget(100_000_000);
    const server = await listenWith(() => pieces.answer(), { memory: held });
    const connection = await RawConnection.open(server.url);
    connection.socket.pause();
    connection.send(requestHead('GET /', []));
    // The system takes some of it, by far not all.
    let before = 0;
    await expect
      .poll(
        () => {
          const isSame = pieces.asked === before;
          before = pieces.asked;
          return isSame && before > 1;
        },
        { interval: 200, timeout: 5000 },
      )
      .toBe(true);
    expect(before).toBeLessThan(100);
    expect(held.reservedBytes).toBe(2 * PIECE);
    connection.socket.resume();
    await pieces.until(() => pieces.asked > before + 20);
    connection.leave();
    await pieces.until(() => pieces.isOver);
    expect(pieces.asked).toBeLessThan(1000);
    await expect.poll(() => held.reservedBytes).toBe(0);
  });

  it('is refused for good when it is larger than may ever be held', async () => {
    const server = await listenWith(() => ({ status: 200, body: 'x'.repeat(600_000) }), { memory: new MemoryBudget(1_000_000) });
    expect(await server.get('/')).toMatchObject({
      status: 422,
      json: { errors: ['the answer has more than 500000 bytes, the limit of an answer'] },
    });
  });
});
