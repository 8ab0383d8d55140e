import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { findListStart, type ListName, parseRest, restOfBody } from '../api/messages/body-list.js';
import type { RawParameters } from '../api/messages/coerce.js';
import { countContainers } from '../api/messages/decode.js';
import { limits } from '../limits.js';
import { memoryBounds } from '../memory-bounds.js';
import type { PathColumns } from '../planning/paths/path-list.js';

/** A valid list of test files that a client of a project has sent, in memory that threads share. */
export interface KnownList {
  name: ListName;
  /** The JSON array as it was sent, a part of its body. */
  text: Uint8Array;
  /** At least as many as it has objects and arrays. */
  containers: number;
  columns: PathColumns;
}

/** A body whose list is known. */
export interface KnownBody {
  list: KnownList;
  /** The body with the placeholder in place of its list. */
  rest: Uint8Array;
  placeholder: string;
  /** The parameters of the rest. */
  sent: RawParameters;
}

/** No client can know it. */
const PLACEHOLDER = randomUUID();

/**
 * The lists of large suites that were sent last. The list of a build is nearly always that of the build before, and its nodes send the
 * same one at once, so most lists are compared instead of parsed. Comparing them takes a twentieth of the time of a digest.
 */
export class KnownLists {
  readonly #lists = new LRUCache<number, { project: number; list: KnownList }>({
    maxSize: memoryBounds.knownLists,
    sizeCalculation: ({ list }) => bytesOf(list),
  });
  #added = 0;
  /** Bodies that were looked for, and may be again when it is their turn. Null: the list was known; else how many lists had been added. */
  readonly #asked = new WeakMap<readonly Uint8Array[], number | null>();
  #hits = 0;

  /** Returns the body if a client of the project has sent its list before. */
  find(project: number, body: readonly Uint8Array[], name: ListName): KnownBody | null {
    const asked = this.#asked.get(body);
    if (asked === this.#added) return null;
    const found = this.#find(project, body, name);
    if (found && asked !== null) this.#hits += 1;
    this.#asked.set(body, found ? null : this.#added);
    return found;
  }

  #find(project: number, body: readonly Uint8Array[], name: ListName): KnownBody | null {
    const start = findListStart(body[0]!, name);
    const length = body.reduce((sum, piece) => sum + piece.length, 0);
    if (start < 0) return null;
    for (const [key, { project: owner, list }] of this.#lists.entries()) {
      if (owner !== project || list.name !== name || !isAt(body, start, list.text)) continue;
      // The body besides is small, or this thread does not parse it.
      if (length - list.text.length >= limits.pooledBodyBytes) return null;
      const rest = restOfBody(body, start, start + list.text.length, PLACEHOLDER);
      if (length > limits.countedBodyBytes && list.containers + countContainers(rest, Infinity) > limits.jsonContainersPerBody) return null;
      const sent = parseRest(rest, name, PLACEHOLDER);
      if (!sent) return null;
      this.#lists.get(key);
      return { list, rest, placeholder: PLACEHOLDER, sent };
    }
    return null;
  }

  add(project: number, list: KnownList): void {
    // Several nodes may have sent it at once.
    const isKnown = ({ project: owner, list: other }: { project: number; list: KnownList }) =>
      owner === project && other.name === list.name && Buffer.compare(other.text, list.text) === 0;
    if (![...this.#lists.values()].some(isKnown)) this.#lists.set(++this.#added, { project, list });
  }

  /** The number of lists, their bytes, and how many bodies had one that was known. */
  get load(): { lists: number; bytes: number; hits: number } {
    return { lists: this.#lists.size, bytes: this.#lists.calculatedSize, hits: this.#hits };
  }
}

function bytesOf({ text, columns: { heads, ends, numbers } }: KnownList): number {
  return text.buffer.byteLength + heads.length + ends.byteLength + numbers.byteLength;
}

/** Whether a body has a text at some place. */
function isAt(body: readonly Uint8Array[], start: number, text: Uint8Array): boolean {
  let offset = 0;
  for (const piece of body) {
    const from = Math.max(0, start - offset);
    const to = Math.min(piece.length, start + text.length - offset);
    const place = offset + from - start;
    if (from < to && Buffer.compare(piece.subarray(from, to), text.subarray(place, place + to - from)) !== 0) return false;
    offset += piece.length;
  }
  return start + text.length <= offset;
}
