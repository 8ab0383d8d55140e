import type { HttpResponse } from 'uWebSockets.js';
import { limits } from '../limits.js';
import { writePieces } from './pieces.js';
import type { Answer } from './request.js';

const STATUS_LINES: Readonly<Record<number, string>> = {
  200: '200 OK',
  201: '201 Created',
  202: '202 Accepted',
  400: '400 Bad Request',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  406: '406 Not Acceptable',
  408: '408 Request Timeout',
  409: '409 Conflict',
  413: '413 Content Too Large',
  415: '415 Unsupported Media Type',
  422: '422 Unprocessable Content',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
};

/** uWebSockets.js closes idle connections after 10 s; clients that know drop theirs before. */
const KEEP_ALIVE = 'timeout=9';

export type Headers = Readonly<Record<string, string>>;

export interface Manner {
  /** The id of the request. */
  request: string;
  headers: Headers | undefined;
  /** The client said that it closes. */
  closes: boolean;
  /** The answer to HEAD has a length but no body. */
  headOnly: boolean;
  close: boolean;
}

/**
 * Writes an answer, and calls `end` when the last byte was handed to the system, or `fail` when an answer in pieces breaks off.
 * Returns what to call when the client leaves before that.
 */
export function writeAnswer(res: HttpResponse, { status, body, rest, contentType = 'application/json', headers: own }: Answer, manner: Manner, end: () => void, fail: (error: unknown) => void): () => void {
  const { request, headers, closes, headOnly, close } = manner;
  let leave = () => {};
  res.cork(() => {
    res.writeStatus(STATUS_LINES[status]!);
    if (body.length > 0) res.writeHeader('Content-Type', contentType);
    if (!close) res.writeHeader('Keep-Alive', KEEP_ALIVE);
    res.writeHeader('X-Request-Id', request);
    // An answer is valid only now, and only for the owner of the token.
    res.writeHeader('Cache-Control', 'no-store');
    // uWebSockets.js says "close" itself only when the server is who closes.
    if (closes) res.writeHeader('Connection', 'close');
    for (const name in headers) res.writeHeader(name, headers[name]!);
    if (own) for (const name in own) res.writeHeader(name, own[name]!);
    if (headOnly && rest) {
      // uWebSockets.js would send an undefined argument as a huge length.
      res.endWithoutBody();
    } else if (headOnly) {
      // Closed by uWebSockets.js in any case: it counts the missing body as an aborted answer.
      res.endWithoutBody(Buffer.byteLength(body), true);
    } else if (rest) {
      leave = writePieces(res, bytesOf(body), rest, close, { end, fail });
      return;
    } else if (body.length <= limits.answerPieceBytes) {
      res.end(body, close);
    } else {
      writeWhole(res, bytesOf(body), end);
      return;
    }
    end();
  });
  return leave;
}

function bytesOf(body: string | Uint8Array): Uint8Array {
  return typeof body === 'string' ? Buffer.from(body) : body;
}

/** `end` would copy the whole body into the socket's buffer; this sends what the socket takes. */
function writeWhole(res: HttpResponse, body: Uint8Array, end: () => void): void {
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
