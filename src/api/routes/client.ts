import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { apiErrors } from '../errors.js';
import { fileAnswer } from '../static-file.js';

/** GET /ballast.mjs: the program of a CI node. It needs no token. Throws a 404 when it was not built. */
export function clientProgram({ client }: Context, request: Request): Answer {
  if (!client.file) throw apiErrors.notBuilt('client');
  return fileAnswer(client.file, request, 'no-cache');
}

/** GET /ballast.mjs.sha256: its checksum, as sha256sum writes it. Throws a 404 when it was not built. */
export function clientChecksum({ client }: Context): Answer {
  if (!client.file) throw apiErrors.notBuilt('client');
  return { status: 200, body: `${client.checksum}  ballast.mjs\n`, contentType: 'text/plain; charset=utf-8' };
}
