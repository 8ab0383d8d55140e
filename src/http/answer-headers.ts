import { limits } from '../limits.js';
import type { SendOptions } from './adapter.js';
import type { Answer } from './request.js';

/** Writes the headers of an answer, except those by which a library ends it and keeps its connection. */
export function writeHeaders(
  { body, contentType = 'application/json', headers: own }: Answer,
  { requestId: request, headers }: SendOptions,
  write: (name: string, value: string) => void,
): void {
  if (body.length > 0) write('Content-Type', contentType);
  write('X-Request-Id', request);
  // An answer is valid only now, and only for the owner of the token.
  write('Cache-Control', 'no-store');
  for (const name in headers) write(name, headers[name]!);
  for (const name in own) write(name, own[name]!);
}

/** A client that knows the limit of idle connections closes its own before the server does. */
export const KEEP_ALIVE = `timeout=${limits.idleSeconds - 1}`;
