import { isUtf8 } from 'node:buffer';
import { apiErrors } from '../../api-error.js';
import { limits } from '../../limits.js';
import type { RawParameters } from './coerce.js';

/** The parameters of a POST body. Throws a 400 when it is not a JSON object in UTF-8, a 413 when it is too intricate. */
export function decodeBody({ buffer, byteOffset, byteLength }: Uint8Array): RawParameters {
  const body = Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
  if (body.length === 0) throw apiErrors.notJson('it is empty');
  if (!isUtf8(body)) throw apiErrors.notJson('it is not UTF-8');
  // Megabytes of `{},{},` take JSON.parse seconds and gigabytes.
  if (body.length > limits.countedBodyBytes && hasTooManyContainers(body)) {
    throw apiErrors.bodyTooComplex(limits.jsonContainersPerBody);
  }
  const text = body.toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw apiErrors.notJson('it cannot be parsed');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw apiErrors.notJson('it must be an object with the parameters');
  }
  const sent = value as Record<string, unknown>;
  for (const name of ['ci_build_id', 'node_build_id', 'test_queue_id']) {
    // JSON.parse rounds integers beyond 2^53, and the ids of two builds could become the same.
    if (Number.isInteger(sent[name]) && !Number.isSafeInteger(sent[name])) sent[name] = digitsOf(name, text) ?? sent[name];
  }
  return sent;
}

/** The digits of an integer parameter as they were sent. */
function digitsOf(name: string, text: string): string | undefined {
  return [...text.matchAll(new RegExp(`"${name}"\\s*:\\s*(-?\\d+)\\s*[,}]`, 'g'))].at(-1)?.[1];
}

/** Counts opening brackets, those in strings too: the bound is far above what any list of test files has. */
function hasTooManyContainers(body: Buffer): boolean {
  let count = 0;
  for (const bracket of ['{', '[']) {
    const code = bracket.charCodeAt(0);
    // A native search, from one to the next: a look at each byte takes four times as long.
    for (let at = body.indexOf(code); at >= 0; at = body.indexOf(code, at + 1)) {
      if (++count > limits.jsonContainersPerBody) return true;
    }
  }
  return false;
}

/** The parameters of a query string; of a repeated one the first counts. */
export function decodeQuery(query: string): RawParameters {
  const sent = new URLSearchParams(query);
  return Object.fromEntries([...sent.keys()].map(name => [name, sent.get(name)]));
}

/** The token that older JavaScript clients send in the body. */
export function tokenInBody(sent: RawParameters): string | null {
  const token = Object.hasOwn(sent, 'test_suite_token') ? sent.test_suite_token : null;
  return typeof token === 'string' && token !== '' ? token : null;
}

/** How far from either end of a body clients write the token. */
const TOKEN_BYTES = 4096;

/** Guesses the token of a large body, given in pieces, from its beginning and end, without parsing it. */
export function guessToken(body: readonly Uint8Array[]): string | null {
  const texts = [body[0]!.subarray(0, TOKEN_BYTES), body.at(-1)!.subarray(-TOKEN_BYTES)].map(part => Buffer.from(part).toString('latin1'));
  for (const text of texts) {
    const token = /"test_suite_token"\s*:\s*"([^"\\]+)"/.exec(text)?.[1];
    if (token !== undefined) return token;
  }
  return null;
}
