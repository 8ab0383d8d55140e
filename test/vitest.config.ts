import { availableParallelism } from 'node:os';
import { defineConfig } from 'vitest/config';

/** Tests run on the compiled code: typia's checkers and the worker's entry are there as in production. */
export default defineConfig({
  test: {
    root: 'dist',
    include: ['test/**/*.test.js'],
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
