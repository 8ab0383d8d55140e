import type { Millis } from '../../../engine/ports/store.js';
import { Refusal } from '../../../engine/refusal.js';
import { LAST_USE_UPDATE_MILLISECONDS } from '../../../engine/retention.js';
import { measureOn } from '../../../planning/estimating/branch-timings.js';
import type { Measurement } from '../../../planning/estimating/timing.js';
import { pathKey } from '../../codecs/path-keys.js';
import { decodeTimings, encodeTimings, type PathTimings } from '../../codecs/timing-codec.js';
import { sharedTurn } from '../../shared-turn.js';
import type { PathNumbers } from '../path-numbers.js';
import type { Tables } from '../tables.js';
import { CoalescedTask } from './coalesced-task.js';
import { type Committing, putInChunks, written } from './commit.js';

/** Changed timings are written after this time, or as soon as this many are buffered. */
const TIMING_FLUSH_MILLISECONDS = 250;
export const BUFFERED_TIMINGS = 20_000;
/** Characters of new paths, and of their keys, whose numbers are not on disk yet; beyond it recordings wait. */
export const UNSAVED_PATH_CHARACTERS = 8_388_608;

/** Paths whose numbers are to be written. */
class UnnamedPaths {
  readonly paths = new Map<number, { key: string; path: string }>();
  /** Their numbers by key. */
  readonly numbers = new Map<string, number>();
  /** Characters of the paths and keys. */
  characters = 0;

  add(number: number, key: string, path: string): void {
    if (!this.paths.has(number)) this.characters += key.length + path.length;
    this.paths.set(number, { key, path });
    this.numbers.set(key, number);
  }
}

/** Timings that are to be written. */
class ChangedTimings {
  readonly ofPaths = new Map<number, PathTimings>();
  readonly projects = new Set<number>();

  set(path: number, timings: PathTimings): void {
    this.ofPaths.set(path, timings);
    this.projects.add(timings.project);
  }
}

/**
 * Timings that have changed and are not yet on disk. Many builds measure the same paths within a second, and one write per path is
 * enough for all of them. `pendingRuns` lists each recorded run whose times are only here, so that a crash loses nothing. Only the
 * serving thread has a buffer; other threads see what `save` has written.
 */
export class TimingWriteBuffer {
  /** A path that is not here may be in #saving, which is being written. */
  #changed = new ChangedTimings();
  #saving = new ChangedTimings();
  /** Keys of `pendingRuns` whose times are in #changed. */
  #applied: number[] = [];
  /** Paths whose numbers are not on disk yet. A path that is not here may be in #naming, which is being written. */
  #unnamed = new UnnamedPaths();
  #naming = new UnnamedPaths();
  readonly #names = new CoalescedTask(() => this.#name());
  readonly #saves = new CoalescedTask(() => this.#save());
  #undivided: Promise<void> = Promise.resolve();
  #nextEntry: number | null = null;
  #isEnding = false;
  constructor(
    readonly store: Pick<Tables, 'meta' | 'paths' | 'timings' | 'pathNames' | 'pendingRuns'> &
      Pick<Committing, 'diskSpace'> & { pathNumbers: PathNumbers },
  ) {}

  get(path: number): PathTimings | undefined {
    return this.#changed.ofPaths.get(path) ?? this.#saving.ofPaths.get(path);
  }

  /** Returns the number of a path that is being recorded. The number of a new path is valid once `saveNames` has resolved. */
  intern(project: number, path: string, now: Millis): number {
    const number = this.store.pathNumbers.get(project, path) ?? this.#made(pathKey(project, path));
    if (number === undefined) return this.#make(project, path, now);
    const known = this.#toChange(number);
    // The sweep may be about to delete the path. A name saved after that stays.
    if (!known || now - known.seen_at >= LAST_USE_UPDATE_MILLISECONDS) this.#unnamed.add(number, pathKey(project, path), path);
    if (!known) this.#change(number, { project, seen_at: now, timings: [] });
    else known.seen_at = Math.max(now, known.seen_at);
    return number;
  }

