import { tmpdir } from 'node:os';
import { durationText } from '../../base/duration.js';
import { agree, pluralize } from '../../base/plural.js';
import { printToStderr } from '../../base/terminal.js';
import { faultText, UsageError } from '../../base/usage-error.js';
import { pieceOf } from '../../protocol/piece-path.js';
import { Mutes } from '../mutes/mutes.js';
import { askFilter } from '../pieces/filter.js';
import type { CaseReport, Piece, PieceSupport } from '../pieces/piece.js';
import { runPiece, runWhole } from '../pieces/piece-run.js';
import { Selecting } from '../pieces/selecting.js';
import { casesInReports, TestCases } from '../pieces/test-cases.js';
import { ListedFiles } from '../reports/known-files.js';
import type { ReportResults } from '../reports/report-results.js';
import { BatchList } from './batch-list.js';
import { type BatchReports, batchLabel, warnOfGaps } from './batch-reports.js';
import {
  type BatchResult,
  type FailurePolicy,
  failureReason,
  MOST_OWN_EXIT_CODE,
  mutedIn,
  type RecordedFile,
  resultFromExitCode,
  resultFromReports,
  withMutes,
} from './batch-results.js';
import { commandFault, commandLine, commandWithListFile, readsListFile, splitByLength } from './command/command-line.js';
import type { CommandLimit, CommandResult, CommandRunner } from './command/command-runner.js';
import type { PlannedFile } from './planned-file.js';
import { areFailuresMuted, failureNames, ReportWatch, readReports } from './report-files.js';
import { emptyTest } from './test-files.js';
import { type TimeLimitOption, timeLimitOf } from './time-limit.js';

/** The command could not be started: nothing was run, and nothing will be. */
export class CommandNotStarted extends Error {
  constructor(
    readonly exitCode: number,
    message: string,
  ) {
    super(message);
  }
}

/** A batch none of whose files would end must not take its limit for each of them. */
const MOST_HUNG_IN_A_ROW = 3;

/** The exit code of a shell for a command that exists and cannot be run. */
const CANNOT_RUN = 126;

/** The batches that one node runs, and their results. */
export class NodeRun {
  #recorded = new Map<string, RecordedFile>();
  /** The files that failed or may not have run, without those whose failures are muted. */
  readonly failed = new Set<string>();
  /** Those of `failed` that passed in their retries, on any node. */
  readonly passedAgain = new Set<string>();
  /** The failures in reports of files that are not of the batch, or not known: no retry runs them again. */
  readonly strayFailures = new Set<string>();
  /** The files of which, in one run of the command or more, no report told whether they passed: its exit code decided. */
  readonly untold = new Set<string>();
  /** The files whose failures are muted. */
  readonly muted = new Set<string>();
  /** The files whose command hung when it ran them alone, with the seconds that it had. */
  readonly hung = new Map<string, number>();
  /** The node's reports on the test cases of files. */
  readonly testCases: TestCases;
  readonly #reportWatch: ReportWatch;
  readonly #readsListFile: boolean;
  readonly #list = new BatchList();
  readonly #mayBeEmpty: (path: string) => boolean;
  /** See askFilter. By file: a command may choose its configuration by the file. */
  readonly #filters = new Map<string, Promise<string | null>>();
  /** Number of runs of the command. */
  commandCount = 0;
  hasFailed = false;

