import { limits } from '../limits.js';
import type { SendCallbacks } from './adapter.js';

/** Takes a body of unknown length in pieces. */
export interface BodyWriter {
  /** Returns false when the client must read before more is written. The piece is taken in any case. */
  write(piece: Uint8Array): boolean;
  /** Sets what to call each time the socket can take more. */
  onWritable(goOn: () => void): void;
  /** Ends the body. */
  end(): void;
}

/**
 * Sends a body of unknown length, and asks for the next piece when the socket can take it. Returns a function to call when the
 * client leaves.
 */
export function streamBody(
  to: BodyWriter,
  first: string | Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
  fail: SendCallbacks['onError'],
): () => void {
  let isOver = false;
  let goOn = () => {};
  to.onWritable(() => goOn());
  const write = async (piece: Uint8Array) => {
    for (let at = 0; at < piece.length && !isOver; at += limits.answerChunkBytes) {
      const isTaken = to.write(piece.subarray(at, at + limits.answerChunkBytes));
      if (!isTaken) await new Promise<void>(resolve => (goOn = resolve));
    }
  };
  const writeAll = async () => {
    await write(typeof first === 'string' ? Buffer.from(first) : first);
    while (!isOver) {
      const { value, done } = await rest.next();
      if (!done) await write(value);
      else if (!isOver) {
        isOver = true;
        to.end();
      }
    }
  };
  writeAll().catch(fail);
  return () => {
    isOver = true;
    goOn();
    rest.return(undefined).catch(() => {});
  };
}
