import { isUtf8 } from 'node:buffer';
import { faults } from '../fault.js';
import { limits } from '../limits.js';
import type { Sent } from './coerce.js';

/** The parameters of a POST body. Throws a 400 when it is not a JSON object in UTF-8, a 413 when it is too intricate. */
export function decodeBody(body: Uint8Array): Sent {
  if (body.length === 0) throw faults.notJson('it is empty');
  if (!isUtf8(body)) throw faults.notJson('it is not UTF-8');
  // Megabytes of `{},{},` take JSON.parse seconds and gigabytes.
  if (body.length > limits.countedBodyBytes && hasTooManyContainers(body)) {
    throw faults.bodyTooIntricate(limits.jsonContainersPerBody);
  }
  const text = Buffer.from(body.buffer, body.byteOffset, body.byteLength).toString('utf8');
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw faults.notJson('it cannot be parsed');
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    throw faults.notJson('it must be an object with the parameters');
  }
  const sent = value as Record<string, unknown>;
  for (const name of ['ci_build_id', 'node_build_id']) {
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
function hasTooManyContainers(body: Uint8Array): boolean {
  let count = 0;
  // "[" and "{" differ in one bit.
  for (let i = 0; i < body.length; i++) if ((body[i]! & 0xdf) === 0x5b) count += 1;
  return count > limits.jsonContainersPerBody;
}

/** The parameters of a query string; of a repeated one the first counts. */
export function decodeQuery(query: string): Sent {
  const sent = new URLSearchParams(query);
  return Object.fromEntries([...sent.keys()].map(name => [name, sent.get(name)]));
}

/** The token that older JavaScript clients send in the body. */
export function bodyToken(sent: Sent): string | null {
  const token = Object.hasOwn(sent, 'test_suite_token') ? sent['test_suite_token'] : null;
  return typeof token === 'string' && token !== '' ? token : null;
}
