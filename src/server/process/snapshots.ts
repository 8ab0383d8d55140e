import { accessSync, constants, existsSync, readdirSync, realpathSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { runChild } from '../../base/child-process.js';
import { durationText } from '../../base/duration.js';
import { acquireLock, type FileLock, lockHolder } from '../../base/locks.js';
import { timestamp } from '../../base/time.js';
import type { ProcessState } from '../api/context.js';
import type { Millis } from '../engine/ports/store.js';
import { createPartialCopy, partFolderOf } from '../store/lmdb/folder/copy-folder.js';
import type { Logger } from './log.js';

/** Interval at which the server looks whether a snapshot is due. */
const SNAPSHOT_TICK_MILLISECONDS = 10_000;
/** A snapshot that could not be made is tried again after this time, or after the interval of snapshots if that is shorter. */
const SNAPSHOT_RETRY_MILLISECONDS = 3_600_000;

const LOCK_FILE = 'snapshots.lock';

export interface SnapshotSettings {
  /** The folder of the store. */
  dataDir: string;
  /** The folder of the snapshots. */
  folder: string;
  everyMilliseconds: number;
  /** Number of snapshots that are kept. */
  keep: number;
}

export interface SnapshotDependencies {
  log: Logger;
  now: () => Millis;
  /** Milliseconds on a monotonic clock. */
  uptime: () => number;
  /** Called when a sound snapshot was made. */
  made: (at: Millis) => Promise<void>;
}

/**
 * Copies of the store that the server makes while it serves. Each is one file, checked and on disk before it has its name. A copy in which
 * some records are inconsistent is kept under a name that says so, because its other records are whole. Intervals are measured on the
 * monotonic clock: a clock that is set back delays none.
 */
export class Snapshots {
  readonly load: NonNullable<ProcessState['snapshots']> = {
    soundAt: null,
    unsound: null,
    bytes: 0,
    seconds: 0,
    failures: 0,
    hasFailed: false,
  };
  /** On the monotonic clock. */
  #dueAt: number;
  #running: Promise<void> | null = null;
  readonly #stop = new AbortController();
  readonly #timer: NodeJS.Timeout;

  /** @param lock of the folder, which belongs to one server */
  private constructor(
    readonly settings: SnapshotSettings,
    readonly dependencies: SnapshotDependencies,
    readonly lock: FileLock,
  ) {
    const { folder, everyMilliseconds } = settings;
    const { now, uptime } = dependencies;
    this.#dueAt = uptime();
    const own = ownSnapshots(readdirSync(folder, { withFileTypes: true }), now());
    const [newest] = own;
    if (newest) {
      this.load.soundAt = own.find(({ isSound }) => isSound)?.at ?? null;
      if (!newest.isSound) this.load.unsound = { at: newest.at, problems: null };
      this.load.bytes = statSync(join(folder, newest.name)).size;
      this.#dueAt += newest.at + everyMilliseconds - now();
    }
    this.#timer = setInterval(() => void this.makeIfDue(), SNAPSHOT_TICK_MILLISECONDS);
  }

  /** Throws a sentence if snapshots cannot be made in the folder. Removes what a killed process left in it. */
  static async open(settings: SnapshotSettings, dependencies: SnapshotDependencies): Promise<Snapshots> {
    const { dataDir, folder } = settings;
    const cannot = (reason: string) => new Error(`cannot make snapshots in ${folder} (BALLAST_SNAPSHOT_DIR): ${reason}`);
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
      throw cannot('there is no such folder; create it, best on another disk than that of the store');
    const [data, own] = [realpathSync(dataDir), realpathSync(folder)];
    if (isWithin(own, data) || isWithin(data, own))
      throw cannot(
        `neither it nor the folder of the store, ${dataDir}, may contain the other; choose another folder, best on another disk`,
      );
    let lock: FileLock | null;
    try {
      accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK);
      lock = acquireLock(join(folder, LOCK_FILE));
    } catch (error) {
      throw cannot((error as Error).message);
    }
    if (!lock)
      throw cannot(
        `another Ballast makes its snapshots there${lockHolder(join(folder, LOCK_FILE))}; each server needs a folder of its own`,
      );
    try {
      await removePart(folder, dependencies.log);
      return new Snapshots(settings, dependencies, lock);
    } catch (error) {
      lock.release();
      throw cannot((error as Error).message);
    }
  }

  /** Makes a snapshot if one is due. Resolves when none is being made. */
  makeIfDue(): Promise<void> {
    if (this.#running === null && !this.#stop.signal.aborted && this.dependencies.uptime() >= this.#dueAt)
      this.#running = this.#make().finally(() => (this.#running = null));
    return this.#running ?? Promise.resolve();
  }

  /** Ends one that is being made, and removes what there is of it. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#stop.abort(new Error('the server stops'));
    await this.#running;
    this.lock.release();
  }

  async #make(): Promise<void> {
    const { folder, everyMilliseconds } = this.settings;
    const { log, now, uptime, made } = this.dependencies;
    const at = Math.floor(now() / 1000) * 1000;
    const dueAt = uptime() + everyMilliseconds;
    try {
      await this.#copy(at);
      this.load.hasFailed = false;
    } catch (err) {
      // A killed process removed nothing.
      await removePart(folder, log);
      if (this.#stop.signal.aborted) return;
      const again = Math.min(everyMilliseconds, SNAPSHOT_RETRY_MILLISECONDS);
      this.#dueAt = uptime() + again;
      this.load.failures += 1;
      this.load.hasFailed = true;
      log.error(
        { err },
        `could not make a snapshot in ${folder}: the earlier ones stay, and the next attempt is in ${durationText(again / 1000)}`,
      );
      return;
    }
    this.#dueAt = dueAt;
    if (this.load.unsound === null)
      await made(at).catch((err: unknown) => log.warn({ err }, 'could not note in the store that a snapshot was made'));
    await this.#removeOld(at).catch((err: unknown) => log.error({ err }, `could not remove old snapshots in ${folder}`));
  }

  async #copy(at: Millis): Promise<void> {
    const { dataDir, folder } = this.settings;
    const { log } = this.dependencies;
    const begun = performance.now();
    this.#assertSameFolder();
    const names = [snapshotName(at, true), snapshotName(at, false)];
    const made = await runChild(
      'dist/src/server/process/snapshot-process.js',
      'its process',
      [dataDir, folder, ...names],
      this.#stop.signal,
    );
    const problems = made as string | null;
    const file = join(folder, snapshotName(at, problems === null));
    const { size: bytes } = await stat(file);
    const seconds = (performance.now() - begun) / 1000;
    Object.assign(this.load, { bytes, seconds, ...(problems === null ? { soundAt: at, unsound: null } : { unsound: { at, problems } }) });
    const details = { file, bytes, seconds: Number(seconds.toFixed(1)) };
    if (problems === null) log.info(details, 'made a snapshot');
    else
      log.error(
        { ...details, problems },
        'made a snapshot that is not sound: some records are inconsistent, all others are whole; run "ballast check" to see what to do',
      );
  }

  /**
   * Throws if the folder is not the one that was opened: when a disk is not mounted any more, the folder below it would silently get the
   * snapshots, often on the disk of the store.
   */
  #assertSameFolder(): void {
    const { folder } = this.settings;
    if (!existsSync(folder) || existsSync(join(folder, LOCK_FILE))) return;
    throw new Error(
      `${LOCK_FILE}, which this server made in ${folder}, is gone: mount the disk of the snapshots if it is not mounted, or restart the server`,
    );
  }

  /**
   * Removes all but the newest, and the newest sound one. Those of later times than the last one stay: the clock was set back, so nobody knows
   * which is older.
   */
  async #removeOld(at: Millis): Promise<void> {
    const { folder, keep } = this.settings;
    const entries = await readdir(folder, { withFileTypes: true });
    const own = ownSnapshots(entries, at);
    const sound = own.find(({ isSound }) => isSound);
    for (const snapshot of own.slice(keep)) if (snapshot !== sound) await rm(join(folder, snapshot.name));
  }
}

