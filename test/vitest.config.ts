import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { installedPrograms } from '../bench/load/postgresql.js';
import { chromiumPath } from '../scripts/chromium.js';
import { loadUwebsockets } from '../src/http/uwebsockets/load.js';
import { BROWSER, OF_ANY_PROCESS, OF_ONE_PROCESS, ON_POSTGRESQL, SLOW, STORE, WITHOUT_BROWSER } from './tiers.js';

const hasUwebsockets = await loadUwebsockets().then(
  () => true,
  () => false,
);

const tier = (name: string, test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, ...test },
});
const fast = { exclude: [...STORE, ...SLOW, ...BROWSER, ...ON_POSTGRESQL], setupFiles: ['test/no-processes.js'] };
const tiers = [
  tier('fast', { ...fast, include: ['test/**/*.test.js'] }),
  tier('store', { include: STORE, globalSetup: 'test/postgresql-cluster.js' }),
  tier('slow', { include: SLOW }),
  // One worker has one browser, and uses its windows again.
  tier('browser', {
    maxWorkers: 1,
    sequence: { groupOrder: 1 },
    ...(chromiumPath ? { include: BROWSER, exclude: WITHOUT_BROWSER } : { include: WITHOUT_BROWSER }),
  }),
];
/** How many processes serve the database of a test; 0: only what depends on the order of requests and their repetition runs, on one. */
const processes = Number(process.env.BALLAST_TEST_PROCESSES ?? 0);
/** Tests a second time, with the store in PostgreSQL. */
const onPostgresql = tier('postgresql', {
  include:
    processes > 0
      ? OF_ANY_PROCESS
      : [
          'test/api/{queue*,races,split*,build-subsets,completeness,retention}.test.js',
          'test/api/insight/build-summaries.test.js',
          ...ON_POSTGRESQL,
        ],
  exclude: processes > 1 ? OF_ONE_PROCESS : [],
  env: { BALLAST_TEST_STORE: 'postgresql' },
  globalSetup: 'test/postgresql-cluster.js',
});
/** What is sent and received over HTTP, a second time where the fast tier runs it over uWebSockets.js. */
const overNode = tier('fast over node:http', {
  ...fast,
  include: ['test/http/*.test.js'],
  env: { BALLAST_HTTP_SERVER: 'node' },
  // A worker that starts takes longer than these tests.
  maxWorkers: 1,
  sequence: { groupOrder: 2 },
});

/** Tests run on the compiled code: typia's checkers and the worker's entry are there as in production. */
export default defineConfig({
  test: {
    root: 'dist',
    projects: [
      ...(hasUwebsockets && process.env.BALLAST_HTTP_SERVER !== 'node' ? [...tiers, overNode] : tiers),
      ...((await installedPrograms()) ? [onPostgresql] : []),
    ],
    // Node loads what is compiled already, which takes half as long as vitest does. No test replaces a module.
    server: { deps: { external: [/\/dist\/(src|bench|scripts)\//] } },
    // Files keep what is loaded, and nothing else, from one to the next: to load it takes half a second of each.
    isolate: false,
    // uWebSockets.js belongs on a process's main thread.
    pool: 'forks',
    // Many tests wait for processes. As a share, vitest takes no more than one for each core.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    // Long enough for a machine that is several times slower, and busy.
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // The default of one second is short on a busy machine.
    expect: { poll: { timeout: 10_000 } },
  },
});
