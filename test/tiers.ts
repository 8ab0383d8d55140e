/**
 * Which tests are in which tier, by their compiled paths. A test that is in no list is fast: it runs in one process, and setup files of
 * that tier make every attempt to start another one fail.
 */

/** Tests of the store. They wait for the disk most of the time. */
export const STORE = ['test/store/**/*.test.js'];

/** Tests that start processes or take seconds each: commands, killed servers, real test runners, large suites, scripts and benchmarks. */
export const SLOW = [
  ...['bench', 'cli', 'clients', 'scripts'].map(folder => `test/${folder}/**/*.test.js`),
  'test/docs.test.js',
  'test/api/{prepare,races}.test.js',
  'test/engine/queue/simulation.test.js',
  'test/http/huge-suites.test.js',
  'test/server/{kill,restart}.test.js',
  'test/api/large-suites.test.js',
];

/** Tests of the dashboard in Chromium. */
export const BROWSER = ['test/browser/**/*.test.js'];

/** The one that says so where there is no Chromium. */
export const WITHOUT_BROWSER = ['test/browser/missing.test.js'];

/** Tests of the protocol, of the pages and of real clients, which any number of processes must pass together. */
export const OF_ANY_PROCESS = ['test/api/**/*.test.js', 'test/clients/*.test.js', 'test/recomputed/*.test.js'];

/** Those about what one process counts and remembers for itself. */
export const OF_ONE_PROCESS = [
  'test/api/{daily-bytes,hidden-time,metrics,retention}.test.js',
  'test/api/dashboard/{server,sign-in}.test.js',
  // When a node of a split asked for its files is known to the process that answered it.
  'test/api/insight/timeline.test.js',
  'test/recomputed/figures.test.js',
];

/** Tests of servers that need PostgreSQL. */
export const ON_POSTGRESQL = ['test/api/several-processes.test.js'];