  /**
   * @param allFiles the files of all nodes: a report may name a file of another batch
   * @param policy isolates false: the files of a command that hung all failed, and do not run one by one
   * @param pieces null: it runs whole files only
   */
  constructor(
    readonly allFiles: readonly string[],
    readonly command: readonly string[],
    readonly reportGlobs: readonly string[],
    readonly policy: FailurePolicy & TimeLimitOption & { isolates?: boolean },
    readonly runner: CommandRunner,
    readonly environment: NodeJS.ProcessEnv,
    readonly pieces: PieceSupport | null = null,
    readonly mutes = new Mutes([]),
  ) {
    if (policy.failUnreported && reportGlobs.length === 0)
      throw new UsageError(['--fail-unreported needs the reports that the command writes: name them with --junit']);
    const fault = commandFault(command, allFiles);
    if (fault !== null) throw new UsageError([faultText(fault)]);
    this.testCases = new TestCases(pieces?.name ?? null);
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

  /** Forgets the files that ran and are recorded: all but these. */
  keepRecorded(paths: readonly string[]): void {
    const kept = new Set(paths);
    for (const path of this.#recorded.keys()) if (!kept.has(path)) this.#recorded.delete(path);
  }

  /** What failed, and passed in no retry: files, and test cases of unknown files. */
  get failures(): string[] {
    return [...new Set([...[...this.failed].filter(path => !this.passedAgain.has(path)), ...this.strayFailures])];
  }

  /**
   * Runs the command for a batch, in several parts if the paths do not fit into one command or it has pieces. Throws CommandNotStarted.
   *
   * @param isRetry its file failed before. It passes only if a report has a test of it that ran, and its cases do not replace those that failed then
   */
  async runBatch(files: readonly PlannedFile[], isRetry = false): Promise<BatchResult> {
    const whole = files.filter(({ piece }) => !piece);
    const parts = whole.length === 0 ? [] : this.#readsListFile ? [whole] : splitByLength(whole);
    if (parts.length > 1)
      printToStderr(
        `the paths of ${pluralize(whole.length, 'test file')} in one batch are too long for one command: running ${parts.length} commands`,
      );
    const runs = [
      ...parts.map(part => () => this.#runFiles(part, isRetry)),
      ...files.flatMap(({ piece, ...file }) => (piece ? () => this.#runPiece(piece, file, isRetry) : [])),
    ];
    const results: BatchResult[] = [];
    for (const run of runs) if (this.runner.signal === null) results.push(await run());
    const { recorded, failed } = joined(results);
    const ran = new Set([...recorded.map(({ path }) => path), ...failed]);
    const notRun = files.flatMap(({ path }) => (this.runner.signal && !ran.has(path) ? path : []));
    return { recorded, failed: [...failed, ...notRun] };
  }

  async #runFiles(files: readonly PlannedFile[], isRetry: boolean): Promise<BatchResult> {
    const { result, reports, isHung } = await this.#execute(files, null, isRetry);
    // A runner may have loaded a file, and not begun it.
    if (isHung && this.#isolates(files))
      return this.#isolate(
        files,
        result.recorded.filter(({ no_test }) => !no_test),
      );
    if (isHung) {
      // What an earlier report says of the file does not count.
      for (const { path } of files) this.#recorded.delete(path);
      return this.#note(notRunResult(files));
    }
    for (const { path, time_execution, outcome } of result.recorded) {
      const cases = reports?.get(path)?.cases;
      const hasPassed = outcome === undefined;
      if (cases && !(isRetry && hasPassed)) this.testCases.addFile(path, time_execution, cases);
    }
    return this.#note(result);
  }

  /**
   * Runs one by one the files of a command that hung: those that had not passed, and the others only if none of these hangs. A file that passed
   * may have kept the runner from ending.
   */
  async #isolate(files: readonly PlannedFile[], passed: RecordedFile[]): Promise<BatchResult> {
    this.#note({ recorded: passed, failed: [] });
    const hasPassed = new Set(passed.map(({ path }) => path));
    const others = await this.#runEach(files.filter(({ path }) => !hasPassed.has(path)));
    const isFound = ({ failed }: BatchResult) => this.runner.signal !== null || failed.some(path => this.hung.has(path));
    if (isFound(others)) return joined([{ recorded: passed, failed: [] }, others]);
    const all = joined([others, await this.#runEach(files.filter(({ path }) => hasPassed.has(path)))]);
    const hint = 'if they take so long together, give a longer --time-limit';
    if (!isFound(all)) printToStderr(`WARNING: none of the ${files.length} test files hung alone; ${hint}`);
    return all;
  }

  async #runEach(files: readonly PlannedFile[]): Promise<BatchResult> {
    const results: BatchResult[] = [];
    let hungInARow = 0;
    for (const [i, file] of files.entries()) {
      if (this.runner.signal !== null) break;
      if (hungInARow === MOST_HUNG_IN_A_ROW) {
        const rest = files.slice(i);
        printToStderr(
          `${hungInARow} test files in a row hung alone, so ${pluralize(rest.length, 'other test file')} of this batch ${agree(rest.length, 'fails', 'fail')} without being run`,
        );
        results.push(this.#note(notRunResult(rest)));
        break;
      }
      printToStderr(`running ${file.path} alone (${i + 1} of ${files.length})`);
      results.push(await this.#runFiles([file], false));
      hungInARow = this.hung.has(file.path) ? hungInARow + 1 : 0;
    }
    return joined(results);
  }

  async #runPiece(piece: Piece, { expected, duration }: PlannedFile, isRetry: boolean): Promise<BatchResult> {
    const runFile = async (part: Piece | null) => {
      // The pieces of a file take about the same.
      const pieces = part ? 1 : pieceOf(piece.path)!.count;
      const file = { path: piece.file, expected, ...(duration !== undefined && { duration: pieces * duration }) };
      const { result, reports, remedy, isHung } = await this.#execute([file], part, isRetry);
      return this.runner.signal === null && !isHung ? { result, report: reports?.get(piece.file), remedy } : null;
    };
    const whyWhole = await this.#filterOf(piece.file);
    if (this.runner.signal !== null) return this.#note(notRunResult([piece]));
    return this.#note(
      await (whyWhole === null ? runPiece(piece, runFile, this.testCases) : runWhole(piece, whyWhole, runFile, this.testCases)),
    );
  }

  /** Runs the command once. @param piece of the only file; null: the files are whole */
  async #execute(files: readonly PlannedFile[], piece: Piece | null, isRetry: boolean): Promise<Executed> {
    this.commandCount += 1;
    await this.#reportWatch.snapshot();
    if (this.runner.signal !== null) return { result: notRunResult(files), reports: null, remedy: '', isHung: false };
    const selecting = this.pieces && this.#select(this.pieces, piece);
    const remedy = selecting?.remedy ?? '';
    try {
      const paths = files.map(({ path }) => path);
      const command = this.#commandFor(paths, selecting?.selection.args ?? []);
      const environment = { ...this.#environmentOf(this.commandCount), ...selecting?.selection.environment };
      let passed = notRunResult(files);
      // What a runner reports when it is ended may be of files that were cut off.
      const limit = this.#limitOf(files, async seconds => void (passed = await this.#passedResult(files, seconds)));
      const ended = await this.runner.run(command, environment, undefined, limit);
      if (ended.startError !== null)
        throw new CommandNotStarted(ended.exitCode, `cannot start the command ${this.command[0]}: ${ended.startError}`);
      if (this.runner.signal !== null)
        return { result: await this.#passedResult(files, ended.seconds), reports: null, remedy, isHung: false };
      if (ended.isHung) {
        this.#tellHung(files, piece, limit!.seconds);
        return { result: passed, reports: null, remedy, isHung: true };
      }
      const { result, cases } = await this.#resultOf(files, ended, isRetry);
      if (ended.exitCode !== 0)
        printToStderr(
          `the command ended with ${ended.exitCode} (${batchLabel(this.commandCount, files)})${result.failed.length === 0 ? ': no test was selected, and the files count as run' : ''}`,
        );
      const reports = selecting ? selecting.reportsOf(paths, cases) : casesInReports(cases);
      if (reports === null && ended.exitCode === 0 && cases.size > 0) this.testCases.addSilence(remedy);
      return { result, reports, remedy, isHung: false };
    } finally {
      selecting?.end();
    }
  }

  #limitOf(files: readonly PlannedFile[], reached = async (_seconds: number) => {}): CommandLimit | null {
    const seconds = timeLimitOf(files, this.policy);
    return seconds === null ? null : { seconds, reached: () => reached(seconds) };
  }

  #environmentOf(number: number): NodeJS.ProcessEnv {
    return { ...this.environment, BALLAST_BATCH: String(number) };
  }

  #select(support: PieceSupport, piece: Piece | null): Selecting {
    try {
      return new Selecting(support, piece, this.environment);
    } catch (error) {
      throw cannotWrite('the files that --pieces needs for the command', error);
    }
  }

  #filterOf(file: string): Promise<string | null> {
    const asked = this.#filters.get(file) ?? this.#askFilter(file);
    this.#filters.set(file, asked);
    return asked;
  }

  async #askFilter(file: string): Promise<string | null> {
    // The number of the next batch: a reporter may empty its file when it starts, and must not empty that of a batch that has run.
    const environment = this.#environmentOf(this.commandCount + 1);
    try {
      return await askFilter(this.pieces!, async (args, output) => {
        await this.runner.run(this.#commandFor([file], args), environment, output, this.#limitOf([]));
      });
    } catch (error) {
      throw cannotWrite('the files that --pieces needs for the command', error);
    }
  }

  /** Adds the result of a part of a batch. */
  #note(result: BatchResult): BatchResult {
    const muted = mutedIn(result.recorded);
    for (const file of result.recorded) {
      // It failed in an earlier batch, and passed in its retry.
      const isFlaky = !file.outcome && (this.failed.has(file.path) || this.muted.has(file.path));
      this.#recorded.set(file.path, isFlaky ? { ...file, outcome: 'flaky' } : file);
      if (muted.has(file.path)) this.muted.add(file.path);
      // Also one that passes when it runs again was muted: it is named.
      else if (file.outcome === 'failed') this.muted.delete(file.path);
    }
    const failed = result.failed.filter(path => !muted.has(path));
    if (this.runner.signal === null) for (const path of failed) this.failed.add(path);
    this.hasFailed ||= failed.length > 0;
    return result;
  }

