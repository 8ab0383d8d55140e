import type { HttpResponse } from 'uWebSockets.js';
import { limits } from '../limits.js';

const STATUS_LINES: Readonly<Record<number, string>> = {
  200: '200 OK',
  201: '201 Created',
  202: '202 Accepted',
  400: '400 Bad Request',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  408: '408 Request Timeout',
  413: '413 Content Too Large',
  415: '415 Unsupported Media Type',
  422: '422 Unprocessable Content',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
};

/** uWebSockets.js closes idle connections after 10 s; clients that know drop theirs before. */
const KEEP_ALIVE = 'timeout=9';

export interface Written {
  status: number;
  body: string | Uint8Array;
  headers: Readonly<Record<string, string>>;
  /** The answer to HEAD has a length but no body. */
  headOnly: boolean;
  close: boolean;
}

/** Writes an answer and calls `end` when the last byte was handed to the system. */
export function writeAnswer(res: HttpResponse, answer: Written, end: () => void): void {
  const body = typeof answer.body === 'string' ? Buffer.from(answer.body) : answer.body;
  res.cork(() => {
    res.writeStatus(STATUS_LINES[answer.status]!);
    if (body.length > 0) res.writeHeader('Content-Type', 'application/json');
    if (!answer.close) res.writeHeader('Keep-Alive', KEEP_ALIVE);
    for (const [name, value] of Object.entries(answer.headers)) res.writeHeader(name, value);
    if (answer.headOnly) {
      // Closed by uWebSockets.js in any case: it counts the missing body as an aborted answer.
      res.endWithoutBody(body.length, true);
    } else if (body.length <= limits.answerPieceBytes) {
      res.end(body, answer.close);
    } else {
      writePieces(res, body, end);
      return;
    }
    end();
  });
}

/** `end` would copy the whole body into the socket's buffer; this sends what the socket takes. */
function writePieces(res: HttpResponse, body: Uint8Array, end: () => void): void {
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
