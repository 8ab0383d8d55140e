import type { HttpResponse } from 'uWebSockets.js';
import { limits } from '../limits.js';

interface Told {
  /** Called when the last byte was handed to the system. */
  end: () => void;
  /** Called when the body breaks off. */
  fail: (error: unknown) => void;
}

/**
 * Writes a body of unknown length in chunks, and asks for the next piece when the socket can take it. Returns what to call when
 * the client leaves.
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
