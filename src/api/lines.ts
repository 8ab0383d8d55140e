import { apiErrors } from '../api-error.js';
import type { Answer } from '../http/request.js';

const TEXT = 'text/plain; charset=utf-8';

/** The answer for a shell: a path a line, nothing at all when there is none. Throws the 406 of a path that is no line. */
export function lines(paths: readonly string[], headers?: Answer['headers']): Answer {
  const broken = paths.find(path => path.includes('\n'));
  if (broken !== undefined) throw apiErrors.pathHasLineBreak(broken);
  return { status: 200, body: paths.map(path => `${path}\n`).join(''), contentType: TEXT, ...(headers && { headers }) };
}

/** A code instead of paths. No 200: `curl --fail` must not take it for a node that has nothing to run. */
export function codeLine(code: string): Answer {
  return { status: 404, body: `${code}\n`, contentType: TEXT };
}