  /** @param more arguments behind the paths */
  #commandFor(paths: readonly string[], more: readonly string[]): string[] {
    if (!this.#readsListFile) return commandLine(this.command, paths, more);
    try {
      return [...commandWithListFile(this.command, this.#list.write(paths)), ...more];
    } catch (error) {
      throw cannotWrite('the test files of the batch to a file for {file}', error);
    }
  }

  /** Removes what the commands do not need any more. */
  end(): void {
    this.#list.remove();
  }

  #isolates({ length }: readonly PlannedFile[]): boolean {
    return length > 1 && this.policy.isolates !== false;
  }

  /** Names the batch, or the only file, whose command hung. */
  #tellHung(files: readonly PlannedFile[], piece: Piece | null, seconds: number): void {
    const isAlone = files.length === 1;
    const what = isAlone ? (piece ?? files[0]!).path : `the command of ${batchLabel(this.commandCount, files)},`;
    if (isAlone) this.hung.set(what, seconds);
    printToStderr(
      `${hungText(what, seconds)}, and was ended${!this.#isolates(files) ? '' : ': running alone each test file that has not passed'}`,
    );
  }

  /**
   * The command did not end by itself: only the files that passed in a report are known to have run, but for those that may have been cut off after a
   * test that passed. Where files took more time than the command, several ran at once, and each may have been.
   */
  async #passedResult(files: readonly PlannedFile[], elapsed: number): Promise<BatchResult> {
    if (this.reportGlobs.length === 0) return notRunResult(files);
    const { byFile, cutOff } = await this.#readReports(files);
    const took = [...byFile.values()].reduce((sum, { seconds }) => sum + seconds, 0);
    if (cutOff.length > 0 && took > elapsed) return notRunResult(files);
    const passed = files.filter(({ path }) => byFile.get(path)?.isFailed === false && !cutOff.includes(path));
    return { ...notRunResult(files), recorded: resultFromReports(passed, byFile, true).recorded };
  }

  async #resultOf(
    files: readonly PlannedFile[],
    { exitCode, seconds }: CommandResult,
    isRetry: boolean,
  ): Promise<{ result: BatchResult; cases: ReportResults['cases'] }> {
    if (this.reportGlobs.length === 0) {
      const result = resultFromExitCode(files, seconds, exitCode === 0);
      // Nobody knows which of the files failed.
      const areMuted = exitCode <= MOST_OWN_EXIT_CODE && files.every(({ path }) => this.mutes.coverWhole(path));
      return { result: { ...result, recorded: withMutes(result.recorded, () => areMuted) }, cases: new Map() };
    }
    const reports = await this.#readReports(files);
    const { byFile, cases, unreadable, loadedCode } = reports;
    const isLoaded = loadedCode === exitCode;
    const isPassed = exitCode === 0 || isLoaded;
    const isEmpty = isLoaded ? () => true : this.#mayBeEmpty;
    const unreported = files.map(({ path }) => path).filter(path => !byFile.has(path) && !isEmpty(path));
    const unproved = isRetry ? files.map(({ path }) => path).filter(path => !byFile.get(path)?.hasRun) : [];
    const reason = isPassed ? failureReason({ failed: failureNames(reports), unreadable, unreported, unproved }, this.policy) : null;
    const isSuccess = isPassed && reason === null;
    const batch = { number: this.commandCount, files, reportGlobs: this.reportGlobs };
    const areReportsUsable = warnOfGaps(batch, reports, unreported, isSuccess, reason);
    const own = new Set(files.map(({ path }) => path));
    const hasUnknown = reports.unmatched.some(({ isFailed }) => isFailed);
    const strays = failureNames(reports).filter(name => !own.has(name));
    if (!isSuccess) for (const name of strays) this.strayFailures.add(name);
    const result =
      !areReportsUsable && isSuccess
        ? resultFromExitCode(files, seconds, true)
        : resultFromReports(files, byFile, isSuccess, isEmpty, hasUnknown);
    const failed = new Set(result.failed);
    for (const { path } of files) {
      const told = byFile.get(path);
      if (!told?.isFailed && (!told?.hasRun || failed.has(path))) this.untold.add(path);
    }
    const isKnown = exitCode <= MOST_OWN_EXIT_CODE && unreadable.length === 0 && strays.length === 0;
    const isMuted = (path: string) => isKnown && areFailuresMuted(this.mutes, path, reports);
    return { result: { ...result, recorded: withMutes(result.recorded, isMuted) }, cases };
  }

  async #readReports(files: readonly PlannedFile[]): Promise<BatchReports> {
    const list = new ListedFiles(
      files.map(({ path }) => path),
      this.allFiles,
    );
    const { results, cutOff, count, unusable } = readReports(await this.#reportWatch.changed(), list);
    for (const { message, isOtherXml } of unusable) if (isOtherXml && this.runner.signal === null) printToStderr(`WARNING: ${message}`);
    const unreadable = unusable.filter(({ isOtherXml }) => !isOtherXml).map(({ message }) => message);
    return { ...results, cutOff, list, count, unreadable };
  }
}

function cannotWrite(what: string, error: unknown): CommandNotStarted {
  const { message } = error as Error;
  return new CommandNotStarted(CANNOT_RUN, `cannot write ${what}: ${message}; make room in ${tmpdir()}, or set TMPDIR to another folder`);
}

/** Says that what a command ran hung. */
export function hungText(what: string, seconds: number): string {
  return `${what} ran for longer than ${durationText(seconds)}`;
}

function joined(results: readonly BatchResult[]): BatchResult {
  return { recorded: results.flatMap(({ recorded }) => recorded), failed: results.flatMap(({ failed }) => failed) };
}

function notRunResult(files: readonly { path: string }[]): BatchResult {
  return { recorded: [], failed: files.map(({ path }) => path) };
}

/** Results of one run of the command. */
interface Executed {
  result: BatchResult;
  /** Null: no case of any file. */
  reports: ReadonlyMap<string, CaseReport> | null;
  /** See Selecting. */
  remedy: string;
  /** It ran for longer than its limit: the result has the files that had passed then. */
  isHung: boolean;
}
