import type { TestCase } from '../reports/junit.js';
import { GivenFiles } from '../reports/known-files.js';
import { OtherXml } from '../reports/report.js';
import { type Results, timesOf, together } from '../reports/times.js';
import { counted, named, say } from '../terminal.js';
import {
  type BatchResult,
  type Judgement,
  type PlannedFile,
  type RecordedFile,
  resultByClock,
  resultByReports,
  whyFailed,
} from './batch-results.js';
import { complaintOf, type Ending, inCommands, type Runner, withFiles } from './command.js';
import { failuresIn, ReportWatch, readReport } from './report-files.js';
import { UsageError } from './usage-error.js';

/** A command that cannot be started: nothing was run, and nothing will be. */
export class NotStarted extends Error {
  constructor(
    readonly code: number,
    message: string,
  ) {
    super(message);
  }
}

interface Reports extends Results {
  /** The number of reports that were written. */
  count: number;
  /** Reports that cannot be read. Other kinds of XML do not count. */
  unreadable: string[];
}

/** What one node runs, batch by batch, and what became of it. */
export class NodeRun {
  #recorded = new Map<string, number>();
  readonly #failed = new Set<string>();
  readonly #watch: ReportWatch;
  #commands = 0;
  #hasFailed = false;

  /** @param all the files of all nodes, as reports may tell of others than those of a batch */
  constructor(
    readonly all: readonly string[],
    readonly command: readonly string[],
    readonly reportGlobs: readonly string[],
    readonly judgement: Judgement,
    readonly runner: Runner,
    readonly environment: NodeJS.ProcessEnv,
  ) {
    if (judgement.failUnreported && reportGlobs.length === 0)
      throw new UsageError(['--fail-unreported needs the reports that the command writes: name them with --junit']);
    const complaint = complaintOf(command, all);
    if (complaint !== null) throw new UsageError([complaint]);
    this.#watch = new ReportWatch(reportGlobs);
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  get failed(): string[] {
    return [...this.#failed];
  }

  /** How often the command was run. */
  get commands(): number {
    return this.#commands;
  }

  /** Each file that ran since it was asked for the last time, once. */
  takeRecorded(): RecordedFile[] {
    const recorded = this.#recorded;
    this.#recorded = new Map();
    return [...recorded].map(([path, time_execution]) => ({ path, time_execution }));
  }

  /** Runs the command for a batch, as often as the length of its arguments demands. Throws NotStarted. */
  async run(files: readonly PlannedFile[]): Promise<BatchResult> {
    const parts = inCommands(files);
    if (parts.length > 1) say(`${counted(files.length, 'test file')} of a batch are too many for one command: run by ${parts.length}`);
    const results: BatchResult[] = [];
    for (const part of parts) results.push(this.runner.signal === null ? await this.#runCommand(part) : notRun(part));
    return {
      recorded: results.flatMap(({ recorded }) => recorded),
      failed: results.flatMap(({ failed }) => failed),
      isRun: results.every(({ isRun }) => isRun),
    };
  }

  async #runCommand(files: readonly PlannedFile[]): Promise<BatchResult> {
    this.#commands += 1;
    await this.#watch.look();
    const command = withFiles(
      this.command,
      files.map(({ path }) => path),
    );
    const ending = await this.runner.run(command, { ...this.environment, BALLAST_BATCH: String(this.#commands) });
    if (ending.notStarted !== null) throw new NotStarted(ending.code, `cannot start the command ${this.command[0]}: ${ending.notStarted}`);
    const result = await this.#resultOf(files, ending);
    for (const { path, time_execution } of result.recorded) this.#recorded.set(path, time_execution);
    if (this.runner.signal === null) {
      for (const path of result.failed) this.#failed.add(path);
      if (ending.code !== 0) say(`the command ended with ${ending.code} (${this.#batchOf(files)})`);
    }
    this.#hasFailed ||= result.failed.length > 0;
    return result;
  }

  async #resultOf(files: readonly PlannedFile[], { code, seconds }: Ending): Promise<BatchResult> {
    const isInterrupted = this.runner.signal !== null;
    // Ended in the middle: only a report knows what ran.
    if (this.reportGlobs.length === 0) return isInterrupted ? notRun(files) : resultByClock(files, seconds, code === 0);
    const reports = await this.#readReports(files);
    const { byFile, unreadable } = reports;
    // What failed may have failed for that.
    if (isInterrupted)
      return {
        ...notRun(files),
        recorded: resultByReports(
          files.filter(({ path }) => byFile.get(path)?.isFailed === false),
          byFile,
          true,
        ).recorded,
      };
    const unreported = files.map(({ path }) => path).filter(path => !byFile.has(path));
    const why = code === 0 ? whyFailed({ failed: failuresIn(reports), unreadable, unreported }, this.judgement) : null;
    if (why !== null) say(`the command ended with 0, but the batch failed (${this.#batchOf(files)}): ${why}`);
    const isSuccess = code === 0 && why === null;
    const isUntold = this.#warn(files, reports, unreported, isSuccess);
    return isUntold && isSuccess ? resultByClock(files, seconds, true) : resultByReports(files, byFile, isSuccess);
  }

  /** Warns of what the reports leave out. Returns whether they say nothing about the batch, not even that it had nothing to run. */
  #warn(files: readonly PlannedFile[], { byFile, strays, count }: Reports, unreported: readonly string[], isSuccess: boolean): boolean {
    const globs = this.reportGlobs.join(' ');
    const batch = new Set(files.map(({ path }) => path));
    const others = [...byFile.keys()].filter(path => !batch.has(path));
    const hint = isSuccess ? ' (--fail-unreported: fail instead)' : '';
    if (unreported.length < files.length) {
      if (others.length > 0) say(`WARNING: the command ran ${counted(others.length, 'test file')} of other batches, too: ${named(others)}`);
      const stray =
        strays.length > 0 ? `; it does not name the file of ${counted(strays.length, 'test case')}, such as ${described(strays[0])}` : '';
      if (unreported.length > 0 && (isSuccess || stray !== ''))
        say(
          `WARNING: --junit ${globs} does not mention ${unreported.length} of ${counted(files.length, 'test file')}: ${named(unreported)}${stray}${hint}`,
        );
      return false;
    }
    const isEmpty = count > 0 && strays.length === 0 && others.length === 0;
    if (isEmpty && isSuccess) {
      say(`WARNING: no test was run in batch ${this.#commands}, ${counted(files.length, 'test file')}: ${named(unreported)}${hint}`);
      return false;
    }
    const why =
      count === 0
        ? 'the command wrote no report there'
        : `the reports mention no file of the batch, but ${described(strays[0]) ?? (named(others) || 'no test case')}`;
    say(
      `WARNING: --junit ${globs}: ${why}; ${isSuccess ? 'the time of the batch is shared out instead' : 'its test files count as failed and not run'}`,
    );
    return true;
  }

  async #readReports(files: readonly PlannedFile[]): Promise<Reports> {
    const known = new GivenFiles(
      files.map(({ path }) => path),
      this.all,
    );
    const results: Results[] = [];
    const unreadable: string[] = [];
    for (const path of await this.#watch.written()) {
      try {
        results.push(timesOf(readReport(path), known));
      } catch (error) {
        const { message, cause } = error as Error;
        if (!(cause instanceof OtherXml)) unreadable.push(path);
        if (this.runner.signal === null) say(`WARNING: ${message}`);
      }
    }
    return { ...together(results), count: results.length, unreadable };
  }

  #batchOf(files: readonly PlannedFile[]): string {
    return `batch ${this.#commands}, ${counted(files.length, 'test file')}`;
  }
}

function notRun(files: readonly PlannedFile[]): BatchResult {
  return { recorded: [], failed: files.map(({ path }) => path), isRun: false };
}

function described(stray: TestCase | undefined): string | null {
  if (!stray) return null;
  const { file, suite, classname, name } = stray;
  return JSON.stringify({ ...(file !== null && { file }), suite: suite.name, classname, name });
}
