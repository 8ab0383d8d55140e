import type { TestCase } from '../reports/junit.js';
import { ListedFiles } from '../reports/known-files.js';
import { OtherXml } from '../reports/report.js';
import { collectResults, mergeResults, type ReportResults } from '../reports/report-results.js';
import { abbreviate, pluralize, printToStderr } from '../terminal.js';
import {
  type BatchResult,
  type FailurePolicy,
  failureReason,
  type PlannedFile,
  type RecordedFile,
  resultFromExitCode,
  resultFromReports,
} from './batch-results.js';
import { commandError, commandLine, splitByLength } from './command-line.js';
import type { CommandResult, CommandRunner } from './command-runner.js';
import { failureNames, ReportWatch, readReport } from './report-files.js';
import { UsageError } from './usage-error.js';

/** A command that cannot be started: nothing was run, and nothing will be. */
export class CommandNotStarted extends Error {
  constructor(
    readonly exitCode: number,
    message: string,
  ) {
    super(message);
  }
}

interface BatchReports extends ReportResults {
  /** The number of reports that were written. */
  count: number;
  /** Reports that cannot be read. Other kinds of XML do not count. */
  unreadable: string[];
}

/** What one node runs, batch by batch, and what became of it. */
export class NodeRun {
  #recorded = new Map<string, number>();
  readonly #failed = new Set<string>();
  readonly #reportWatch: ReportWatch;
  commandCount = 0;
  #hasFailed = false;

  /** @param allFiles the files of all nodes, as reports may tell of others than those of a batch */
  constructor(
    readonly allFiles: readonly string[],
    readonly command: readonly string[],
    readonly reportGlobs: readonly string[],
    readonly policy: FailurePolicy,
    readonly runner: CommandRunner,
    readonly environment: NodeJS.ProcessEnv,
  ) {
    if (policy.failUnreported && reportGlobs.length === 0)
      throw new UsageError(['--fail-unreported needs the reports that the command writes: name them with --junit']);
    const complaint = commandError(command, allFiles);
    if (complaint !== null) throw new UsageError([complaint]);
    this.#reportWatch = new ReportWatch(reportGlobs);
  }

  get hasFailed(): boolean {
    return this.#hasFailed;
  }

  get failed(): string[] {
    return [...this.#failed];
  }

  /** How often the command was run. */
  get commands(): number {
    return this.commandCount;
  }

  /** Each file that ran since it was asked for the last time, once. */
  takeRecorded(): RecordedFile[] {
    const recorded = this.#recorded;
    this.#recorded = new Map();
    return [...recorded].map(([path, time_execution]) => ({ path, time_execution }));
  }

  /** Runs the command for a batch, as often as the length of its arguments demands. Throws NotStarted. */
  async runBatch(files: readonly PlannedFile[]): Promise<BatchResult> {
    const parts = splitByLength(files);
    if (parts.length > 1)
      printToStderr(`${pluralize(files.length, 'test file')} of a batch are too many for one command: run by ${parts.length}`);
    const results: BatchResult[] = [];
    for (const part of parts) results.push(this.runner.signal === null ? await this.#runCommand(part) : notRunResult(part));
    return {
      recorded: results.flatMap(({ recorded }) => recorded),
      failed: results.flatMap(({ failed }) => failed),
      allRan: results.every(({ allRan }) => allRan),
    };
  }

  async #runCommand(files: readonly PlannedFile[]): Promise<BatchResult> {
    this.commandCount += 1;
    await this.#reportWatch.snapshot();
    const command = commandLine(
      this.command,
      files.map(({ path }) => path),
    );
    const ending = await this.runner.run(command, { ...this.environment, BALLAST_BATCH: String(this.commandCount) });
    if (ending.startError !== null)
      throw new CommandNotStarted(ending.exitCode, `cannot start the command ${this.command[0]}: ${ending.startError}`);
    const result = await this.#resultOf(files, ending);
    for (const { path, time_execution } of result.recorded) this.#recorded.set(path, time_execution);
    if (this.runner.signal === null) {
      for (const path of result.failed) this.#failed.add(path);
      if (ending.exitCode !== 0) printToStderr(`the command ended with ${ending.exitCode} (${this.#batchLabel(files)})`);
    }
    this.#hasFailed ||= result.failed.length > 0;
    return result;
  }

  async #resultOf(files: readonly PlannedFile[], { exitCode, seconds }: CommandResult): Promise<BatchResult> {
    const isInterrupted = this.runner.signal !== null;
    // Ended in the middle: only a report knows what ran.
    if (this.reportGlobs.length === 0) return isInterrupted ? notRunResult(files) : resultFromExitCode(files, seconds, exitCode === 0);
    const reports = await this.#readReports(files);
    const { byFile, unreadable } = reports;
    // What failed may have failed for that.
    if (isInterrupted)
      return {
        ...notRunResult(files),
        recorded: resultFromReports(
          files.filter(({ path }) => byFile.get(path)?.isFailed === false),
          byFile,
          true,
        ).recorded,
      };
    const unreported = files.map(({ path }) => path).filter(path => !byFile.has(path));
    const why = exitCode === 0 ? failureReason({ failed: failureNames(reports), unreadable, unreported }, this.policy) : null;
    if (why !== null) printToStderr(`the command ended with 0, but the batch failed (${this.#batchLabel(files)}): ${why}`);
    const isSuccess = exitCode === 0 && why === null;
    const isUntold = this.#warn(files, reports, unreported, isSuccess);
    return isUntold && isSuccess ? resultFromExitCode(files, seconds, true) : resultFromReports(files, byFile, isSuccess);
  }

