import { limits } from '../limits.js';
import type { BranchTimings } from '../plan/times/branch-timings.js';
import type { Millis } from './records.js';
import { decodeTimings, encodeTimings, type PathTimings } from './timing-codec.js';
import type { Store } from './open.js';

/**
 * Timings that were changed a moment ago, before they are written: the builds of a fleet measure the same paths again
 * and again, and each time once is enough. A recorded run whose times are here only is listed in `unlearnt`, so that
 * nothing is lost with the process. Of the thread that serves; others see what `save` has written.
 */
export class RecentTimings {
  /** By key; those that are being written lie below. */
  #changed = new Map<string, PathTimings>();
  #saving: ReadonlyMap<string, PathTimings> = new Map();
  /** Entries of `unlearnt` whose times are in #changed. */
  #learnt: number[] = [];
  /** Paths by key whose numbers are not on disk. */
  readonly #unnamed = new Map<string, string>();
  #naming: Promise<void> | null = null;
  #saved: Promise<void> = Promise.resolve();
  #next: Promise<void> | null = null;
  #timer: NodeJS.Timeout | null = null;
  #nextPath: number | null = null;
  #nextEntry: number | null = null;

  constructor(readonly store: Pick<Store, 'root' | 'timings' | 'pathNames' | 'unlearnt'>) {}

  get(key: string): PathTimings | undefined {
    return this.#changed.get(key) ?? this.#saving.get(key);
  }

  /** The number of a path that is recorded now. Of a new path it counts once `name` has resolved. */
  see(key: string, path: string, now: Millis): number {
    const known = this.get(key) ?? this.#read(key);
    if (known && now - known.seen_at < limits.renewMilliseconds) return known.path;
    const seen = { path: known?.path ?? this.#makePath(), seen_at: now, timings: known?.timings ?? [] };
    this.#change(key, seen);
    // A known one again, behind whatever the expiry sweep is about to delete.
    this.#unnamed.set(key, path);
    return seen.path;
  }

  /** Resolves when all paths that were seen before have their numbers on disk. */
  name(): Promise<void> | null {
    if (this.#unnamed.size > 0) this.#naming ??= this.#name().finally(() => (this.#naming = null));
    return this.#naming;
  }

  async #name(): Promise<void> {
    while (this.#unnamed.size > 0) {
      const some = [...this.#unnamed].slice(0, limits.timingsPerTurn);
      let written: Promise<unknown> | null = null;
      for (const [key, path] of some) {
        const seen = this.get(key)!;
        void this.store.timings.put(key, encodeTimings(seen));
        written = this.store.pathNames.put(seen.path, JSON.stringify(path));
      }
      await written;
      for (const [key] of some) this.#unnamed.delete(key);
    }
  }

  /** Changes the timings of a path that was seen; null leaves them as they are. */
  measure(key: string, change: (timings: BranchTimings) => BranchTimings | null): void {
    const known = this.get(key) ?? this.#read(key);
    const timings = known && change(known.timings);
    if (timings) this.#change(key, { ...known, timings });
  }

  /** For one more entry of `unlearnt`. */
  nextEntry(): number {
    if (this.#nextEntry === null) {
      const [last = 0] = this.store.unlearnt.getKeys({ reverse: true, limit: 1 });
      this.#nextEntry = last + 1;
    }
    return this.#nextEntry++;
  }

  /** All times of an entry of `unlearnt` were measured. */
  learnt(entry: number): void {
    this.#learnt.push(entry);
    this.#saveSoon();
  }

  /** So many that whoever brings more is to wait for `save` first. */
  get isFull(): boolean {
    return this.#changed.size >= limits.recentTimings;
  }

  /** Resolves when all that was changed before is written. */
  save(): Promise<void> {
    if (this.#changed.size === 0 && this.#learnt.length === 0) return this.#saved;
    return (this.#next ??= this.#saved.catch(() => {}).then(() => {
      this.#next = null;
      return (this.#saved = this.#save());
    }));
  }

  async #save(): Promise<void> {
    if (this.#timer) clearTimeout(this.#timer);
    this.#timer = null;
    const saving = this.#changed;
    const learnt = this.#learnt;
    this.#saving = saving;
    this.#changed = new Map();
    this.#learnt = [];
    try {
      let count = 0;
      let written: Promise<unknown> = Promise.resolve();
      for (const [key, timings] of saving) {
        written = this.store.timings.put(key, encodeTimings(timings));
        if (++count % limits.timingsPerTurn === 0) await Promise.all([written, nextTurn()]);
      }
      for (const entry of learnt) written = this.store.unlearnt.remove(entry);
      await written;
    } catch (error) {
      // Later, with what was changed meanwhile.
      this.#changed = new Map([...saving, ...this.#changed]);
      this.#learnt = [...learnt, ...this.#learnt];
      throw error;
    } finally {
      this.#saving = new Map();
    }
  }

  #saveSoon(): void {
    if (this.#timer) return;
    const save = () => void this.save().catch(() => this.#saveSoon());
    this.#timer = setTimeout(save, limits.recentMilliseconds).unref();
  }

  #read(key: string): PathTimings | undefined {
    const bytes = this.store.timings.getBinaryFast(key);
    return bytes && decodeTimings(bytes);
  }

  #change(key: string, timings: PathTimings): void {
    this.#changed.set(key, timings);
    this.#saveSoon();
  }

  #makePath(): number {
    if (this.#nextPath === null) {
      const [last = 0] = this.store.pathNames.getKeys({ reverse: true, limit: 1 });
      this.#nextPath = last + 1;
    }
    return this.#nextPath++;
  }
}

function nextTurn(): Promise<void> {
  return new Promise(resolve => setImmediate(resolve));
}
