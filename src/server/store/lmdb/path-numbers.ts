import { LRUCache } from 'lru-cache';
import { memoryBounds } from '../../engine/memory-bounds.js';
import { pathKey } from '../codecs/path-keys.js';
import type { Tables } from './tables.js';

/** Approximate bytes of an entry of the map, and of each character of its string. */
const BYTES_PER_PATH = 64;
const BYTES_PER_CHARACTER = 2;

/**
 * The numbers of paths. They are cached, because every build of a project has the same paths. A path keeps its number until the
 * path expires, and no other path gets that number.
 */
export class PathNumbers {
  /** By project, and by path in parts: a map that grows is copied, which takes 30 ms for half a million paths. */
  #cached = new Map<number, (Map<string, number> | undefined)[]>();
  #bytes = 0;
  #next: number | null = null;

  constructor(readonly store: Pick<Tables, 'paths' | 'pathNames' | 'timings'>) {}

  get(project: number, path: string): number | undefined {
    return this.#cached.get(project)?.[partOf(path)]?.get(path) ?? this.read(project, path);
  }

  /** Reads the number from the store, because the cache may be out of date when another thread or process deletes paths. */
  read(project: number, path: string): number | undefined {
    const number = this.store.paths.get(pathKey(project, path));
    if (number !== undefined) this.#keep(project, path, number);
    return number;
  }

  /** Returns a number for a new path. Only this thread knows it until it is written. */
  make(project: number, path: string): number {
    if (this.#next === null) {
      const [named = 0] = this.store.pathNames.getKeys({ reverse: true, limit: 1 });
      const [timed = 0] = this.store.timings.getKeys({ reverse: true, limit: 1 });
      this.#next = Math.max(named, timed) + 1;
    }
    this.#keep(project, path, this.#next);
    return this.#next++;
  }

  /** The approximate memory of the cached paths. */
  get bytes(): number {
    return this.#bytes;
  }

  forget(project: number, path: string): void {
    if (this.#cached.get(project)?.[partOf(path)]?.delete(path)) this.#bytes -= bytesOf(path);
  }

  #keep(project: number, path: string, number: number): void {
    const bytes = bytesOf(path);
    if (this.#bytes + bytes > memoryBounds.pathNumbers) {
      this.#cached = new Map();
      this.#bytes = 0;
    }
    let parts = this.#cached.get(project);
    if (!parts) this.#cached.set(project, (parts = []));
    const paths = (parts[partOf(path)] ??= new Map());
    if (!paths.has(path)) this.#bytes += bytes;
    paths.set(path, number);
  }
}

/** A power of two. */
const PARTS = 64;

/** Mixes a few characters from all over a path. */
function partOf(path: string): number {
  let mixed = path.length;
  const step = Math.max(1, path.length >> 3);
  for (let i = path.length - 1; i >= 0; i -= step) mixed = (mixed * 31 + path.charCodeAt(i)) | 0;
  return (mixed ^ (mixed >>> 16)) & (PARTS - 1);
}

function bytesOf(path: string): number {
  return BYTES_PER_PATH + BYTES_PER_CHARACTER * path.length;
}

/** Returns the name of a path by its number. */
export type NameOfPath = (path: number) => string;

/** Approximate size of an entry without its characters, which take at most two bytes each. */
const BYTES_PER_NAME = 200;

/** Reads names through a cache, because the runs of a project have the same paths. A name never changes: no number is used twice. */
export function pathNameCache({ pathNames }: Pick<Tables, 'pathNames'>): NameOfPath {
  const names = new LRUCache<number, string>({
    maxSize: memoryBounds.pathNames,
    sizeCalculation: name => BYTES_PER_NAME + 2 * name.length,
  });
  return path => {
    let name = names.get(path);
    if (name !== undefined) return name;
    const json = pathNames.get(path);
    if (json === undefined) return `(path ${path}, whose name is lost)`;
    names.set(path, (name = JSON.parse(json) as string));
    return name;
  };
}
