import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';
import { printToStderr } from '../../base/terminal.js';
import { addResult, type FileResult } from '../reports/report-results.js';
import { endedEarly, guardExit, NodePart, options, type PartState, recordAtSignals, sayNoShard } from './node-part.js';
import { pathOf } from './path-of.js';

/** The used part of Jest's types, which has them in @jest/test-sequencer and @jest/test-result. */
interface Test {
  path: string;
  duration?: number;
  /** The project. */
  context: { config: { /** The path of a module. */ runner: string } };
}

interface TestResult {
  testFilePath: string;
  numPassingTests: number;
  numFailingTests: number;
  testResults: {
    status: string;
    /** With the names of the groups around it. */
    fullName: string;
    /** Missing in old versions. */
    invocations?: number;
  }[];
  /** Why the file could not be run. */
  testExecError?: unknown;
  /** Milliseconds since 1970. */
  perfStats: { start: number; end: number };
}

interface AggregatedResult {
  success: boolean;
  snapshot: { failure: boolean };
  /** Missing: no coverage was collected. */
  coverageMap?: unknown;
  testResults: TestResult[];
}

/** The used part of jest-runner. */
interface Runner {
  on(event: 'test-file-success', listener: (data: [Test, TestResult]) => void): void;
  runTests(...args: unknown[]): Promise<void>;
}

/** The sequencer that Jest uses without another one. */
interface Sequencer {
  sort(tests: Test[]): Test[] | Promise<Test[]>;
  allFailedTests(tests: Test[]): Test[] | Promise<Test[]>;
  cacheResults(tests: Test[], results: AggregatedResult): void;
}

/** Input of this file on stdin when it runs as a program: Jest does not wait for what a sequencer begins. */
interface Recording {
  state: PartState;
  results: [string, FileResult][];
  hasFailed: boolean;
  hasOtherFailure: boolean;
}

/** Its exit code if all that failed is muted. */
const MUTED = 10;

/** A test sequencer of Jest, from version 28 on. With --shard, this node runs the files that Ballast gives it, and records their times. */
export default class BallastSequencer {
  readonly #jest: Sequencer;
  /** Jest tells it from version 30 on. */
  readonly #mayNeedCoverage: boolean;
  #isSharded = false;
  #part: NodePart | null = null;
  /** By path: in how many projects the file has yet to run. */
  readonly #left = new Map<string, number>();
  readonly #ended: TestResult[] = [];
  #hasResults = false;
  #isRecorded = false;

  constructor(...options: unknown[]) {
    this.#jest = new (jestSequencer())(...options);
    const [given] = options as [{ globalConfig?: { coverageThreshold?: unknown } }?];
    this.#mayNeedCoverage = !given?.globalConfig || given.globalConfig.coverageThreshold !== undefined;
  }

