import { printStep } from '../progress.js';
import { removeFolder, temporaryFolder } from './cleanup.js';
import type { Seed } from './seed.js';
import { Worker } from './worker.js';

const DAY_MILLISECONDS = 86_400_000;

/** Data folders with many builds and queues. Trials share them: each is created once and kept until `remove`. */
export class SeededFolders {
  readonly #folders = new Map<number, Promise<string>>();

  /** A folder with builds of the last 80 days, and a hundredth as many open queues. */
  withBuilds(builds: number): Promise<string> {
    let folder = this.#folders.get(builds);
    if (!folder) {
      const now = Date.now();
      folder = seedFolder({
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
 * Creates a folder whose records are all older than the retention. A tenth are queues and splits of 20 files, the
 * others are recorded subsets, each of its own build. The newest record is a subset.
 */
export function createExpiredFolder(records: number): Promise<string> {
  const now = Date.now();
  const few = { count: Math.round(records / 20), files: 20 };
  return seedFolder({
    builds: { count: records - 2 * few.count, from: now - 200 * DAY_MILLISECONDS, until: now - 100 * DAY_MILLISECONDS },
    queues: few,
    splits: few,
    at: now - 150 * DAY_MILLISECONDS,
  });
}

async function seedFolder(seed: Omit<Seed, 'folder'>): Promise<string> {
  const folder = temporaryFolder();
  const from = performance.now();
  try {
    // Each part has its own process: lmdb becomes very slow when it tracks the pages that many builds freed.
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
  printStep(`seeded ${seed.builds.count} builds, ${seed.queues.count} queues and ${seed.splits.count} splits in ${seconds} s`);
  return folder;
}
