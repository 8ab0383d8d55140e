import type { Answer } from '../http/request.js';
import { apiErrors } from './errors.js';

export function json(status: number, value: object): Answer {
  return { status, body: JSON.stringify(value) };
}

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

/** The JSON of an object around its last property `test_files`, whose value is encoded already. */
export function aroundFiles(head: object): [before: string, after: string] {
  return [`${JSON.stringify(head).slice(0, -1)},"test_files":`, '}'];
}