  /** An error ends Jest before it runs a test. */
  async shard(tests: Test[], { shardIndex, shardCount }: { shardIndex: number; shardCount: number }): Promise<Test[]> {
    this.#isSharded = true;
    // Jest itself fails when it finds no test.
    if (tests.length === 0) return tests;
    const paths = tests.map(testPath);
    this.#part = await NodePart.request('jest', { index: shardIndex, count: shardCount }, paths, process.env);
    // Jest fails when it has nothing to run, and only its user can change that.
    if (this.#part.isEmpty) process.exit(0);
    const part = this.#part;
    const own = tests.filter(test => part.has(testPath(test)));
    if (isListing()) return own;
    guardExit(code => this.#faultAt(code));
    for (const test of own) this.#count(testPath(test), 1);
    for (const runner of new Set(own.map(({ context }) => context.config.runner))) {
      watchResults(runner, result => {
        this.#ended.push(result);
        this.#count(pathOf(result.testFilePath), -1);
      });
    }
    recordAtSignals(async () => {
      if (!this.#hasResults) await part.record(this.#finished(), { isEnding: true });
    });
    return own;
  }

  async sort(tests: Test[]): Promise<Test[]> {
    if (!this.#isSharded) sayNoShard();
    // This also tells Jest how long files took on this machine, so that it runs few short ones without workers.
    const sorted = await this.#jest.sort(tests);
    return this.#part ? this.#part.select(sorted, testPath) : sorted;
  }

  allFailedTests(tests: Test[]): Test[] | Promise<Test[]> {
    return this.#jest.allFailedTests(tests);
  }

  #count(path: string, more: number): void {
    this.#left.set(path, (this.#left.get(path) ?? 0) + more);
  }

  /** The results of the files that all their projects have run. */
  #finished(): Map<string, FileResult> {
    return resultsOf(this.#ended.filter(({ testFilePath }) => this.#left.get(pathOf(testFilePath)) === 0));
  }

  #faultAt(code: number): string | null {
    if (this.#isRecorded) return null;
    if (!this.#hasResults && code === 0) return endedEarly('Jest');
    // With --bail, Jest ends before it tells a sequencer the results.
    if (!this.#hasResults) this.#record(this.#finished(), code !== 0);
    return '';
  }

  cacheResults(tests: Test[], results: AggregatedResult): void {
    this.#hasResults = true;
    this.#jest.cacheResults(tests, results);
    if (!this.#part) return;
    const hasOtherFailure = results.snapshot.failure || (Boolean(results.coverageMap) && this.#mayNeedCoverage);
    const status = this.#record(resultsOf(results.testResults), !results.success, hasOtherFailure);
    this.#isRecorded = status === 0 || status === MUTED;
    // Jest then fails at its end, after its global teardown.
    if (!this.#isRecorded) results.success = false;
    if (status === MUTED) results.success = true;
  }

  /** Returns 0 or MUTED if the times are recorded, and all files ran. */
  #record(results: ReadonlyMap<string, FileResult>, hasFailed: boolean, hasOtherFailure = false): number | null {
    const recording: Recording = { state: this.#part!.state, results: [...results], hasFailed, hasOtherFailure };
    const { status } = spawnSync(process.execPath, [thisFile, RECORD], {
      input: JSON.stringify(recording),
      stdio: ['pipe', 'inherit', 'inherit'],
    });
    return status;
  }
}

const thisFile = fileURLToPath(import.meta.url);
/** The argument with which this file records, instead of being a sequencer. */
const RECORD = '--record-for-ballast';

/** Reports whether Jest only lists tests. Versions before 30 do not tell a sequencer. */
function isListing(): boolean {
  return options().some((arg, i, args) => /^--(list|collect)(-t|T)ests(=true)?$/.test(arg) && args[i + 1] !== 'false');
}

function testPath({ path }: Test): string {
  return pathOf(path);
}

/** Finds the package of Jest from where Jest itself was loaded: this file may lie in a folder that does not see it. */
function jestSequencer(): new (...options: unknown[]) => Sequencer {
  const loaded = Object.keys(createRequire(thisFile).cache).find(path => /[\\/]jest-config[\\/]build[\\/]index\.js$/.test(path));
  if (!loaded) throw new Error('Ballast finds no jest-config that was loaded: only Jest can use this file, as its testSequencer');
  return (createRequire(loaded)('@jest/test-sequencer') as { default: new (...options: unknown[]) => Sequencer }).default;
}

/** Jest tells a sequencer the results only when all files have run, and its runner those of each file. Other runners may not. */
function watchResults(runner: string, note: (result: TestResult) => void): void {
  if (!/[\\/]jest-runner[\\/]build[\\/]index\.js$/.test(runner)) return;
  const { prototype } = (createRequire(thisFile)(runner) as { default: { prototype: Runner } }).default;
  const { runTests } = prototype;
  prototype.runTests = function (...args) {
    this.on('test-file-success', ([, result]) => note(result));
    return runTests.apply(this, args);
  };
}

/** A file that could not be loaded has no time. */
function resultsOf(testResults: readonly TestResult[]): Map<string, FileResult> {
  const results = new Map<string, FileResult>();
  for (const { testFilePath, numPassingTests, numFailingTests, testResults: tests, testExecError, perfStats } of testResults) {
    const hasRun = numPassingTests + numFailingTests > 0;
    const isFailed = numFailingTests > 0 || Boolean(testExecError);
    const isFlaky = tests.some(({ status, invocations = 1 }) => status === 'passed' && invocations > 1);
    const seconds = hasRun ? (perfStats.end - perfStats.start) / 1000 : 0;
    const failures = [...tests.filter(({ status }) => status === 'failed').map(({ fullName }) => fullName), ...(testExecError ? [''] : [])];
    addResult(results, pathOf(testFilePath), { seconds, isFailed, hasRun, ...(isFlaky && { isFlaky }), ...(isFailed && { failures }) });
  }
  return results;
}

async function recordFromStdin(): Promise<void> {
  const { state, results, ...more } = JSON.parse(readFileSync(0, 'utf8')) as Recording;
  try {
    if (await new NodePart(state, process.env).record(new Map(results), more)) process.exitCode = MUTED;
  } catch (error) {
    printToStderr((error as Error).message);
    process.exitCode = 1;
  }
}

if (process.argv.includes(RECORD)) void recordFromStdin();
