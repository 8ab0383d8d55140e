/**
 * The tiers of the tests, by their compiled paths. A test that is in no list is fast: it runs in one process, and setup files of that tier make every
 * attempt to start another one fail.
 */

/** Tests of the store, and of servers that share one. They wait for the disk and the database most of the time. */
export const STORE = ['test/server/store/**/*.test.js', 'test/server/api/several-processes.test.js'];

/** Tests that start processes or take seconds each: commands, restarts, large suites. */
export const SLOW = [
  'test/cli/**/*.test.js',
  'test/node/ci/{told-by-node,work-tree}.test.js',
  'test/node/client/command/command-runner.test.js',
  'test/node/pieces/runners.test.js',
  'test/node/runners/node-part.test.js',
  'test/docs.test.js',
  'test/server/api/{prepare,races}.test.js',
  'test/server/http/huge-suites.test.js',
  'test/server/process/{restart,snapshots}.test.js',
  'test/server/api/large-suites.test.js',
  'test/upgrade/folder.test.js',
];

/** Tests of the dashboard in Chromium. */
export const BROWSER = ['test/browser/**/*.test.js'];

/** The one that says so where there is no Chromium. */
export const WITHOUT_BROWSER = ['test/browser/missing.test.js'];

/** Tests of benchmarks, real test runners and scripts, and of what takes as long as many others. */
export const LONG = [
  ...['bench', 'clients', 'recomputed', 'scripts'].map(folder => `test/${folder}/**/*.test.js`),
  'test/cli/hanging-disk.test.js',
  'test/node/pieces/{pytest,rspec}.test.js',
  'test/node/runners/{named-pieces,pytest,real-runners}.test.js',
  'test/protocol/foreign-verifier.test.js',
  'test/server/insight/flaky/simulation.test.js',
  'test/server/insight/what-if/accuracy.test.js',
  'test/server/engine/queue/simulation.test.js',
  'test/server/process/{kill,snapshots}.test.js',
];

/** Tests of the protocol, of proofs, of the pages and of real clients, which two servers on one database must pass together. */
export const SHARED = ['test/server/api/**/*.test.js', 'test/server/engine/proof/*.test.js', 'test/clients/*.test.js'];

/** The test of a large database. */
export const LARGE = ['test/server/store/postgresql/growth.test.js'];

/** The test of databases that other versions wrote. */
export const UPGRADED = ['test/upgrade/database.test.js'];

/** Tests about counts and memory of one server. */
export const UNSHARED = [
  'test/server/api/{daily-bytes,heartbeat,hidden-time,metrics,retention}.test.js',
  'test/server/api/dashboard/{server,sign-in}.test.js',
  // When a node of a split asked for its files is known to the process that answered it.
  'test/server/api/insight/timeline.test.js',
  'test/recomputed/figures.test.js',
];
