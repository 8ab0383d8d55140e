import { printToStderr } from '../../base/terminal.js';
import { addResult, type FileResult } from '../reports/report-results.js';
import { endedEarly, guardExit, NodePart, recordAtSignals, sayNoShard, sharedByCopies } from './node-part.js';
import { pathOf } from './path-of.js';

/** The used part of Vitest's types, which has them in vitest/node. */
interface Specification {
  /** The path of the file. */
  moduleId: string;
}

interface TestModule extends Specification {
  state(): 'skipped' | 'pending' | 'queued' | 'failed' | 'passed';
  children: {
    allTests(): Iterable<{ fullName: string; result(): { state: string }; diagnostic(): { flaky: boolean } | undefined }>;
    /** Groups of tests. Their hooks may fail. */
    allSuites(): Iterable<{ errors(): unknown[] }>;
  };
  errors(): unknown[];
  /** In milliseconds. */
  diagnostic(): Record<'environmentSetupDuration' | 'prepareDuration' | 'collectDuration' | 'setupDuration' | 'duration', number>;
}

interface Vitest {
  config: {
    shard?: { index: number; count: number } | undefined;
    passWithNoTests?: boolean;
    dangerouslyIgnoreUnhandledErrors?: boolean;
    sequence: { sequencer: unknown };
  };
  reporters: object[];
  state: { getPaths(): string[] };
}

interface UserConfig {
  test?: { passWithNoTests?: boolean };
}

/** isSettled: Vitest asked for the files of this node, or may pass without any. */
const shared = sharedByCopies('vitest', { isGuarded: false, isSettled: false });

const isSharded = process.argv.some(arg => /^--shard(=|$)/.test(arg));
/** `vitest list` runs nothing. Behind another argument, `list` may be a part of a file's name, or a value. */
const isListing = process.argv[2] === 'list';

// A configuration may end Vitest before it has the plugin. Other programs may load the configuration.
if (isSharded && process.env.VITEST) guard();

/** A plugin of Vitest, from version 3.1 on. With --shard, this node runs the files that Ballast gives it, and records their times. */
export default function ballast(): object {
  return {
    name: 'ballast',
    // Vitest does not call the other hook for a root whose projects have configurations of their own.
    config({ test }: UserConfig) {
      if (!isSharded) return sayNoShard();
      guard();
      shared.isSettled ||= test?.passWithNoTests || process.argv.includes('--passWithNoTests');
      return { test: { passWithNoTests: true, sequence: { sequencer: BallastSequencer } } };
    },
    configureVitest({ vitest: { config } }: { vitest: Vitest }) {
      if (!config.shard || isBallast(config.sequence.sequencer)) return;
      guard();
      shared.isSettled ||= Boolean(config.passWithNoTests);
      config.passWithNoTests = true;
      config.sequence.sequencer = BallastSequencer;
    },
  };
}

/**
 * Vitest refuses more nodes than files, unless it may pass without tests. So this fails instead when Vitest finds no file at all, when
 * something else chose the files, and when Vitest ends before it chooses them.
 */
function guard(): void {
  if (shared.isGuarded || isListing) return;
  shared.isGuarded = true;
  guardExit(code =>
    shared.isSettled || code !== 0
      ? null
      : '--shard is given, but Vitest did not ask Ballast for the test files of this node: it found no test file, has another sequencer, or its configuration ended it',
  );
}

function isBallast(sequencer: unknown): boolean {
  return (sequencer as { isBallast?: boolean } | undefined)?.isBallast === true;
}

const runs = new WeakMap<Vitest, ShardRun>();

/** Chooses and sorts the files of this node. Vitest before 4 makes several, and gives each only the files of a pool. */
class BallastSequencer {
  static readonly isBallast = true;
  readonly #run: ShardRun;

  constructor(vitest: Vitest) {
    let run = runs.get(vitest);
    if (!run) {
      run = new ShardRun(vitest);
      runs.set(vitest, run);
      vitest.reporters.push(run);
    }
    this.#run = run;
  }

  /** An error ends Vitest before it runs a test. */
  async shard<T extends Specification>(specifications: T[]): Promise<T[]> {
    // Vitest itself decides what happens when it finds no file.
    if (specifications.length === 0) return specifications;
    shared.isSettled = true;
    const selected = (await this.#run.request(specifications)).select(specifications, ({ moduleId }) => pathOf(moduleId));
    this.#run.expect(selected);
    return selected;
  }

  sort<T>(specifications: T[]): T[] {
    // To list the tests, Vitest before 5 ignores the shard.
    shared.isSettled ||= specifications.length > 0;
    return specifications;
  }
}

/** The run of one node, and the reporter that records it. */
class ShardRun {
  readonly #vitest: Vitest;
  #part: Promise<NodePart> | null = null;
  /** By path: in how many projects the file has yet to run. */
  readonly #left = new Map<string, number>();
  readonly #ended: TestModule[] = [];
  #hasEnded = false;
  #isRecorded = false;

