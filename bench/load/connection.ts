import { connect, type Socket } from 'node:net';
import type { Frame, Framing } from './framing.js';

const READ_BYTES = 65_536;

/** A raw connection with one request at a time. It copies nothing, as long as an answer comes in one piece. */
export class Connection {
  readonly #socket: Socket;
  /** The pieces of an answer that is not complete. */
  #pieces: Buffer[] = [];

  /**
   * @param onAnswer gets the bytes of an answer, which are valid until it returns
   * @param onError called once, when the connection fails
   */
  constructor(
    { hostname, port }: URL,
    readonly framing: Framing,
    readonly onAnswer: (answer: Buffer, frame: Frame) => void,
    onError: (error: Error) => void,
  ) {
    const buffer = Buffer.allocUnsafeSlow(READ_BYTES);
    const callback = (length: number) => {
      try {
        this.#read(buffer.subarray(0, length));
      } catch (error) {
        this.#socket.destroy(error as Error);
      }
      return true;
    };
    this.#socket = connect({ host: hostname, port: Number(port), noDelay: true, onread: { buffer, callback } });
    this.#socket.once('error', onError);
    this.#socket.once('end', () => this.#socket.destroy(new Error('the server closed a connection')));
  }

  send(request: Uint8Array): void {
    this.#socket.write(request);
  }

  close(): void {
    this.#socket.removeAllListeners().destroy();
  }

  #read(bytes: Buffer): void {
    const answer = this.#pieces.length === 0 ? bytes : Buffer.concat([...this.#pieces, bytes]);
    const frame = this.framing(answer);
    if (!frame || frame.head + frame.body > answer.length) {
      // The buffer is used again for the next read.
      this.#pieces = [this.#pieces.length === 0 ? Buffer.from(bytes) : answer];
      return;
    }
    if (frame.head + frame.body < answer.length) throw new Error('the server sent more than one answer to a request');
    this.#pieces = [];
    this.onAnswer(answer, frame);
  }
}
