import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ResponseWriter, SendCallbacks, SendOptions } from '../adapter.js';
import { hasLength, KEEP_ALIVE, streamBody, wholeBody, writeHeaders } from '../answer.js';
import type { ParsedHead } from '../head.js';
import type { Answer } from '../request.js';

/** The head of a request that Node has parsed. */
export function parsedHead({ method = '', url = '/', rawHeaders }: IncomingMessage): ParsedHead {
  // A client may send an absolute URL, as to a proxy.
  const target = url.replace(/^https?:\/\/[^/?]*/i, '');
  const query = target.indexOf('?');
  return {
    getMethod: () => method,
    getUrl: () => (query < 0 ? target : target.slice(0, query)),
    getQuery: () => (query < 0 ? undefined : target.slice(query + 1)),
    forEach(callback) {
      for (let i = 0; i < rawHeaders.length; i += 2) callback(rawHeaders[i]!.toLowerCase(), utf8(rawHeaders[i + 1]!));
    },
  };
}

/** Node decodes header values as Latin-1; clients send UTF-8. */
function utf8(text: string): string {
  return /[\x80-\xff]/.test(text) ? Buffer.from(text, 'latin1').toString() : text;
}

/** Writes answers with Node's own server. */
export class NodeResponseWriter implements ResponseWriter {
  constructor(readonly response: ServerResponse) {}

  remoteAddress(): string {
    return this.response.req.socket.remoteAddress ?? '';
  }

  close(): void {
    this.response.req.socket.destroy();
  }

  send(answer: Answer, options: SendOptions, callbacks: SendCallbacks): () => void {
    const { status, rest } = answer;
    const body = wholeBody(answer);
    const { headOnly, close } = options;
    const { response } = this;
    const headers: string[] = [];
    writeHeaders(answer, options, (name, value) => void headers.push(name, value));
    // Without these, Node would add its own. In HTTP/1.0 only closing the connection ends a streamed answer.
    if (close || (rest && !response.useChunkedEncodingByDefault)) headers.push('Connection', 'close');
    else headers.push('Connection', 'keep-alive', 'Keep-Alive', KEEP_ALIVE);
    if (!rest && hasLength(answer)) headers.push('Content-Length', String(Buffer.byteLength(body)));
    response.writeHead(status, headers);
    const { socket } = response.req;
    // Node also emits "finish" if the socket was destroyed before all was sent. This listener runs before Node's own, which closes the
    // socket.
    response.prependOnceListener('finish', () => socket.destroyed || callbacks.onSent());
    if (!rest || headOnly) {
      response.end(headOnly ? undefined : body);
      return () => {};
    }
    const writer = {
      write: (piece: Uint8Array) => response.write(piece),
      onWritable: (callback: () => void) => void response.on('drain', callback),
      end: () => void response.end(),
    };
    return streamBody(writer, body, rest, callbacks.onError);
  }
}
