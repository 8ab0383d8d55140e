import { isUtf8 } from 'node:buffer';
import { asBuffer } from '../../base/bytes.js';
import { limits } from '../../protocol/limits.js';
import { findListEnd, findListStart, type ListName, PLACEHOLDER, restOfBody } from '../engine/suites/list-in-body.js';
import type { Answer } from '../http/request.js';
import { apiErrors } from './errors.js';
import type { RawParameters } from './read/validation.js';

/** The objects and arrays of smaller bodies are not counted. */
const COUNTED_BODY_BYTES = 1_048_576;

/** Parses the parameters of a POST body. Throws a 400 if it is not a JSON object in UTF-8, and a 413 if it is too complex. */
export function decodeBody(bytes: Uint8Array): RawParameters {
  const body = asBuffer(bytes);
  if (body.length === 0) throw apiErrors.notJson('it is empty');
  if (!isUtf8(body)) throw apiErrors.notJson('it is not UTF-8');
  // For megabytes of `{},{},` JSON.parse needs seconds and gigabytes.
  if (body.length > COUNTED_BODY_BYTES && countContainers(body) > limits.jsonContainersPerBody) {
    throw apiErrors.bodyTooComplex(limits.jsonContainersPerBody);
  }
  const text = body.toString('utf8');
  const parameters = parse(text);
  if (parameters === undefined) throw apiErrors.notJson('it cannot be parsed');
  if (!isObject(parameters)) throw apiErrors.notJson('it must be an object with the parameters');
  for (const name of ['ci_build_id', 'node_build_id', 'test_queue_id']) {
    // JSON.parse rounds integers beyond 2^53, and the ids of two builds could become the same.
    if (Number.isInteger(parameters[name]) && !Number.isSafeInteger(parameters[name])) {
      parameters[name] = digitsOf(name, text) ?? parameters[name];
    }
  }
  return parameters;
}

/** A decoded body. */
interface DecodedBody {
  sent: RawParameters;
  /** The bytes of the list as it was sent, and the number of its objects and arrays, or more; null: the body was parsed as a whole. */
  list: { name: ListName; text: Uint8Array; containers: number } | null;
}

/** Parses a body as `decodeBody` does, but its list apart from the rest, if it is where it seems to be. Throws as `decodeBody`. */
export function decodeListed(body: Buffer, name: ListName): DecodedBody {
  const start = findListStart(body, name);
  const end = start < 0 ? -1 : findListEnd(body, name, start);
  if (end < 0) return { sent: decodeBody(body), list: null };
  const text = body.subarray(start, end);
  // A text has no more containers than bytes.
  const isSmall = text.length <= COUNTED_BODY_BYTES / 2;
  const containers = isSmall ? text.length : countContainers(text);
  const rest = decodeRest(restOfBody([body], start, end), name, containers);
  const entries = rest && isUtf8(text) ? parse(text.toString()) : null;
  if (!rest || !Array.isArray(entries)) return { sent: decodeBody(body), list: null };
  return { sent: { ...rest, [name]: entries as unknown[] }, list: { name, text, containers } };
}

/**
 * Decodes a body with a placeholder for its list. Null: the whole body must be decoded.
 * @param containers the number of objects and arrays of the list, or more
 */
export function decodeRest(rest: Buffer, name: ListName, containers: number): RawParameters | null {
  if (!isUtf8(rest) || containers + countContainers(rest) > limits.jsonContainersPerBody) return null;
  const sent = parse(rest.toString());
  return isObject(sent) && sent[name] === PLACEHOLDER && isExact(sent) ? sent : null;
}

/** Reports whether no id is an integer that JSON.parse may have rounded. Its digits are looked for in the whole body. */
function isExact(parameters: RawParameters): boolean {
  return Object.values(parameters).every(value => !Number.isInteger(value) || Number.isSafeInteger(value));
}

/** Undefined: the text is no JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the digits of an integer parameter as they were sent. */
function digitsOf(name: string, text: string): string | undefined {
  return [...text.matchAll(new RegExp(`"${name}"\\s*:\\s*(-?\\d+)\\s*[,}]`, 'g'))].at(-1)?.[1];
}

/** Counts opening brackets, including those in strings: the limit is far above what any list of test files has. Stops above it. */
function countContainers(body: Buffer): number {
  let count = 0;
  for (const bracket of ['{', '[']) {
    const code = bracket.charCodeAt(0);
    // The native search is four times as fast as a loop over the bytes.
    for (let i = body.indexOf(code); i >= 0 && count <= limits.jsonContainersPerBody; i = body.indexOf(code, i + 1)) count += 1;
  }
  return count;
}

/** Parses a query string. If a parameter is repeated, the first one counts. */
export function decodeQuery(query: string): RawParameters {
  // Of entries with the same key the last one counts. To look up each name would take time by the square of their number.
  return Object.fromEntries([...new URLSearchParams(query)].reverse());
}

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

/** The JSON of an object around its last property, whose value is encoded already. */
export function aroundLast(name: string, others: object): [before: string, after: string] {
  return [`${JSON.stringify(others).slice(0, -1)},"${name}":`, '}'];
}
