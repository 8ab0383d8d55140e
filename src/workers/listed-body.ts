import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { findListEnd, findListStart, type ListName, parseRest, restOfBody } from '../api/messages/body-list.js';
import type { RawParameters } from '../api/messages/coerce.js';
import { countContainers, decodeBody } from '../api/messages/decode.js';
import { listMadeFor, standInFor } from '../engine/listed-paths.js';
import { limits } from '../limits.js';
import { PathList } from '../planning/paths/path-list.js';
import type { Posts } from './jobs.js';
import type { KnownList } from './known-lists.js';
import type { PostTask } from './task.js';

/** The parameter of each message that lists all test files; null: its list is another one each time. */
const LIST_NAMES: Readonly<Record<keyof Posts, ListName | null>> = {
  prepareSubset: null,
  prepareSplit: 'test_files',
  prepareQueue: 'test_files',
  preparePlan: 'test_files',
  prepareTestQueue: 'paths',
};

export function listNameOf(job: keyof Posts): ListName | null {
  return LIST_NAMES[job];
}

export interface DecodedBody {
  sent: RawParameters;
  /** Returns the list of the body once it was validated, so that it can be known; null: it cannot be. */
  listToKnow(): KnownList | null;
}

/** Decodes the body of a task. Throws what `decodeBody` throws. */
export function decodeTask({ job, body, list }: PostTask): DecodedBody {
  const bytes = body.length === 1 ? asBuffer(body[0]!) : Buffer.concat(body);
  if (!list) return decodeListed(bytes, LIST_NAMES[job]);
  const { name, placeholder, columns } = list;
  return { sent: withList(parseRest(bytes, name, placeholder)!, name, new PathList(columns)), listToKnow: () => null };
}

/** Returns the parameters of a body with a known list. */
export function withList(sent: RawParameters, name: ListName, list: PathList): RawParameters {
  return { ...sent, [name]: standInFor(list, name === 'test_files') };
}

function decodeListed(body: Buffer, name: ListName | null): DecodedBody {
  const cut = name && cutList(body, name);
  if (!cut || !name) return { sent: decodeBody(body), listToKnow: () => null };
  const { text, containers, listed, rest } = cut;
  const listToKnow = () => {
    const list = listMadeFor(listed);
    const isLarge = list && (list.length >= limits.pooledTestFiles || body.length >= limits.pooledBodyBytes);
    return isLarge ? { name, text: shareBytes(text), containers, columns: list.columns, times: null } : null;
  };
  return { sent: { ...rest, [name]: listed }, listToKnow };
}

/** Parses the list of a body and the rest by themselves; null: the body must be decoded as a whole. */
function cutList(body: Buffer, name: ListName) {
  const start = findListStart(body, name);
  const end = start < 0 ? -1 : findListEnd(body, name, start);
  if (end < 0 || !isUtf8(body)) return null;
  const text = body.subarray(start, end);
  const placeholder = randomUUID();
  const bytes = restOfBody([body], start, end, placeholder);
  const most = limits.jsonContainersPerBody;
  // A text has no more containers than bytes.
  const containers = text.length <= limits.countedBodyBytes / 2 ? text.length : countContainers(text, most);
  if (containers + countContainers(bytes, most) > most) return null;
  const rest = parseRest(bytes, name, placeholder);
  const listed = rest && parseArray(text);
  return rest && listed && { text, containers, listed, rest };
}

function parseArray(text: Buffer): unknown[] | null {
  try {
    return JSON.parse(text.toString()) as unknown[];
  } catch {
    return null;
  }
}

/** Copies bytes to memory that threads share. */
export function shareBytes(bytes: Uint8Array): Uint8Array {
  const copy = new Uint8Array(new SharedArrayBuffer(bytes.length));
  copy.set(bytes);
  return copy;
}

function asBuffer({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer as ArrayBuffer, byteOffset, byteLength);
}
