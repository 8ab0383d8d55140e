/**
 * Which tests are in which tier, by their compiled paths. A test that is in no list is fast: it runs in one process, and setup files of
 * that tier make every attempt to start another one fail.
 */

/** Tests of programs and servers in processes of their own. */
export const PROCESS = ['test/commands/**/*.test.js', 'test/docs.test.js'];

/** Tests that take seconds each: large and generated suites, killed servers, real test runners, scripts and benchmarks. */
export const SLOW = [
  ...['bench', 'clients', 'scripts', 'service'].map(folder => `test/${folder}/**/*.test.js`),
  'test/engine/simulation.test.js',
  'test/http/{huge-suites,overload}.test.js',
  'test/jobs/{large-suites,pool,read}.test.js',
  'test/routes/races.test.js',
  'test/store/{check,random-builds}.test.js',
];
