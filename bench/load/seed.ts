import { createProject } from '../../src/engine/access.js';
import { newRun } from '../../src/engine/recordings.js';
import { whenSaved } from '../../src/engine/soon.js';
import { parseConfig } from '../../src/server/config.js';
import { openLog } from '../../src/server/log.js';
import { openService } from '../../src/server/service.js';
import { openLmdbStore } from '../../src/store/lmdb/store.js';
import { printProgress } from '../progress.js';
import { Connections, expectAnswer } from './connections.js';
import { inParallel } from './in-parallel.js';
import { commitHash, FILES_IN_ANSWER, longTestPath, SPLIT, splitBody, testFiles } from './messages.js';
import { OpenQueue } from './open-queue.js';
import { TOKEN } from './server.js';
import { answerMessages } from './worker-messages.js';

/** Fills a data folder with old records, through the functions of the store and the API of the server. */

export interface Seed {
  folder: string;
  builds: { count: number; from: number; until: number };
  /** Number of queues, and of files in each. */
  queues: { count: number; files: number };
  splits: { count: number; files: number };
  at: number;
}

/** Number of files in the suite of all builds. */
const PATHS = 1000;
/** Concurrent recordings. They share a flush. */
const IN_FLIGHT = 4000;

answerMessages<Seed & { part: 'builds' | 'plans' }, null>(async ({ part, ...seed }) => {
  if (part === 'builds') await seedBuilds(seed);
  else await seedPlans(seed);
  return null;
});

/** Each commit has two builds, of 4 and 8 nodes; one node of each build is recorded. Half of the commits are on main. */
async function seedBuilds({ folder, builds: { count, from, until } }: Seed): Promise<void> {
  const store = openLmdbStore(folder);
  try {
    const { id: project } = await createProject(store.access, 'default', from, TOKEN);
    await inParallel(IN_FLIGHT, Array(count).keys(), build => {
      printProgress('seeding builds', build + 1, count);
      const { node_total, ...pushed } = buildOf(build);
      const test_files = [0, 1, 2].map(i => ({ path: longTestPath((build + i) % PATHS), time_execution: 1.2345 * (i + 1) }));
      const key = { ...pushed, node_total, node_index: build % node_total };
      const at = Math.floor(from + ((until - from) * build) / count);
      return whenSaved(store.recordings.record(project, key, newRun(test_files), false, at));
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

/** Creates queues from which one node has pulled, and splits. */
async function seedPlans({ folder, queues, splits, at }: Seed): Promise<void> {
  const config = parseConfig({ port: '0', dataDir: folder, bootstrapToken: TOKEN, logLevel: 'warn' });
  const service = await openService(config, openLog(config.logLevel), { now: () => at, isEager: false });
  const connections = new Connections(service.url, 16);
  try {
    await inParallel(16, Array(queues.count).keys(), async number => {
      printProgress('seeding queues', number + 1, queues.count);
      const queue = new OpenQueue(`seed-${number}`, connections);
      await queue.create(queues.files);
    });
    await inParallel(16, Array(splits.count).keys(), async number => {
      printProgress('seeding splits', number + 1, splits.count);
      const body = JSON.stringify({ ...splitBody('seed', number), ...testFiles(splits.files, longTestPath) });
      expectAnswer(await connections.post(SPLIT, body), 200, FILES_IN_ANSWER);
    });
  } finally {
    connections.close();
    await service.close();
  }
  // The mark of a server that ran until now.
  const store = openLmdbStore(folder);
  await store.maintenance.keepTime(Date.now());
  await store.close();
}
