import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { apiErrors } from '../errors.js';
import { fileAnswer } from '../static-file.js';

/** GET /llms.txt, the list of guides, and /docs/:name.md, a guide as Markdown: for programs that read. They need no token. Throws a 404. */
export function guideText({ guides }: Context, request: Request): Answer {
  const file = guides.get(request.path);
  if (!file) throw apiErrors.pathNotFound(request.method, request.path);
  return fileAnswer(file, request, 'no-cache');
}
