import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { chromiumPath } from '../scripts/chromium.js';
import { loadUwebsockets } from '../src/server/http/uwebsockets/load.js';
import { installedPrograms } from './testbed/postgresql.js';
import { BROWSER, LARGE, LONG, SHARED, SLOW, STORE, UNSHARED, UPGRADED, WITHOUT_BROWSER } from './tiers.js';

const hasUwebsockets = await loadUwebsockets().then(
  () => true,
  () => false,
);

const tier = (name: string, test: TestProjectInlineConfiguration['test']): TestProjectInlineConfiguration => ({
  extends: true,
  test: { name, ...test },
});
const fast = { exclude: [...STORE, ...SLOW, ...LONG, ...BROWSER, ...UPGRADED], setupFiles: ['test/no-processes.js'] };
const startPostgresql = { globalSetup: 'test/postgresql-cluster.js' };
const tiers = [
  tier('fast', { ...fast, include: ['test/**/*.test.js'] }),
  tier('store', { include: STORE, exclude: LARGE, ...startPostgresql }),
  tier('slow', { include: SLOW, exclude: LONG }),
];
/** Tests of HTTP, a second time where the fast tier runs them over uWebSockets.js. */
const overNode = tier('fast over node:http', { ...fast, include: ['test/server/http/*.test.js'], env: { BALLAST_HTTP_SERVER: 'node' } });
/** Tests a second time, with the store in PostgreSQL. */
const onPostgresql = [
  tier('postgresql', { include: [...UNSHARED, ...LARGE, ...UPGRADED], env: { BALLAST_TEST_SERVERS: '1' }, ...startPostgresql }),
  tier('two servers', { include: SHARED, exclude: UNSHARED, env: { BALLAST_TEST_SERVERS: '2' }, ...startPostgresql }),
];
/** Tests that `npm test` leaves to `npm run test:long`. */
const long = [
  tier('long', { include: LONG }),
  tier('browser', chromiumPath ? { include: BROWSER, exclude: WITHOUT_BROWSER } : { include: WITHOUT_BROWSER }),
  ...((await installedPrograms()) ? onPostgresql : []),
];
const isWithoutUwebsockets = !hasUwebsockets || process.env.BALLAST_HTTP_SERVER === 'node';

/** Tests run on the compiled code: typia's checkers and the worker's entry are there as in production. */
export default defineConfig(({ mode }) => ({
  test: {
    root: 'dist',
    projects: mode === 'long' ? long : isWithoutUwebsockets ? tiers : [...tiers, overNode],
    // Node loads what is compiled already, which takes half as long as vitest does. No test replaces a module.
    server: { deps: { external: [/\/dist\/(src|test\/testbed|bench|scripts)\//] } },
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
}));