/** Removes what is left of a copy that was not finished. */
async function removePart(folder: string, log: Logger): Promise<void> {
  if (!existsSync(partFolderOf(folder))) return;
  try {
    await (await createPartialCopy(folder)).remove();
  } catch (err) {
    log.warn({ err }, `could not remove the rest of a snapshot in ${partFolderOf(folder)}`);
  }
}

interface Snapshot {
  name: string;
  at: Millis;
  isSound: boolean;
}

const UNSOUND = '.unsound';

/** The name of a snapshot that was begun at a time, to the second, in UTC. Names sort as times do. */
function snapshotName(at: Millis, isSound: boolean): string {
  return `ballast-${timestamp(at).slice(0, 19).replaceAll(':', '-')}Z${isSound ? '' : UNSOUND}.lmdb`;
}

/** The files that have the name of a snapshot of a time until `until`, the newest first. */
function ownSnapshots(entries: readonly { name: string; isFile(): boolean }[], until: Millis): Snapshot[] {
  return entries
    .filter(entry => entry.isFile())
    .map(({ name }) => ({
      name,
      at: Date.parse(name.replace(/^ballast-(.{10}T..)-(..)-(..Z)(\.unsound)?\.lmdb$/, '$1:$2:$3')),
      isSound: !name.includes(UNSOUND),
    }))
    .filter(({ name, at, isSound }) => at <= until && snapshotName(at, isSound) === name)
    .sort((a, b) => b.at - a.at);
}

/** Reports whether a path is a folder or within it. */
function isWithin(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || !/^\.\.(\/|$)/.test(way);
}
