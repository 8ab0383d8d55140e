import { isUtf8 } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { findListEnd, findListStart, type ListName, parseRest, restOfBody } from '../api/messages/body-list.js';
import type { RawParameters } from '../api/messages/coerce.js';
import { countContainers, decodeBody, parseArray } from '../api/messages/decode.js';
import { asBuffer, shareBytes } from '../bytes.js';
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
  const listName = LIST_NAMES[job];
  if (!list && listName) return decodeListed(shareBytes(...body), listName);
  const bytes = body.length === 1 ? asBuffer(body[0]!) : Buffer.concat(body);
  if (!list) return { sent: decodeBody(bytes), listToKnow: () => null };
  const { name, placeholder, columns } = list;
  return { sent: withList(parseRest(bytes, name, placeholder)!, name, new PathList(columns)), listToKnow: () => null };
}

/** Returns the parameters of a body with a known list. */
export function withList(sent: RawParameters, name: ListName, list: PathList): RawParameters {
  return { ...sent, [name]: standInFor(list, name === 'test_files') };
}

/** @param body in memory that threads share: its list may be kept there */
function decodeListed(body: Buffer, name: ListName): DecodedBody {
  const cut = cutList(body, name);
  const listed = cut && parseListed(cut);
  if (!listed) return { sent: decodeBody(body), listToKnow: () => null };
  const { text, rest } = cut;
  const { entries, containers } = listed;
  const listToKnow = () => {
    const list = listMadeFor(entries);
    if (!list || (list.length < limits.pooledTestFiles && body.length < limits.pooledBodyBytes)) return null;
    return { name, text, containers, columns: list.columns };
  };
  return { sent: { ...rest, [name]: entries }, listToKnow };
}

/** A body whose list is parsed by itself. */
interface CutBody {
  /** The list, which may be invalid. */
  text: Buffer;
  /** The body with a placeholder in place of the list, and its parameters. */
  restBytes: Buffer;
  rest: RawParameters;
}

/** Null: the body must be decoded as a whole. */
function cutList(body: Buffer, name: ListName): CutBody | null {
  const start = findListStart(body, name);
  const end = start < 0 ? -1 : findListEnd(body, name, start);
  if (end < 0 || !isUtf8(body)) return null;
  const placeholder = randomUUID();
  const restBytes = restOfBody([body], start, end, placeholder);
  const rest = parseRest(restBytes, name, placeholder);
  return rest && { text: body.subarray(start, end), restBytes, rest };
}

/** Parses the list; null: it is invalid, or the body has too many objects and arrays. */
function parseListed({ text, restBytes }: CutBody): { entries: unknown[]; containers: number } | null {
  // A text has no more containers than bytes.
  const isSmall = text.length <= limits.countedBodyBytes / 2;
  const containers = isSmall ? text.length : countContainers(text, limits.jsonContainersPerBody);
  const entries = isWithin(containers, restBytes) ? parseArray(text) : null;
  return entries && { entries, containers };
}

/** Whether a body has no more objects and arrays than it may have. */
function isWithin(containersOfList: number, rest: Buffer): boolean {
  return containersOfList + countContainers(rest, limits.jsonContainersPerBody) <= limits.jsonContainersPerBody;
}
