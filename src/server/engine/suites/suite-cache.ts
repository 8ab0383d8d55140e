import { LRUCache } from 'lru-cache';
import { memoryBounds } from '../memory-bounds.js';
import { findListStart, type ListName, restOfBody } from './list-in-body.js';
import type { SuiteColumns } from './suite.js';

/** A suite that a client of a project has sent, in memory that threads share. */
export interface CachedSuite {
  name: ListName;
  /** The JSON array as it was sent, a part of its body. */
  text: Uint8Array;
  /** The number of objects and arrays in the text, or more. */
  containers: number;
  columns: SuiteColumns;
}

/**
 * The large suites that were sent last. A build nearly always has the list of test files of the build before, and all
 * of its nodes send that list at once. So most lists are compared instead of parsed. A comparison takes a twentieth of the time of a digest.
 */
export class SuiteCache {
  readonly #suites = new LRUCache<number, { project: number; suite: CachedSuite }>({
    maxSize: memoryBounds.suites,
    sizeCalculation: ({ suite: { text, columns } }) =>
      text.buffer.byteLength + columns.heads.length + columns.ends.byteLength + columns.numbers.byteLength,
  });
  #added = 0;
  /** Bodies whose list was found. A body is looked up again when its job begins, and counts as one hit. */
  readonly #found = new WeakSet<readonly Uint8Array[]>();
  #hits = 0;

  /** Returns the suite whose list a body of the project has, and the body with the placeholder in place of it; null: none is cached. */
  find(project: number, body: readonly Uint8Array[], name: ListName): { suite: CachedSuite; rest: Buffer } | null {
    const start = findListStart(body[0]!, name);
    if (start < 0) return null;
    for (const [key, { project: owner, suite }] of this.#suites.entries()) {
      if (owner !== project || suite.name !== name || !isAt(body, start, suite.text)) continue;
      this.#suites.get(key);
      if (!this.#found.has(body)) this.#hits += 1;
      this.#found.add(body);
      return { suite, rest: restOfBody(body, start, start + suite.text.length) };
    }
    return null;
  }

  add(project: number, suite: CachedSuite): void {
    // Several nodes may have sent the same list at once.
    const isCached = ({ project: owner, suite: other }: { project: number; suite: CachedSuite }) =>
      owner === project && other.name === suite.name && Buffer.compare(other.text, suite.text) === 0;
    if (![...this.#suites.values()].some(isCached)) this.#suites.set(++this.#added, { project, suite });
  }

  /** The number of cached suites, their bytes, and how many bodies had the list of a cached suite. */
  get load(): { suites: number; bytes: number; hits: number } {
    return { suites: this.#suites.size, bytes: this.#suites.calculatedSize, hits: this.#hits };
  }
}

/** Tells whether a body has a text at some place. */
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
