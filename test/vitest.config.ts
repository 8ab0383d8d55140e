import { availableParallelism } from 'node:os';
import { defineConfig, type TestProjectInlineConfiguration } from 'vitest/config';
import { loadUwebsockets } from '../src/http/uwebsockets/load.js';

const hasUwebsockets = await loadUwebsockets().then(() => true, () => false);
const all: TestProjectInlineConfiguration = { extends: true, test: { name: 'all', include: ['test/**/*.test.js'] } };
/** What is sent and received over HTTP, a second time where `all` runs it over uWebSockets.js. */
const overNode: TestProjectInlineConfiguration = { extends: true, test: { name: 'node:http', include: ['test/http/*.test.js'], env: { BALLAST_HTTP_SERVER: 'node' } } };

/** Tests run on the compiled code: typia's checkers and the worker's entry are there as in production. */
export default defineConfig({
  test: {
    root: 'dist',
    projects: hasUwebsockets && process.env['BALLAST_HTTP_SERVER'] !== 'node' ? [all, overNode] : [all],
    // Files keep what is loaded, and nothing else, from one to the next: to load it takes half a second of each.
    isolate: false,
    // uWebSockets.js belongs on a process's main thread.
    pool: 'forks',
    // Many tests wait for processes. As a share, vitest takes no more than one for each core.
    maxWorkers: Math.ceil(1.5 * availableParallelism()),
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