  /** Warns of what the reports leave out. Returns whether they say nothing about the batch, not even that it had nothing to run. */
  #warn(
    files: readonly PlannedFile[],
    { byFile, unmatched, count }: BatchReports,
    unreported: readonly string[],
    isSuccess: boolean,
  ): boolean {
    const globs = this.reportGlobs.join(' ');
    const batch = new Set(files.map(({ path }) => path));
    const others = [...byFile.keys()].filter(path => !batch.has(path));
    const hint = isSuccess ? ' (--fail-unreported: fail instead)' : '';
    if (unreported.length < files.length) {
      if (others.length > 0)
        printToStderr(`WARNING: the command ran ${pluralize(others.length, 'test file')} of other batches, too: ${abbreviate(others)}`);
      const stray =
        unmatched.length > 0
          ? `; it does not name the file of ${pluralize(unmatched.length, 'test case')}, such as ${describeCase(unmatched[0])}`
          : '';
      if (unreported.length > 0 && (isSuccess || stray !== ''))
        printToStderr(
          `WARNING: --junit ${globs} does not mention ${unreported.length} of ${pluralize(files.length, 'test file')}: ${abbreviate(unreported)}${stray}${hint}`,
        );
      return false;
    }
    const isEmpty = count > 0 && unmatched.length === 0 && others.length === 0;
    if (isEmpty && isSuccess) {
      printToStderr(
        `WARNING: no test was run in batch ${this.commandCount}, ${pluralize(files.length, 'test file')}: ${abbreviate(unreported)}${hint}`,
      );
      return false;
    }
    const why =
      count === 0
        ? 'the command wrote no report there'
        : `the reports mention no file of the batch, but ${describeCase(unmatched[0]) ?? (abbreviate(others) || 'no test case')}`;
    printToStderr(
      `WARNING: --junit ${globs}: ${why}; ${isSuccess ? 'the time of the batch is shared out instead' : 'its test files count as failed and not run'}`,
    );
    return true;
  }

  async #readReports(files: readonly PlannedFile[]): Promise<BatchReports> {
    const known = new ListedFiles(
      files.map(({ path }) => path),
      this.allFiles,
    );
    const results: ReportResults[] = [];
    const unreadable: string[] = [];
    for (const path of await this.#reportWatch.changed()) {
      try {
        results.push(collectResults(readReport(path), known));
      } catch (error) {
        const { message, cause } = error as Error;
        if (!(cause instanceof OtherXml)) unreadable.push(path);
        if (this.runner.signal === null) printToStderr(`WARNING: ${message}`);
      }
    }
    return { ...mergeResults(results), count: results.length, unreadable };
  }

  #batchLabel(files: readonly PlannedFile[]): string {
    return `batch ${this.commandCount}, ${pluralize(files.length, 'test file')}`;
  }
}

function notRunResult(files: readonly PlannedFile[]): BatchResult {
  return { recorded: [], failed: files.map(({ path }) => path), allRan: false };
}

function describeCase(stray: TestCase | undefined): string | null {
  if (!stray) return null;
  const { file, suite, classname, name } = stray;
  return JSON.stringify({ ...(file !== null && { file }), suite: suite.name, classname, name });
}
