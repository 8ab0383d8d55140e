import { whenSaved } from '../../src/base/soon.js';
import { createProject } from '../../src/server/engine/access.js';
import { waitingCaller } from '../../src/server/engine/caller.js';
import { newRun } from '../../src/server/engine/recordings.js';
import { openLmdbStore } from '../../src/server/store/lmdb/store.js';
import { TOKEN } from '../../test/testbed/client.js';
import { inParallel } from '../../test/testbed/in-parallel.js';
import { printProgress } from '../../test/testbed/progress.js';
import { answerMessages } from '../../test/testbed/worker-messages.js';
import { commitHash, longTestPath } from './messages.js';

/**
 * A worker process that fills a data folder with builds, through the functions of the store. lmdb becomes very slow in a process that tracks
 * the pages that many builds freed.
 */

export interface Seed {
  folder: string;
  builds: number;
}

const DAYS = 80;
/** Number of files in the suite of all builds. */
const PATHS = 1000;
/** Concurrent recordings. They share a flush. */
const IN_FLIGHT = 4000;

/** Each commit has two builds, of 4 and 8 nodes; one node of each build is recorded. Half of the commits are on main. */
answerMessages<Seed, null>(async ({ folder, builds }) => {
  const from = Date.now() - DAYS * 86_400_000;
  const store = openLmdbStore(folder);
  try {
    const { id: project } = await createProject(store.access, 'default', from, TOKEN);
    await inParallel(IN_FLIGHT, Array(builds).keys(), build => {
      printProgress('seeding builds', build + 1, builds);
      const { node_total, ...pushed } = buildOf(build);
      const test_files = [0, 1, 2].map(i => ({ path: longTestPath((build + i) % PATHS), time_execution: 1.2345 * (i + 1) }));
      const key = { ...pushed, node_total, node_index: build % node_total };
      const at = Math.floor(from + (DAYS * 86_400_000 * build) / builds);
      return whenSaved(store.recordings.record(project, key, newRun(test_files), waitingCaller, at));
    });
  } finally {
    await store.close();
  }
  return null;
});

function buildOf(build: number) {
  const pushed = Math.floor(build / 2);
  const branch = pushed % 2 ? 'main' : `feature-${Math.floor(pushed / 2) % 1000}`;
  return { commit_hash: commitHash(`seed-${pushed}-`), branch, node_total: build % 2 ? 8 : 4 };
}
