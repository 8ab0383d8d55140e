import type { Answer, Request } from '../../http/request.js';
import type { ClientFile } from '../client-files.js';
import type { Context } from '../context.js';
import { apiErrors } from '../errors.js';
import { fileAnswer } from '../static-file.js';

/** GET /NAME: a file for CI nodes. It needs no token. Throws a 404 when it was not built. */
export const clientFile =
  (name: string) =>
  (context: Context, request: Request): Answer =>
    fileAnswer(builtFile(context, name), request, 'no-cache');

/** GET /NAME.sha256: its checksum, as sha256sum writes it. Throws a 404 when it was not built. */
export const clientChecksum =
  (name: string) =>
  (context: Context): Answer => ({
    status: 200,
    body: `${builtFile(context, name).checksum}  ${name}\n`,
    contentType: 'text/plain; charset=utf-8',
  });

function builtFile({ client }: Context, name: string): ClientFile {
  const file = client.files.get(name);
  if (!file) throw apiErrors.notBuilt('client');
  return file;
}
