import { LRUCache } from 'lru-cache';
import { pieceOf } from '../../../protocol/piece-path.js';
import { memoryBounds } from '../../engine/memory-bounds.js';
import type { RecordedPiece } from '../../engine/ports/builds.js';
import type { Millis } from '../../engine/ports/store.js';
import { LAST_USE_UPDATE_MILLISECONDS } from '../../engine/retention.js';
import { pathKey, rangeOfPieces } from '../codecs/path-keys.js';
import { sharedTurn } from '../shared-turn.js';
import type { Database } from './connection/database.js';
import { lookUp } from './connection/look-up.js';

/** Paths that one statement numbers or learns: whoever changes the same paths, or creates a build of the project, waits meanwhile. */
export const PATHS_PER_CHANGE = 1000;

/** Approximate bytes of an entry, and of each character of its string. */
const ENTRY_BYTES = 200;
const CHARACTER_BYTES = 2;

interface Interned {
  number: number;
  /** When a process last noted that the path is in use. */
  at: Millis;
}

interface PathRow {
  key: Buffer;
  number: number;
  seen_at: Millis;
}

/** Paths that are made when a part of them is needed, or an array of them. */
export interface PathList {
  length: number;
  slice(from: number, to: number): readonly string[];
}

/** The numbers and names of paths. A path keeps its number until it expires, and no other path gets that number. */
export class Paths {
  readonly #numbers = new LRUCache<string, Interned>({
    maxSize: memoryBounds.pathNumbers,
    sizeCalculation: (_, key) => ENTRY_BYTES + CHARACTER_BYTES * key.length,
  });
  readonly #names = new LRUCache<number, string>({
    maxSize: memoryBounds.pathNames,
    sizeCalculation: name => ENTRY_BYTES + CHARACTER_BYTES * name.length,
  });

  constructor(readonly database: Database) {}

  /**
   * The numbers of paths that are being recorded. They are used once an hour at least, so none of them expires meanwhile.
   *
   * @param goesOn asked before each part of them; it throws when nobody waits for the rest
   */
  async intern(project: number, paths: PathList, at: Millis, goesOn: () => void = () => {}): Promise<Uint32Array> {
    const numbers = new Uint32Array(paths.length);
    let next = 0;
    const intern = async () => {
      while (next < paths.length) {
        goesOn();
        const from = next;
        next += PATHS_PER_CHANGE;
        // The keys of so many paths take some milliseconds.
        if (from > 0) await sharedTurn();
        numbers.set(await this.#internSome(project, paths.slice(from, from + PATHS_PER_CHANGE), at), from);
      }
    };
    // The database has work while the other part is prepared here, and flushes both together.
    await Promise.all([intern(), intern()]).finally(() => (next = paths.length));
    return numbers;
  }

  async #internSome(project: number, paths: readonly string[], at: Millis): Promise<number[]> {
    const keys = paths.map(path => pathKey(project, path));
    const numbers = new Map<string, number>();
    const due = new Map<string, string>();
    for (const [i, key] of keys.entries()) {
      const known = this.#numbers.get(key);
      if (known && at - known.at < LAST_USE_UPDATE_MILLISECONDS) numbers.set(key, known.number);
      else due.set(key, paths[i]!);
    }
    const note = (rows: readonly PathRow[]) => {
      for (const { key: bytes, number, seen_at } of rows) {
        const key = bytes.toString();
        numbers.set(key, number);
        this.#numbers.set(key, { number, at: seen_at });
        due.delete(key);
      }
    };
    if (due.size > 0) note(await this.#use([...due.keys()], at));
    if (due.size > 0) note(await this.#insert(project, due, at));
    return keys.map(key => numbers.get(key)!);
  }

  /** Notes that paths are in use, unless a process did so within the hour before. Returns those that have a row. */
  async #use(keys: readonly string[], at: Millis): Promise<PathRow[]> {
    // Locked in the order in which they are learned, so that no two of these statements wait for each other.
    const { rows } = await this.database.change<PathRow>(
      `with known as materialized (
        ${lookUp('key, number, seen_at', 'paths', 'key', 'bytea')}
      ), l as materialized (
        select l.* from (select number from known where seen_at <= $3 order by key) k
        cross join lateral (select key, number, seen_at from paths where number = k.number limit 1 for update) l
      ), u as (
        update paths set seen_at = $2 from l where paths.number = l.number and l.seen_at <= $3
      )
      select key, number, seen_at from known where seen_at > $3
      union all select key, number, greatest(seen_at, $2) from l`,
      [keys.map(key => Buffer.from(key)), at, at - LAST_USE_UPDATE_MILLISECONDS],
    );
    return rows;
  }

  /** See Builds. */
  async piecesOf(project: number, file: string | null): Promise<RecordedPiece[]> {
    const { start, end } = rangeOfPieces(project, file);
    const rows = await this.database.read<{ number: number; name: string }>(
      'select number, name from paths where key >= $1::bytea and key < $2::bytea order by key',
      [Buffer.from(start), Buffer.from(end)],
    );
    return rows.flatMap(({ number: path, name }) => {
      const piece = pieceOf(JSON.parse(name) as string);
      return piece ? { ...piece, path } : [];
    });
  }

  /**
   * Inserts paths that had no row. An insert that finds a row uses up a number, too: so it names no others.
   *
   * @param paths by their keys
   */
  async #insert(project: number, paths: ReadonlyMap<string, string>, at: Millis): Promise<PathRow[]> {
    const { rows } = await this.database.change<PathRow>(
      `insert into paths (project, key, name, seen_at)
      select $1, key, name, $4 from unnest($2::bytea[], $3::text[]) as v (key, name) order by key
      on conflict (key) do update set seen_at = greatest(paths.seen_at, excluded.seen_at) returning key, number, seen_at`,
      [project, Array.from(paths.keys(), key => Buffer.from(key)), Array.from(paths.values(), path => JSON.stringify(path)), at],
    );
    return rows;
  }

  /** The number of a path; null: it was never recorded. */
  async numberOf(project: number, path: string): Promise<number | null> {
    const [row] = await this.database.read<{ number: number }>('select number from paths where key = $1', [
      Buffer.from(pathKey(project, path)),
    ]);
    return row?.number ?? null;
  }

  /** The names of paths, by their numbers. */
  async names(numbers: Uint32Array): Promise<string[]> {
    const missing = [...new Set(numbers)].filter(number => !this.#names.has(number));
    const read = new Map<number, string>();
    await this.database.readBy<{ number: number; name: string }>(
      lookUp('number, name', 'paths', 'number', 'int4'),
      missing,
      ({ number, name }) => read.set(number, JSON.parse(name) as string),
    );
    for (const [number, name] of read) this.#names.set(number, name);
    return Array.from(numbers, number => read.get(number) ?? this.#names.get(number) ?? `(path ${number}, whose name is lost)`);
  }
}
