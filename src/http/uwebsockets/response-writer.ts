import type { HttpResponse } from 'uWebSockets.js';
import { limits } from '../../limits.js';
import type { ResponseWriter, SendCallbacks, SendOptions } from '../adapter.js';
import { KEEP_ALIVE, STATUS_LINES, writeHeaders } from '../answer-headers.js';
import type { Answer } from '../request.js';
import { type BodyWriter, borrowedBody, streamBody } from '../stream-body.js';

/** Writes answers with uWebSockets.js. */
export class UwebsocketsResponseWriter implements ResponseWriter {
  constructor(readonly res: HttpResponse) {}

  remoteAddress(): string {
    return Buffer.from(this.res.getRemoteAddressAsText()).toString();
  }

  close(): void {
    this.res.close();
  }

  send(answer: Answer, options: SendOptions, { onSent, onError }: SendCallbacks): () => void {
    const { status, rest } = answer;
    const body = borrowedBody(answer);
    const { clientWantsClose, headOnly, close } = options;
    const { res } = this;
    let stop = () => {};
    res.cork(() => {
      // uWebSockets.js sends this text as it is, and each call of `writeHeader` would take half a microsecond.
      let head = STATUS_LINES[status]!;
      const writeHeader = (name: string, value: string) => void (head += `\r\n${name}: ${value}`);
      writeHeaders(answer, options, writeHeader);
      if (!close) writeHeader('Keep-Alive', KEEP_ALIVE);
      // uWebSockets.js writes "close" itself, except if the client has sent it.
      if (clientWantsClose) writeHeader('Connection', 'close');
      res.writeStatus(head);
      if (headOnly && close && !clientWantsClose) {
        res.endWithoutBody(0, true);
      } else if (headOnly) {
        // Given the length as an argument, uWebSockets.js would wait for the body, and the connection would stay open without limit.
        if (!rest) res.writeHeader('Content-Length', String(Buffer.byteLength(body)));
        // An argument of undefined would be sent as a huge length.
        res.endWithoutBody();
      } else if (rest) {
        stop = streamBody(this.#bodyWriter(close, onSent), body, rest, onError);
        return;
      } else if (body.length <= limits.answerChunkBytes) {
        res.end(body, close);
      } else {
        this.#sendWhole(typeof body === 'string' ? Buffer.from(body) : body, onSent);
        return;
      }
      onSent();
    });
    return stop;
  }

  /** Sends as much as the socket takes at a time. `end` would copy the whole body into the socket's buffer. */
  #sendWhole(body: Uint8Array, onSent: () => void): void {
    const { res } = this;
    const [ok, finished] = res.tryEnd(body, body.length);
    if (ok || finished) {
      onSent();
      return;
    }
    res.onWritable(offset => {
      const [ok, finished] = res.tryEnd(body.subarray(offset), body.length);
      if (finished) onSent();
      return ok;
    });
  }

  #bodyWriter(close: boolean, onSent: () => void): BodyWriter {
    const { res } = this;
    return {
      write(piece: Uint8Array) {
        let hasRoom = true;
        res.cork(() => void (hasRoom = res.write(piece)));
        return hasRoom;
      },
      onWritable: (callback: () => void) =>
        void res.onWritable(() => {
          callback();
          return true;
        }),
      end() {
        res.cork(() => res.end(undefined, close));
        onSent();
      },
    };
  }
}
