import type { TestCase } from '../reports/junit.js';
import { GivenFiles } from '../reports/known-files.js';
import { timesOf, together } from '../reports/times.js';
import { type BatchResult, type PlannedFile, type RecordedFile, resultByClock, resultByReports } from './batch-results.js';
import { type Ending, type Runner, withFiles } from './command.js';
import { readReport, ReportWatch } from './report-files.js';
import { say } from './say.js';

/** A command that cannot be started: nothing was run, and nothing will be. */
export class NotStarted extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

/** What one node runs, batch by batch, and what became of it. */
export class NodeRun {
  readonly #recorded = new Map<string, number>();
  readonly #watch: ReportWatch;
  #batches = 0;
  #hasFailed = false;

  constructor(
    readonly command: readonly string[],
    readonly reportGlobs: readonly string[],
    readonly runner: Runner,
    readonly environment: NodeJS.ProcessEnv,
  ) {
    this.#watch = new ReportWatch(reportGlobs);
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  get batches(): number {
    return this.#batches;
  }

  /** Each file that ran, once. */
  get recorded(): RecordedFile[] {
    return [...this.#recorded].map(([path, time_execution]) => ({ path, time_execution }));
  }

  /** Runs the command for a batch. Throws NotStarted. */
  async run(files: readonly PlannedFile[]): Promise<BatchResult> {
    const paths = files.map(({ path }) => path);
    this.#batches += 1;
    await this.#watch.look();
    const ending = await this.runner.run(withFiles(this.command, paths), { ...this.environment, BALLAST_BATCH: String(this.#batches) });
    if (ending.notStarted !== null) throw new NotStarted(ending.code, `cannot start the command ${this.command[0]}: ${ending.notStarted}`);
    const result = await this.#resultOf(files, ending);
    for (const { path, time_execution } of result.recorded) this.#recorded.set(path, time_execution);
    if (ending.code !== 0) {
      this.#hasFailed = true;
      say(`the command ended with ${ending.code} (batch ${this.#batches}, ${files.length} test files)`);
    }
    return result;
  }

  async #resultOf(files: readonly PlannedFile[], { code, seconds }: Ending): Promise<BatchResult> {
    const isSuccess = code === 0;
    const nothing: BatchResult = { recorded: [], failed: files.map(({ path }) => path), isRun: false };
    if (this.reportGlobs.length === 0) {
      // Ended in the middle: only a report knows what ran.
      return this.runner.signal === null ? resultByClock(files, seconds, isSuccess) : nothing;
    }
    const known = new GivenFiles(files.map(({ path }) => path));
    const results = [];
    for (const path of await this.#watch.written()) {
      try {
        results.push(timesOf(readReport(path), known));
      } catch (error) {
        say(`WARNING: ${(error as Error).message}`);
      }
    }
    const { byFile, strays } = together(results);
    if (byFile.size > 0) return resultByReports(files, byFile, isSuccess);
    const why = results.length === 0 ? 'the command wrote no report there' : `of its files none is in the reports, which tell of ${described(strays[0])}`;
    say(`WARNING: --junit ${this.reportGlobs.join(' ')}: ${why}; ${isSuccess ? 'the time of the batch is shared out instead' : 'its test files count as failed and not run'}`);
    return isSuccess ? resultByClock(files, seconds, true) : nothing;
  }
}

function described(stray: TestCase | undefined): string {
  if (!stray) return 'no test case';
  const { file, suite, classname, name } = stray;
  return JSON.stringify({ ...(file !== null && { file }), suite: suite.name, classname, name });
}
