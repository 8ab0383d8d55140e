import { describe, expect, it } from 'vitest';
import { MemoryBudget } from '../../../src/server/http/in-flight.js';
import type { Answer } from '../../../src/server/http/request.js';
import { refusal } from '../../harness/client.js';
import { listenWith } from '../../harness/server.js';
import { connectTo, RawConnection, requestHead } from './raw-connection.js';

const PIECE = 300_000;
const pieceOf = (i: number) => Buffer.alloc(PIECE, 97 + (i % 26));

/** An answer that is streamed in a number of pieces, and counts those that were read. */
class StreamedAnswer {
  read = 1;
  isOver = false;
  #notify = () => {};

  constructor(
    readonly count: number,
    readonly failsAt = Infinity,
  ) {}

  answer(): Answer {
    return { status: 200, body: pieceOf(0), rest: this.#rest(), memoryBytes: 2 * PIECE };
  }

  async until(condition: () => boolean): Promise<void> {
    while (!condition()) await new Promise<void>(resolve => (this.#notify = resolve));
  }

  async *#rest(): AsyncGenerator<Uint8Array> {
    try {
      for (let i = 1; i < this.count; i++) {
        if (i === this.failsAt) throw new Error('the disk is gone');
        this.read += 1;
        this.#notify();
        // A worker thread takes a moment, too.
        await new Promise(resolve => setImmediate(resolve));
        yield pieceOf(i);
      }
    } finally {
      this.isOver = true;
      this.#notify();
    }
  }
}

describe('a streamed answer', () => {
  it('arrives completely without a Content-Length, and another request may follow', async () => {
    const memory = new MemoryBudget(100_000_000);
    const server = await listenWith(() => new StreamedAnswer(20).answer(), { memory });
    for (let round = 0; round < 2; round++) {
      const response = await fetch(server.url);
      expect(response.headers.get('content-length')).toBeNull();
      const body = Buffer.from(await response.arrayBuffer());
      expect(body.equals(Buffer.concat(Array.from({ length: 20 }, (_, i) => pieceOf(i))))).toBe(true);
    }
    await expect.poll(() => memory.reservedBytes).toBe(0);
  });

  it('has no body for HEAD', async () => {
    const streamed = new StreamedAnswer(3);
    const { connection } = await connectTo(() => streamed.answer());
    for (let round = 0; round < 2; round++) {
      connection.send(requestHead('HEAD /'));
      const { status, headers, text } = (await connection.reply())!;
      expect({ status, text }).toEqual({ status: 200, text: '' });
      expect(headers).not.toHaveProperty('content-length');
    }
    expect(streamed.read).toBe(1);
  });

  it('closes the connection if reading fails, so that no client takes a part for the whole', async () => {
    const memory = new MemoryBudget(100_000_000);
    let failsAt = 7;
    const server = await listenWith(() => new StreamedAnswer(20, failsAt).answer(), { memory });
    const response = await fetch(server.url);
    expect(response.status).toBe(200);
    await expect(response.arrayBuffer()).rejects.toThrow();
    expect(memory.reservedBytes).toBe(0);
    expect(server.log.join('\n')).toContain('the disk is gone');
    failsAt = Infinity;
    expect((await fetch(server.url).then(response => response.arrayBuffer())).byteLength).toBe(20 * PIECE);
  });

  it('is read as fast as the client reads, and no further after the client left', async () => {
    const streamed = new StreamedAnswer(1000);
    const memory = new MemoryBudget(100_000_000);
    const server = await listenWith(() => streamed.answer(), { memory });
    const connection = await RawConnection.open(server.url);
    connection.socket.pause();
    connection.send(requestHead('GET /'));
    // The system buffers a small part of it.
    let before = 0;
    await expect
      .poll(
        () => {
          const isUnchanged = streamed.read === before;
          before = streamed.read;
          return isUnchanged && before > 1;
        },
        { interval: 200, timeout: 5000 },
      )
      .toBe(true);
    expect(before).toBeLessThan(100);
    expect(memory.reservedBytes).toBe(2 * PIECE);
    connection.socket.resume();
    await streamed.until(() => streamed.read > before + 20);
    connection.leave();
    await streamed.until(() => streamed.isOver);
    expect(streamed.read).toBeLessThan(1000);
    await expect.poll(() => memory.reservedBytes).toBe(0);
  });

  it('gets a 422 if it is larger than the memory for one owner', async () => {
    const server = await listenWith(() => ({ status: 200, body: 'x'.repeat(600_000) }), { memory: new MemoryBudget(1_000_000) });
    expect(await server.get('/')).toMatchObject(refusal(422, 'the answer has more than 500000 bytes, the limit of an answer'));
  });
});
