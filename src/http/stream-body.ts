import { limits } from '../limits.js';
import type { SendCallbacks } from './adapter.js';

/** Writes a body of unknown length. */
export interface BodyWriter {
  /** Returns false if the caller should wait for `onWritable` before the next piece. This piece is accepted in any case. */
  write(piece: Uint8Array): boolean;
  /** Sets the callback for each time that the socket can take more. */
  onWritable(callback: () => void): void;
  /** Ends the body. */
  end(): void;
}

/** Sends a body of unknown length, reading it as fast as the client does. Returns a function to call when the client leaves. */
export function streamBody(
  writer: BodyWriter,
  first: string | Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
  onError: SendCallbacks['onError'],
): () => void {
  let isOver = false;
  let resume = () => {};
  writer.onWritable(() => resume());
  const write = async (piece: Uint8Array) => {
    for (let start = 0; start < piece.length && !isOver; start += limits.answerChunkBytes) {
      const canContinue = writer.write(piece.subarray(start, start + limits.answerChunkBytes));
      if (!canContinue) await new Promise<void>(resolve => (resume = resolve));
    }
  };
  const writeAll = async () => {
    await write(typeof first === 'string' ? Buffer.from(first) : first);
    while (!isOver) {
      const { value, done } = await rest.next();
      if (!done) await write(value);
      else if (!isOver) {
        isOver = true;
        writer.end();
      }
    }
  };
  writeAll().catch(onError);
  return () => {
    isOver = true;
    resume();
    rest.return(undefined).catch(() => {});
  };
}
