import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Millis } from '../../../engine/ports/store.js';
import { limits } from '../../../limits.js';
import { measureOn } from '../../../planning/estimating/branch-timings.js';
import type { Measurement } from '../../../planning/estimating/timing.js';
import { pathKey } from '../codecs/path-keys.js';
import { decodeTimings, encodeTimings, type PathTimings } from '../codecs/timing-codec.js';
import type { PathNumbers } from '../path-numbers.js';
import type { Tables } from '../tables.js';
import { CoalescedTask } from './coalesced-task.js';
import { type Committing, written } from './commit.js';
import { putInChunks } from './put-in-chunks.js';

/**
 * Timings that were changed a moment ago, before they are written: the builds of a fleet measure the same paths again
 * and again, and each time once is enough. A recorded run whose times are here only is listed in `pendingRuns`, so that
 * nothing is lost with the process. Of the thread that serves; others see what `save` has written.
 */
export class TimingWriteBuffer {
  /** By path; those that are being written lie below. */
  #changed = new Map<number, PathTimings>();
  #saving: ReadonlyMap<number, PathTimings> = new Map();
  /** Entries of `pendingRuns` whose times are in #changed. */
  #applied: number[] = [];
  /** Paths whose numbers are not on disk: by number, and the number by key. */
  readonly #unnamed = new Map<number, { key: string; path: string }>();
  readonly #made = new Map<string, number>();
  /** Characters of the paths and keys in #unnamed. */
  #unnamedCharacters = 0;
  readonly #naming = new CoalescedTask(() => this.#name());
  readonly #saves = new CoalescedTask(() => this.#save());
  #nextEntry: number | null = null;

  constructor(
    readonly store: Pick<Tables, 'paths' | 'timings' | 'pathNames' | 'pendingRuns'> &
      Pick<Committing, 'diskSpace'> & { pathNumbers: PathNumbers },
  ) {}

  get(path: number): PathTimings | undefined {
    return this.#changed.get(path) ?? this.#saving.get(path);
  }

  /** The number of a path that is recorded now. Of a new path it counts once `name` has resolved. */
  intern(project: number, path: string, now: Millis): number {
    const number = this.store.pathNumbers.get(project, path) ?? this.#made.get(pathKey(project, path));
    if (number === undefined) return this.#make(project, path, now);
    const known = this.#toChange(number);
    // Named again where the expiry sweep may be about to forget it: behind that.
    if (!known || now - known.seen_at >= limits.lastUseUpdateMilliseconds) this.#toName(number, pathKey(project, path), path);
    if (!known) this.#change(number, { project, seen_at: now, timings: [] });
    else known.seen_at = Math.max(now, known.seen_at);
    return number;
  }

  #make(project: number, path: string, now: Millis): number {
    const number = this.store.pathNumbers.make(project, path);
    const key = pathKey(project, path);
    this.#toName(number, key, path);
    this.#made.set(key, number);
    this.#change(number, { project, seen_at: now, timings: [] });
    return number;
  }

  #toName(number: number, key: string, path: string): void {
    if (!this.#unnamed.has(number)) this.#unnamedCharacters += key.length + path.length;
    this.#unnamed.set(number, { key, path });
  }

  /** Resolves when all paths that were seen before have their numbers on disk; null: they have. */
  saveNames(): Promise<void> | null {
    return this.#unnamed.size === 0 ? null : this.#naming.run();
  }

  async #name(): Promise<void> {
    const some = [...this.#unnamed];
    await putInChunks(some, ([number, { key, path }]) => {
      this.store.diskSpace.assert();
      void this.store.paths.put(key, number);
      void this.store.timings.put(number, encodeTimings(this.get(number)!));
      return this.store.pathNames.put(number, JSON.stringify(path));
    });
    for (const [number, { key, path }] of some) {
      if (this.#unnamed.delete(number)) this.#unnamedCharacters -= key.length + path.length;
      this.#made.delete(key);
    }
  }

  /** A path that was seen was measured on the branch. */
  measure(path: number, branch: number, defaultBranch: number | null, measurement: Measurement): void {
    const known = this.#toChange(path);
    if (known) known.timings = measureOn(known.timings, branch, defaultBranch, measurement) ?? known.timings;
  }

  /** For one more entry of `pendingRuns`. */
  nextEntry(): number {
    if (this.#nextEntry === null) {
      const [last = 0] = this.store.pendingRuns.getKeys({ reverse: true, limit: 1 });
      this.#nextEntry = last + 1;
    }
    return this.#nextEntry++;
  }

  /** All times of an entry of `pendingRuns` were measured. */
  markApplied(entry: number): void {
    this.#applied.push(entry);
    this.#saves.runWithin(limits.timingFlushMilliseconds);
  }

  /** Between the times of a large run: others have their turn, and then there is room for more. Throws as `makeRoom`. */
  async nextTurn(): Promise<void> {
    await nextTurn();
    await this.makeRoom();
  }

  /** Resolves when there is room for more. Throws a 503 when the disk takes none. */
  async makeRoom(): Promise<void> {
    if (this.#changed.size < limits.bufferedTimings && this.#unnamedCharacters < limits.unsavedPathCharacters) return;
    const named = this.saveNames();
    if (named) await written(named);
    await written(this.save());
  }

  /** Resolves when all that was changed before is written. */
  save(): Promise<void> {
    return this.#changed.size === 0 && this.#applied.length === 0 ? this.#saves.last : this.#saves.run();
  }

  /** Writes what was changed; what is changed behind that is applied at the next start. */
  async close(): Promise<void> {
    this.#saves.stop();
    await this.save();
  }

  async #save(): Promise<void> {
    const applied = this.#applied;
    const saving = new Map<number, PathTimings>();
    const unnamed = new Map<number, PathTimings>();
    // What has no name yet waits for it: nobody could tell what it is of.
    for (const [path, timings] of this.#changed) (this.#unnamed.has(path) ? unnamed : saving).set(path, timings);
    this.#saving = saving;
    this.#changed = unnamed;
    this.#applied = [];
    try {
      this.store.diskSpace.assert();
      await putInChunks(saving, ([path, timings]) => this.store.timings.put(path, encodeTimings(timings)));
      await putInChunks(applied, entry => this.store.pendingRuns.remove(entry));
    } catch (error) {
      // Later, with what was changed meanwhile.
      this.#changed = new Map([...saving, ...this.#changed]);
      this.#applied = [...applied, ...this.#applied];
      this.#saves.runWithin(limits.timingFlushMilliseconds);
      throw error;
    } finally {
      this.#saving = new Map();
    }
  }

  /** What is known of a path, to be changed and then saved. */
  #toChange(path: number): PathTimings | undefined {
    const changed = this.#changed.get(path);
    if (changed) return changed;
    const saving = this.#saving.get(path);
    const bytes = saving ? undefined : this.store.timings.getBinaryFast(path);
    // What is being written is not changed any more.
    const known = saving ? copyOf(saving) : bytes && decodeTimings(bytes);
    if (known) this.#change(path, known);
    return known;
  }

  #change(path: number, timings: PathTimings): void {
    this.#changed.set(path, timings);
    this.#saves.runWithin(limits.timingFlushMilliseconds);
  }
}

function copyOf({ project, seen_at, timings }: PathTimings): PathTimings {
  return { project, seen_at, timings };
}
