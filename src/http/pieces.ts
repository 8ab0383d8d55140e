import type { HttpResponse } from 'uWebSockets.js';
import { limits } from '../limits.js';

interface Told {
  /** The last byte was handed to the system. */
  end: () => void;
  /** What was sent is not all, and there is no more. */
  fail: (error: unknown) => void;
}

/**
 * Writes a body of unknown length, chunked, as the socket takes it; asks for the next piece not before. Returns what to call when
 * the client left.
 */
export function writePieces(res: HttpResponse, first: Uint8Array, rest: AsyncGenerator<Uint8Array>, close: boolean, { end, fail }: Told): () => void {
  let isOver = false;
  let goOn = () => {};
  res.onWritable(() => {
    goOn();
    return true;
  });
  const write = async (piece: Uint8Array) => {
    for (let at = 0; at < piece.length && !isOver; at += limits.answerPieceBytes) {
      let isTaken = true;
      res.cork(() => void (isTaken = res.write(piece.subarray(at, at + limits.answerPieceBytes))));
      if (!isTaken) await new Promise<void>(resolve => (goOn = resolve));
    }
  };
  const writeAll = async () => {
    await write(first);
    while (!isOver) {
      const { value, done } = await rest.next();
      if (!done) await write(value);
      else if (!isOver) {
        isOver = true;
        res.cork(() => res.end(undefined, close));
        end();
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