  constructor(vitest: Vitest) {
    this.#vitest = vitest;
  }

  request(specifications: readonly Specification[]): Promise<NodePart> {
    const { state } = this.#vitest;
    const files = [...specifications.map(({ moduleId }) => moduleId), ...state.getPaths()];
    this.#part ??= this.#request(files.map(pathOf));
    return this.#part;
  }

  async #request(paths: readonly string[]): Promise<NodePart> {
    const part = await NodePart.request('vitest', this.#vitest.config.shard!, paths, process.env);
    if (!part.isEmpty && !isListing) {
      guardExit(code => this.#faultAt(code));
      recordAtSignals(async () => {
        if (!this.#hasEnded) await part.record(this.#finished(), { isEnding: true });
      });
    }
    return part;
  }

  expect(specifications: readonly Specification[]): void {
    for (const { moduleId } of specifications) this.#count(pathOf(moduleId), 1);
  }

  /** The results of the files that all their projects have run. */
  #finished(): Map<string, FileResult> {
    const modules = this.#ended.filter(({ moduleId }) => this.#left.get(pathOf(moduleId)) === 0);
    return resultsOf(modules, true);
  }

  #count(path: string, more: number): void {
    this.#left.set(path, (this.#left.get(path) ?? 0) + more);
  }

  onTestModuleEnd(testModule: TestModule): void {
    this.#ended.push(testModule);
    this.#count(pathOf(testModule.moduleId), -1);
  }

  #faultAt(code: number): string | null {
    if (this.#isRecorded) return null;
    return this.#hasEnded || code !== 0 ? '' : endedEarly('Vitest');
  }

  async onTestRunEnd(
    testModules: readonly TestModule[],
    errors: readonly unknown[],
    reason: 'passed' | 'failed' | 'interrupted',
  ): Promise<void> {
    try {
      const part = await this.#part?.catch(() => null);
      this.#hasEnded = true;
      // Vitest calls a run with unhandled errors passed, and ends with 1.
      const isUnhandled = errors.length > 0 && !this.#vitest.config.dangerouslyIgnoreUnhandledErrors;
      const hasFailed = isUnhandled || reason === 'failed';
      const areMuted = await part?.record(resultsOf(testModules, reason === 'interrupted'), { hasFailed, hasOtherFailure: isUnhandled });
      this.#isRecorded = true;
      // Vitest has set it for the tests that failed. Later it sets it again for too little coverage.
      if (areMuted && reason === 'failed') process.exitCode = undefined;
    } catch (error) {
      printToStderr((error as Error).message);
      process.exitCode = 1;
    }
  }
}

/**
 * Returns the results of the files that ran to their end. The time of a file has that of its environment and its imports, and of all projects
 * that have the file.
 */
function resultsOf(testModules: readonly TestModule[], isInterrupted: boolean): Map<string, FileResult> {
  const results = new Map<string, FileResult>();
  const unfinished = new Set<string>();
  for (const testModule of testModules) {
    const [path, state] = [pathOf(testModule.moduleId), testModule.state()];
    const tests = [...testModule.children.allTests()];
    const cases = tests.map(test => test.result().state);
    const isFlaky = tests.some(test => test.diagnostic()?.flaky);
    // An interruption skips the tests that are left.
    if (state === 'pending' || state === 'queued' || (isInterrupted && cases.some(each => each !== 'passed' && each !== 'failed')))
      unfinished.add(path);
    const hasRun = cases.some(each => each === 'passed' || each === 'failed');
    const { environmentSetupDuration, prepareDuration, collectDuration, setupDuration, duration } = testModule.diagnostic();
    const milliseconds = environmentSetupDuration + prepareDuration + collectDuration + setupDuration + duration;
    const seconds = hasRun ? milliseconds / 1000 : 0;
    const isFailed = state === 'failed';
    addResult(results, path, {
      seconds,
      isFailed,
      hasRun,
      ...(isFlaky && { isFlaky }),
      ...(isFailed && { failures: failuresIn(testModule) }),
    });
  }
  for (const path of unfinished) results.delete(path);
  return results;
}

/** The names of the tests that failed, as the JUnit reporter of Vitest has them, and an empty one for hooks. */
function failuresIn(testModule: TestModule): string[] {
  const { children } = testModule;
  const failed = [...children.allTests()].filter(test => test.result().state === 'failed').map(({ fullName }) => fullName);
  const hasOther = testModule.errors().length > 0 || [...children.allSuites()].some(suite => suite.errors().length > 0);
  return failed.length === 0 || hasOther ? [...failed, ''] : failed;
}
