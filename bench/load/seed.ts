import { whenSaved } from '../../src/base/soon.js';
import { createProject } from '../../src/server/engine/access.js';
import { waitingCaller } from '../../src/server/engine/caller.js';
import { newRun } from '../../src/server/engine/recordings.js';
import { openLog } from '../../src/server/process/log.js';
import { openService } from '../../src/server/process/service.js';
import { parseConfig } from '../../src/server/process/settings.js';
import { openLmdbStore } from '../../src/server/store/lmdb/store.js';
import { inParallel } from '../../testbed/in-parallel.js';
import { printProgress } from '../../testbed/progress.js';
import { TOKEN } from '../../testbed/server.js';
import { answerMessages } from '../../testbed/worker-messages.js';
import { Connections } from './connections.js';
import { commitHash, longTestPath } from './messages.js';
import { OpenQueue } from './open-queue.js';

/** A worker process that fills a data folder with old records, through the functions of the store and the API of the server. */

export interface Seed {
  folder: string;
  /** Each part has its own process: lmdb becomes very slow when it tracks the pages that many builds freed. */
  part: 'builds' | 'queues';
  count: number;
}

const DAYS = 80;
/** Number of files in each queue. */
const QUEUE_FILES = 100;
/** Number of files in the suite of all builds. */
const PATHS = 1000;
/** Concurrent recordings. They share a flush. */
const IN_FLIGHT = 4000;

answerMessages<Seed, null>(async ({ folder, part, count }) => {
  await (part === 'builds' ? seedBuilds(folder, count) : seedQueues(folder, count));
  return null;
});

/** Each commit has two builds, of 4 and 8 nodes; one node of each build is recorded. Half of the commits are on main. */
async function seedBuilds(folder: string, count: number): Promise<void> {
  const from = Date.now() - DAYS * 86_400_000;
  const store = openLmdbStore(folder);
  try {
    const { id: project } = await createProject(store.access, 'default', from, TOKEN);
    await inParallel(IN_FLIGHT, Array(count).keys(), build => {
      printProgress('seeding builds', build + 1, count);
      const { node_total, ...pushed } = buildOf(build);
      const test_files = [0, 1, 2].map(i => ({ path: longTestPath((build + i) % PATHS), time_execution: 1.2345 * (i + 1) }));
      const key = { ...pushed, node_total, node_index: build % node_total };
      const at = Math.floor(from + (DAYS * 86_400_000 * build) / count);
      return whenSaved(store.recordings.record(project, key, newRun(test_files), waitingCaller, at));
    });
  } finally {
    await store.close();
  }
}

function buildOf(build: number) {
  const pushed = Math.floor(build / 2);
  const branch = pushed % 2 ? 'main' : `feature-${Math.floor(pushed / 2) % 1000}`;
  return { commit_hash: commitHash(`seed-${pushed}-`), branch, node_total: build % 2 ? 8 : 4 };
}

/** Creates queues from which one node has pulled. */
async function seedQueues(folder: string, count: number): Promise<void> {
  const config = parseConfig({ port: '0', dataDir: folder, bootstrapToken: TOKEN, logLevel: 'warn' });
  const service = await openService(config, openLog(config.logLevel), { isEager: false });
  const connections = new Connections(service.url, 16);
  try {
    await inParallel(16, Array(count).keys(), number => {
      printProgress('seeding queues', number + 1, count);
      return new OpenQueue(`seed-${number}`, connections).create(QUEUE_FILES);
    });
  } finally {
    connections.close();
    await service.close();
  }
}
