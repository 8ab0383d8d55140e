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
    maxWorkers: '150%',
    testTimeout: 30_000,
    hookTimeout: 30_000,
  },
});
