import { pluralize } from '../plural.js';
import { ListedFiles } from '../reports/known-files.js';
import { printToStderr } from '../terminal.js';
import { faultText, UsageError } from '../usage-error.js';
import { BatchList } from './batch-list.js';
import { type BatchReports, batchLabel, warnOfGaps } from './batch-reports.js';
import {
  type BatchResult,
  type FailurePolicy,
  failureReason,
  type RecordedFile,
  resultFromExitCode,
  resultFromReports,
} from './batch-results.js';
import { commandFault, commandLine, commandWithListFile, readsListFile, splitByLength } from './command-line.js';
import type { CommandResult, CommandRunner } from './command-runner.js';
import type { PlannedFile } from './planned-file.js';
import { failureNames, ReportWatch, readReports } from './report-files.js';
import { emptyTest } from './test-files.js';

/** The command could not be started: nothing was run, and nothing will be. */
export class CommandNotStarted extends Error {
  constructor(
    readonly exitCode: number,
    message: string,
  ) {
    super(message);
  }
}

/** The exit code of a shell for a command that exists and cannot be run. */
const CANNOT_RUN = 126;

/** The batches that one node runs, and their results. */
export class NodeRun {
  #recorded = new Map<string, RecordedFile>();
  /** The files that failed or may not have run. */
  readonly failed = new Set<string>();
  readonly #reportWatch: ReportWatch;
  readonly #readsListFile: boolean;
  readonly #list = new BatchList();
  readonly #mayBeEmpty: (path: string) => boolean;
  /** How often the command was run. */
  commandCount = 0;
  hasFailed = false;

  /** @param allFiles the files of all nodes: a report may name a file of another batch */
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
    const fault = commandFault(command, allFiles);
    if (fault !== null) throw new UsageError([faultText(fault)]);
    this.#reportWatch = new ReportWatch(reportGlobs);
    this.#readsListFile = readsListFile(command);
    this.#mayBeEmpty = emptyTest(policy.mayBeEmpty);
  }

  /** Returns the files that ran since the last call, each once. */
  takeRecorded(): RecordedFile[] {
    const recorded = this.#recorded;
    this.#recorded = new Map();
    return [...recorded.values()];
  }

  /** Runs the command for a batch, in several parts if the paths do not fit into one command. Throws CommandNotStarted. */
  async runBatch(files: readonly PlannedFile[]): Promise<BatchResult> {
    const parts = this.#readsListFile ? [files] : splitByLength(files);
    if (parts.length > 1)
      printToStderr(
        `the paths of ${pluralize(files.length, 'test file')} in one batch are too long for one command: running ${parts.length} commands`,
      );
    const results: BatchResult[] = [];
    for (const part of parts) results.push(this.runner.signal === null ? await this.#runCommand(part) : notRunResult(part));
    return {
      recorded: results.flatMap(({ recorded }) => recorded),
      failed: results.flatMap(({ failed }) => failed),
    };
  }

  async #runCommand(files: readonly PlannedFile[]): Promise<BatchResult> {
    this.commandCount += 1;
    await this.#reportWatch.snapshot();
    const command = this.#commandFor(files.map(({ path }) => path));
    const ended = await this.runner.run(command, { ...this.environment, BALLAST_BATCH: String(this.commandCount) });
    if (ended.startError !== null)
      throw new CommandNotStarted(ended.exitCode, `cannot start the command ${this.command[0]}: ${ended.startError}`);
    const result = this.runner.signal === null ? await this.#resultOf(files, ended) : await this.#interruptedResult(files);
    for (const file of result.recorded) this.#recorded.set(file.path, file);
    if (this.runner.signal === null) {
      for (const path of result.failed) this.failed.add(path);
      if (ended.exitCode !== 0) printToStderr(`the command ended with ${ended.exitCode} (${batchLabel(this.commandCount, files)})`);
    }
    this.hasFailed ||= result.failed.length > 0;
    return result;
  }

  #commandFor(paths: readonly string[]): string[] {
    if (!this.#readsListFile) return commandLine(this.command, paths);
    try {
      return commandWithListFile(this.command, this.#list.write(paths));
    } catch (error) {
      throw new CommandNotStarted(CANNOT_RUN, `cannot write the test files of the batch to a file for {file}: ${(error as Error).message}`);
    }
  }

  /** Removes what the commands do not need any more. */
  end(): void {
    this.#list.remove();
  }

  /** A signal ended the command early: only the files that passed in a report are known to have run. */
  async #interruptedResult(files: readonly PlannedFile[]): Promise<BatchResult> {
    if (this.reportGlobs.length === 0) return notRunResult(files);
    const { byFile } = await this.#readReports(files);
    const passed = files.filter(({ path }) => byFile.get(path)?.isFailed === false);
    return { ...notRunResult(files), recorded: resultFromReports(passed, byFile, true).recorded };
  }

  async #resultOf(files: readonly PlannedFile[], { exitCode, seconds }: CommandResult): Promise<BatchResult> {
    if (this.reportGlobs.length === 0) return resultFromExitCode(files, seconds, exitCode === 0);
    const reports = await this.#readReports(files);
    const { byFile, unreadable, areAllLoaded } = reports;
    const isEmpty = areAllLoaded ? () => true : this.#mayBeEmpty;
    const unreported = files.map(({ path }) => path).filter(path => !byFile.has(path) && !isEmpty(path));
    const reason = exitCode === 0 ? failureReason({ failed: failureNames(reports), unreadable, unreported }, this.policy) : null;
    const isSuccess = exitCode === 0 && reason === null;
    const batch = { number: this.commandCount, files, reportGlobs: this.reportGlobs };
    const areReportsUsable = warnOfGaps(batch, reports, unreported, isSuccess, reason);
    return !areReportsUsable && isSuccess ? resultFromExitCode(files, seconds, true) : resultFromReports(files, byFile, isSuccess, isEmpty);
  }

  async #readReports(files: readonly PlannedFile[]): Promise<BatchReports> {
    const list = new ListedFiles(
      files.map(({ path }) => path),
      this.allFiles,
    );
    const { results, count, unusable } = readReports(await this.#reportWatch.changed(), list);
    for (const { message, isOtherXml } of unusable) if (isOtherXml && this.runner.signal === null) printToStderr(`WARNING: ${message}`);
    const unreadable = unusable.filter(({ isOtherXml }) => !isOtherXml).map(({ message }) => message);
    return { ...results, list, count, unreadable };
  }
}

function notRunResult(files: readonly PlannedFile[]): BatchResult {
  return { recorded: [], failed: files.map(({ path }) => path) };
}
