import { limits } from '../limits.js';
import type { SendOptions } from './adapter.js';
import type { Answer } from './request.js';

/** Writes the headers of an answer, except those for its length and its connection, which differ by library. */
export function writeHeaders(
  { body, contentType = 'application/json', cacheControl = 'no-store', headers }: Answer,
  { requestId }: SendOptions,
  write: (name: string, value: string) => void,
): void {
  if (body.length > 0) write('Content-Type', contentType);
  write('X-Request-Id', requestId);
  write('Cache-Control', cacheControl);
  for (const name in headers) write(name, headers[name]!);
}

/** Value of the Keep-Alive header: a client that respects it closes an idle connection before the server does. */
export const KEEP_ALIVE = `timeout=${limits.idleSeconds - 1}`;

/** Status lines of all statuses that Ballast answers with. */
export const STATUS_LINES: Readonly<Record<number, string>> = {
  200: '200 OK',
  201: '201 Created',
  202: '202 Accepted',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  406: '406 Not Acceptable',
  408: '408 Request Timeout',
  409: '409 Conflict',
  413: '413 Content Too Large',
  415: '415 Unsupported Media Type',
  422: '422 Unprocessable Content',
  429: '429 Too Many Requests',
  431: '431 Request Header Fields Too Large',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
  507: '507 Insufficient Storage',
};
