import { printToStderr } from '../../base/terminal.js';
import { addResult, type FileResult } from '../reports/report-results.js';
import { endedEarly, guardExit, NodePart, options, sayNoShard } from './node-part.js';
import { pathOf } from './path-of.js';

/** The used part of Playwright's types, which has them in @playwright/test/reporter. */
interface Suite {
  type: 'root' | 'project' | 'file' | 'describe';
  location?: { file: string };
  suites: Suite[];
  project(): { name: string; dependencies: string[]; teardown?: string } | undefined;
  allTests(): TestCase[];
}

interface TestCase {
  /** Its project, its file, its groups and its own. */
  titlePath(): string[];
  expectedStatus: string;
  outcome(): 'skipped' | 'expected' | 'unexpected' | 'flaky';
  /** The attempts. */
  results: { status: string; duration: number }[];
}

interface Config {
  version: string;
  shard: { current: number; total: number } | null;
  failOnFlakyTests?: boolean;
}

interface Preprocessing {
  config: Config;
  suite: Suite;
  testRun: { skipSharding(): void; exclude(suite: Suite): void };
}

/** A reporter of Playwright, from version 1.62 on. With --shard, this node runs the files that Ballast gives it, and records their times. */
export default class BallastReporter {
  #isPreprocessed = false;
  #part: NodePart | null = null;
  /** Suites left to run, without the projects that run on every node. */
  #fileSuites: Suite[] = [];
  #root: Suite | null = null;
  #failsOnFlaky = false;
  /** An error outside of tests, as in a worker or the global teardown. */
  #hasError = false;
  /** True if all that had to be recorded is recorded. Null: the run has not ended. */
  #isSound: boolean | null = null;

  constructor() {
    // Files are loaded before it is known whether the configuration has a shard.
    const mayShard = process.env.BALLAST_URL || process.argv.some(arg => /^--shard(=|$)/.test(arg));
    if (mayShard && !isListing()) guardExit(code => this.#faultAt(code));
  }

  /** Playwright then adds its usual reporter for the terminal. */
  printsToStdio(): boolean {
    return false;
  }

  /** Leaves this node its part. An error ends Playwright before it runs a test. */
  async preprocess({ config: { shard }, suite, testRun }: Preprocessing): Promise<void> {
    this.#isPreprocessed = true;
    if (!shard) {
      this.#isSound = true;
      return sayNoShard();
    }
    testRun.skipSharding();
    const projects = splitProjects(suite);
    const paths = projects.flatMap(({ suites }) => suites.map(filePath));
    // Playwright itself fails when it finds no test.
    if (paths.length === 0) return;
    const part = await NodePart.request('playwright', { index: shard.current, count: shard.total }, paths, process.env);
    for (const project of projects) {
      const others = project.suites.filter(file => !part.has(filePath(file)));
      // What a project depends on runs only if the project itself is left.
      if (others.length === project.suites.length) testRun.exclude(project);
      else for (const file of others) testRun.exclude(file);
    }
    this.#part = part;
    // At SIGINT, Playwright ends its workers and calls onEnd. Other signals end it at once.
    for (const signal of ['SIGTERM', 'SIGHUP']) process.once(signal, () => process.kill(process.pid, 'SIGINT'));
  }

  onError(): void {
    this.#hasError = true;
  }

  onBegin({ version, shard, failOnFlakyTests = false }: Config, suite: Suite): void {
    if (shard && !this.#isPreprocessed) {
      printToStderr(
        `Playwright ${version} does not let a reporter choose the test files of a node: update to 1.62 or later, or leave out --shard or Ballast`,
      );
      // Playwright only prints what a reporter throws here, and runs its own shard.
      process.exit(1);
    }
    this.#root = suite;
    this.#failsOnFlaky = failOnFlakyTests;
    this.#fileSuites = splitProjects(suite).flatMap(({ suites }) => suites);
  }

  /** Records the times. The run fails if that fails, or if tests of this node did not run. It passes if all that failed is muted. */
  async onEnd({ status }: { status: string }): Promise<{ status?: 'failed' | 'passed' }> {
    this.#isSound = !this.#part || isListing();
    if (this.#isSound) return {};
    try {
      const isEnding = status === 'interrupted';
      // A global setup or teardown may fail, and the project of a setup.
      const hasFailed = status !== 'passed' && !isEnding;
      const areMuted = await this.#part!.record(resultsOf(this.#fileSuites), {
        isEnding,
        hasFailed,
        hasOtherFailure: this.#hasOtherFailure,
      });
      this.#isSound = true;
      return areMuted && status === 'failed' ? { status: 'passed' } : {};
    } catch (error) {
      printToStderr((error as Error).message);
      return { status: 'failed' };
    }
  }

  get #hasOtherFailure(): boolean {
    const tests = this.#root?.allTests() ?? [];
    const own = new Set(this.#fileSuites.flatMap(suite => suite.allTests()));
    const isFailure = (test: TestCase) =>
      (test.outcome() === 'unexpected' && !own.has(test)) || (test.outcome() === 'flaky' && this.#failsOnFlaky);
    return this.#hasError || tests.some(isFailure);
  }

  #faultAt(code: number): string | null {
    if (this.#isSound) return null;
    return this.#isSound === false || code !== 0 ? '' : endedEarly('Playwright');
  }
}

/** Nothing is run. */
function isListing(): boolean {
  return options().includes('--list');
}

/** The projects whose files are split. Playwright runs what others depend on, such as a setup, on each node that runs these. */
function splitProjects({ suites }: Suite): Suite[] {
  const needed = new Set(
    suites.flatMap(suite => {
      const { dependencies = [], teardown } = suite.project() ?? {};
      return [...dependencies, teardown];
    }),
  );
  return suites.filter(suite => !needed.has(suite.project()?.name));
}

function filePath({ location }: Suite): string {
  return pathOf(location!.file);
}

/** Returns the results of the files all of whose tests ran, or were skipped by themselves. The time of a file has that of all attempts. */
function resultsOf(fileSuites: readonly Suite[]): Map<string, FileResult> {
  const results = new Map<string, FileResult>();
  const unfinished = new Set<string>();
  for (const suite of fileSuites) {
    const path = filePath(suite);
    for (const test of suite.allTests()) {
      const outcome = test.outcome();
      const isSkipped = outcome === 'skipped';
      const isEnded = test.results.length > 0 && test.results.at(-1)!.status !== 'interrupted';
      // The reporters of Playwright, too, say that such a test did not run.
      if (!isEnded || (isSkipped && test.expectedStatus !== 'skipped')) unfinished.add(path);
      const seconds = test.results.reduce((sum, { duration }) => sum + duration / 1000, 0);
      addResult(results, path, {
        seconds,
        isFailed: outcome === 'unexpected',
        hasRun: !isSkipped,
        ...(outcome === 'flaky' && { isFlaky: true }),
        // As Playwright's JUnit reporter names it.
        ...(outcome === 'unexpected' && { failures: [test.titlePath().slice(3).join(' › ')] }),
      });
    }
  }
  for (const path of unfinished) results.delete(path);
  return results;
}