  #make(project: number, path: string, now: Millis): number {
    const number = this.store.pathNumbers.make(project, path);
    this.#unnamed.add(number, pathKey(project, path), path);
    this.#change(number, { project, seen_at: now, timings: [] });
    return number;
  }

  #made(key: string): number | undefined {
    return this.#unnamed.numbers.get(key) ?? this.#naming.numbers.get(key);
  }

  /** Resolves when the numbers of all paths that were interned before are on disk; null: they are on disk now. */
  saveNames(): Promise<void> | null {
    if (this.#unnamed.paths.size > 0) return this.#names.run();
    return this.#naming.paths.size > 0 ? this.#names.last : null;
  }

  async #name(): Promise<void> {
    const naming = this.#unnamed;
    this.#naming = naming;
    this.#unnamed = new UnnamedPaths();
    try {
      await putInChunks(naming.paths, ([number, { key, path }]) => {
        this.#assertOpen();
        this.store.diskSpace.assert();
        void this.store.paths.put(key, number);
        void this.store.timings.put(number, encodeTimings(this.get(number)!));
        return this.store.pathNames.put(number, JSON.stringify(path));
      });
    } catch (error) {
      for (const [number, { key, path }] of naming.paths) this.#unnamed.add(number, key, path);
      throw error;
    } finally {
      this.#naming = new UnnamedPaths();
    }
  }

  /** Adds a measurement on a branch to the timings of an interned path. */
  measure(path: number, branch: number, defaultBranch: number | null, measurement: Measurement): void {
    const known = this.#toChange(path);
    if (known) known.timings = measureOn(known.timings, branch, defaultBranch, measurement) ?? known.timings;
  }

  /** Returns the number of a new run (RunToPut.entry). */
  nextEntry(): number {
    if (this.#nextEntry === null) {
      const [last = 0] = this.store.pendingRuns.getKeys({ reverse: true, limit: 1 });
      this.#nextEntry = Math.max(last, this.store.meta.get('recorded') ?? 0) + 1;
    }
    return this.#nextEntry++;
  }

  /** Makes changes, maybe in several turns of the event loop, which are saved together with their marks. They must not wait for a save. */
  undivided(change: () => Promise<void>): Promise<void> {
    return (this.#undivided = change());
  }

  /** Notes that the buffer has all times of the runs under a key of `pendingRuns`. */
  markApplied(entry: number): void {
    this.#applied.push(entry);
    this.#saves.runWithin(TIMING_FLUSH_MILLISECONDS);
  }

  /** Yields to other work in the middle of a large run, and then makes room. Throws as `makeRoom`. */
  async nextTurn(): Promise<void> {
    await sharedTurn();
    await this.makeRoom();
  }

  /** True if the buffer has room for more. */
  get hasRoom(): boolean {
    if (this.#isEnding) return false;
    const timings = this.#changed.ofPaths.size;
    return timings < BUFFERED_TIMINGS && this.#unnamed.characters + this.#naming.characters < UNSAVED_PATH_CHARACTERS;
  }

  /** Resolves when the buffer has room for more. Throws a 503 when it cannot be written, or takes no more. */
  async makeRoom(): Promise<void> {
    this.#assertOpen();
    if (this.hasRoom) return;
    const named = this.saveNames();
    if (named) await written(named);
    await written(this.save());
  }

  /** Reports whether timings of a project are not on disk. */
  hasChanged(project: number): boolean {
    return this.#changed.projects.has(project) || this.#saving.projects.has(project);
  }

  /** Resolves when all changes made before are on disk. */
  save(): Promise<void> {
    return this.#changed.ofPaths.size === 0 && this.#applied.length === 0 ? this.#saves.last : this.#saves.run();
  }

  /** Ends runs that are being recorded in several turns, or come later: their next turn throws a 503. */
  end(): void {
    this.#isEnding = true;
  }

  #assertOpen(): void {
    if (this.#isEnding) throw new Refusal('the server is stopping; try again', 'busy');
  }

  /** Writes all changes. The next start applies the times of runs that come later. */
  async close(): Promise<void> {
    this.#saves.stop();
    await this.save();
  }

  async #save(): Promise<void> {
    let change: Promise<void>;
    do {
      change = this.#undivided;
      await change;
    } while (change !== this.#undivided);
    const applied = this.#applied;
    const saving = this.#changed;
    this.#saving = saving;
    this.#changed = new ChangedTimings();
    this.#applied = [];
    try {
      this.store.diskSpace.assert();
      await putInChunks(saving.ofPaths, ([path, timings]) => this.#saveOne(path, timings));
      await putInChunks(applied, entry => this.store.pendingRuns.remove(entry));
    } catch (error) {
      // The save is retried later, with the changes made meanwhile.
      const since = this.#changed;
      this.#changed = saving;
      for (const [path, timings] of since.ofPaths) saving.set(path, timings);
      this.#applied = [...applied, ...this.#applied];
      this.#saves.runWithin(TIMING_FLUSH_MILLISECONDS);
      throw error;
    } finally {
      this.#saving = new ChangedTimings();
    }
  }

  #saveOne(path: number, timings: PathTimings): Promise<boolean> | null {
    if (!this.#unnamed.paths.has(path) && !this.#naming.paths.has(path)) return this.store.timings.put(path, encodeTimings(timings));
    // Timings wait for the name of their path, because they cannot be attributed without it.
    if (!this.#changed.ofPaths.has(path)) this.#changed.set(path, timings);
    return null;
  }

  /** Returns the timings of a path for a change, and puts them among the changed ones. */
  #toChange(path: number): PathTimings | undefined {
    const changed = this.#changed.ofPaths.get(path);
    if (changed) return changed;
    const saving = this.#saving.ofPaths.get(path);
    const bytes = saving ? undefined : this.store.timings.getBinaryFast(path);
    // Timings that are being written must not change.
    const known = saving ? { ...saving } : bytes && decodeTimings(bytes);
    if (known) this.#change(path, known);
    return known;
  }

  #change(path: number, timings: PathTimings): void {
    this.#changed.set(path, timings);
    this.#saves.runWithin(TIMING_FLUSH_MILLISECONDS);
  }
}
