import type { TestCase } from '../reports/junit.js';
import { GivenFiles } from '../reports/known-files.js';
import { type Results, timesOf, together } from '../reports/times.js';
import { counted, named, say } from '../terminal.js';
import { type BatchResult, type PlannedFile, type RecordedFile, resultByClock, resultByReports } from './batch-results.js';
import { type Ending, inCommands, type Runner, withFiles } from './command.js';
import { readReport, ReportWatch } from './report-files.js';

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
    readonly runner: Runner,
    readonly environment: NodeJS.ProcessEnv,
  ) {
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
    return { recorded: results.flatMap(({ recorded }) => recorded), failed: results.flatMap(({ failed }) => failed), isRun: results.every(({ isRun }) => isRun) };
  }

  async #runCommand(files: readonly PlannedFile[]): Promise<BatchResult> {
    this.#commands += 1;
    await this.#watch.look();
    const command = withFiles(this.command, files.map(({ path }) => path));
    const ending = await this.runner.run(command, { ...this.environment, BALLAST_BATCH: String(this.#commands) });
    if (ending.notStarted !== null) throw new NotStarted(ending.code, `cannot start the command ${this.command[0]}: ${ending.notStarted}`);
    const result = await this.#resultOf(files, ending);
    for (const { path, time_execution } of result.recorded) this.#recorded.set(path, time_execution);
    if (this.runner.signal === null) {
      for (const path of result.failed) this.#failed.add(path);
      if (ending.code !== 0) say(`the command ended with ${ending.code} (batch ${this.#commands}, ${counted(files.length, 'test file')})`);
    }
    this.#hasFailed ||= ending.code !== 0;
    return result;
  }

  async #resultOf(files: readonly PlannedFile[], { code, seconds }: Ending): Promise<BatchResult> {
    const isSuccess = code === 0;
    const isInterrupted = this.runner.signal !== null;
    const globs = this.reportGlobs.join(' ');
    // Ended in the middle: only a report knows what ran.
    if (this.reportGlobs.length === 0) return isInterrupted ? notRun(files) : resultByClock(files, seconds, isSuccess);
    const reports = await this.#readReports(files);
    const { byFile, strays } = together(reports);
    // What failed may have failed for that.
    if (isInterrupted) return { ...notRun(files), recorded: resultByReports(files.filter(({ path }) => byFile.get(path)?.isFailed === false), byFile, true).recorded };
    const batch = new Set(files.map(({ path }) => path));
    const others = [...byFile.keys()].filter(path => !batch.has(path));
    if (byFile.size > others.length) {
      if (others.length > 0) say(`WARNING: the command ran ${counted(others.length, 'test file')} of other batches, too: ${named(others)}`);
      const untold = files.filter(({ path }) => !byFile.has(path)).length;
      if (strays.length > 0 && untold > 0) say(`WARNING: --junit ${globs}: of ${counted(untold, 'test file')} it tells nothing, and of ${counted(strays.length, 'test case')} not in which file, such as ${described(strays[0])}`);
      return resultByReports(files, byFile, isSuccess);
    }
    const isEmpty = reports.length > 0 && strays.length === 0 && others.length === 0;
    if (isEmpty && isSuccess) {
      say(`no test was run in batch ${this.#commands}: ${counted(files.length, 'test file')}`);
      return resultByReports(files, byFile, true);
    }
    const why = reports.length === 0 ? 'the command wrote no report there' : `of its files none is in the reports, which tell of ${described(strays[0]) ?? (named(others) || 'no test case')}`;
    say(`WARNING: --junit ${globs}: ${why}; ${isSuccess ? 'the time of the batch is shared out instead' : 'its test files count as failed and not run'}`);
    return isSuccess ? resultByClock(files, seconds, true) : notRun(files);
  }

  async #readReports(files: readonly PlannedFile[]): Promise<Results[]> {
    const known = new GivenFiles(files.map(({ path }) => path), this.all);
    const results: Results[] = [];
    for (const path of await this.#watch.written()) {
      try {
        results.push(timesOf(readReport(path), known));
      } catch (error) {
        if (this.runner.signal === null) say(`WARNING: ${(error as Error).message}`);
      }
    }
    return results;
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
