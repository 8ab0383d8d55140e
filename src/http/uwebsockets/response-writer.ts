import type { HttpResponse } from 'uws-pack';
import { limits } from '../../limits.js';
import type { ResponseWriter, SendCallbacks, SendOptions } from '../adapter.js';
import { KEEP_ALIVE, writeHeaders } from '../answer-headers.js';
import type { Answer } from '../request.js';
import { STATUS_LINES } from '../status-lines.js';
import { streamBody } from '../stream-body.js';

/** Answers with uWebSockets.js. */
export class UwebsocketsResponseWriter implements ResponseWriter {
  constructor(readonly res: HttpResponse) {}

  remoteAddress(): string {
    return Buffer.from(this.res.getRemoteAddressAsText()).toString();
  }

  close(): void {
    this.res.close();
  }

  send(answer: Answer, manner: SendOptions, sent: SendCallbacks): () => void {
    const { status, body, rest } = answer;
    const { clientWantsClose: clientCloses, headOnly, close } = manner;
    const { res } = this;
    let leave = () => {};
    res.cork(() => {
      res.writeStatus(STATUS_LINES[status]!);
      writeHeaders(answer, manner, (name, value) => void res.writeHeader(name, value));
      if (!close) res.writeHeader('Keep-Alive', KEEP_ALIVE);
      // uWebSockets.js writes "close" itself, but not when the client has sent it.
      if (clientCloses) res.writeHeader('Connection', 'close');
      if (headOnly && close && !clientCloses) {
        res.endWithoutBody(0, true);
      } else if (headOnly) {
        // With the length as its argument, uWebSockets.js would wait for the body: the connection would stay open without a limit.
        if (!rest) res.writeHeader('Content-Length', String(Buffer.byteLength(body)));
        // It would send an undefined argument as a huge length.
        res.endWithoutBody();
      } else if (rest) {
        leave = streamBody(this.#pieces(close, sent.onSent), body, rest, sent.onError);
        return;
      } else if (body.length <= limits.answerChunkBytes) {
        res.end(body, close);
      } else {
        this.#sendWhole(typeof body === 'string' ? Buffer.from(body) : body, sent.onSent);
        return;
      }
      sent.onSent();
    });
    return leave;
  }

  /** `end` would copy the whole body into the socket's buffer; this sends what the socket takes. */
  #sendWhole(body: Uint8Array, end: () => void): void {
    const { res } = this;
    const [sent, all] = res.tryEnd(body, body.length);
    if (sent || all) {
      end();
      return;
    }
    res.onWritable(offset => {
      const [ok, finished] = res.tryEnd(body.subarray(offset), body.length);
      if (finished) end();
      return ok;
    });
  }

  #pieces(close: boolean, end: () => void) {
    const { res } = this;
    return {
      write(piece: Uint8Array) {
        let isTaken = true;
        res.cork(() => void (isTaken = res.write(piece)));
        return isTaken;
      },
      onWritable: (goOn: () => void) =>
        void res.onWritable(() => {
          goOn();
          return true;
        }),
      end() {
        res.cork(() => res.end(undefined, close));
        end();
      },
    };
  }
}
