import type { Answer } from '../http/request.js';
import { apiErrors } from './errors.js';

const TEXT = 'text/plain; charset=utf-8';

/** The answer for a shell: one path per line. Throws a 406 when a path has a line break. */
export function lines(paths: readonly string[], headers?: Answer['headers']): Answer {
  const broken = paths.find(path => path.includes('\n'));
  if (broken !== undefined) throw apiErrors.pathHasLineBreak(broken);
  return { status: 200, body: paths.map(path => `${path}\n`).join(''), contentType: TEXT, ...(headers && { headers }) };
}

/** A code instead of paths. Its status is 404, so that `curl --fail` tells it from a node that has nothing to run. */
export function codeLine(code: string): Answer {
  return { status: 404, body: `${code}\n`, contentType: TEXT };
}
