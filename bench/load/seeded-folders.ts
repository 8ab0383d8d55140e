import { tell } from '../progress.js';
import { removeFolder, temporaryFolder } from './cleanup.js';
import type { Seed } from './seed.js';
import { Worker } from './worker.js';

const DAY_MILLISECONDS = 86_400_000;

/** Folders with many builds and queues, each made once and kept until `remove`: trials of one run share them. */
export class SeededFolders {
  readonly #folders = new Map<number, Promise<string>>();

  /** So many builds over the last 80 days, and a hundredth as many queues that are open now. */
  grown(builds: number): Promise<string> {
    let folder = this.#folders.get(builds);
    if (!folder) {
      const now = Date.now();
      folder = seeded({
        builds: { count: builds, from: now - 80 * DAY_MILLISECONDS, until: now },
        queues: { count: Math.ceil(builds / 100), files: 100 },
        splits: { count: 0, files: 0 },
        at: now,
      });
      this.#folders.set(builds, folder);
    }
    return folder;
  }

  async remove(): Promise<void> {
    for (const folder of this.#folders.values()) {
      await folder.then(removeFolder, () => {});
    }
    this.#folders.clear();
  }
}

/**
 * A new folder of so many records that are all older than the retention: a tenth queues and splits of 20 files, the
 * others recorded subsets of a build each. The newest is a subset.
 */
export function expired(records: number): Promise<string> {
  const now = Date.now();
  const few = { count: Math.round(records / 20), files: 20 };
  return seeded({
    builds: { count: records - 2 * few.count, from: now - 200 * DAY_MILLISECONDS, until: now - 100 * DAY_MILLISECONDS },
    queues: few,
    splits: few,
    at: now - 150 * DAY_MILLISECONDS,
  });
}

async function seeded(seed: Omit<Seed, 'folder'>): Promise<string> {
  const folder = temporaryFolder();
  const from = performance.now();
  try {
    // Each in a process of its own: lmdb remembers the many pages that so many builds free, and gets very slow by it.
    for (const part of ['builds', 'plans'] as const) {
      const seeder = new Worker<Seed & { part: typeof part }, null>('bench/load/seed.js');
      try {
        await seeder.ask({ folder, part, ...seed });
      } finally {
        await seeder.stop();
      }
    }
  } catch (error) {
    removeFolder(folder);
    throw error;
  }
  const seconds = ((performance.now() - from) / 1000).toFixed(0);
  tell(`seeded ${seed.builds.count} builds, ${seed.queues.count} queues and ${seed.splits.count} splits in ${seconds} s`);
  return folder;
}
