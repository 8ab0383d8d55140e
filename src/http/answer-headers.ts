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
