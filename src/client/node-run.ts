import { durationText } from '../duration.js';
import { pluralize } from '../plural.js';
import { ListedFiles } from '../reports/known-files.js';
import type { TestCase } from '../reports/test-case.js';
import { abbreviate, printToStderr } from '../terminal.js';
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
import { judgePiece, type PieceJudgement, passedWhole } from './pieces/judge.js';
import type { Piece, PieceRunner, RanCase, ToldCases } from './pieces/piece.js';
import { NO_SELECTION, Selecting } from './pieces/selecting.js';
import { reportedCases, TestCases } from './pieces/told.js';
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

/** How a node runs pieces of test files. */
export interface PieceSupport {
  /** As the server knows it. */
  name: string;
  runner: PieceRunner;
}

/** The batches that one node runs, and their results. */
export class NodeRun {
  #recorded = new Map<string, RecordedFile>();
  /** The files that failed or may not have run. */
  readonly failed = new Set<string>();
  /** What the node tells of the test cases of files. */
  readonly testCases: TestCases;
  readonly #reportWatch: ReportWatch;
  readonly #readsListFile: boolean;
  readonly #list = new BatchList();
  readonly #mayBeEmpty: (path: string) => boolean;
  /** How often the command was run. */
  commandCount = 0;
  hasFailed = false;

  /**
   * @param allFiles the files of all nodes: a report may name a file of another batch
   * @param pieces null: it runs whole files only
   */
  constructor(
    readonly allFiles: readonly string[],
    readonly command: readonly string[],
    readonly reportGlobs: readonly string[],
    readonly policy: FailurePolicy,
    readonly runner: CommandRunner,
    readonly environment: NodeJS.ProcessEnv,
    readonly pieces: PieceSupport | null = null,
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

  /** Runs the command for a batch, in several parts if the paths do not fit into one command or it has pieces. Throws CommandNotStarted. */
  async runBatch(files: readonly PlannedFile[]): Promise<BatchResult> {
    const whole = files.filter(({ piece }) => !piece);
    const parts = whole.length === 0 ? [] : this.#readsListFile ? [whole] : splitByLength(whole);
    if (parts.length > 1)
      printToStderr(
        `the paths of ${pluralize(whole.length, 'test file')} in one batch are too long for one command: running ${parts.length} commands`,
      );
    const runs = [
      ...parts.map(part => () => this.#runFiles(part)),
      ...files.flatMap(({ piece, expected }) => (piece ? () => this.#runPiece(piece, expected) : [])),
    ];
    const results: BatchResult[] = [];
    for (const run of runs) if (this.runner.signal === null) results.push(await run());
    const ran = new Set(results.flatMap(({ recorded, failed }) => [...recorded.map(({ path }) => path), ...failed]));
    return {
      recorded: results.flatMap(({ recorded }) => recorded),
      failed: [
        ...results.flatMap(({ failed }) => failed),
        ...files.flatMap(({ path }) => (this.runner.signal && !ran.has(path) ? path : [])),
      ],
    };
  }

  async #runFiles(files: readonly PlannedFile[]): Promise<BatchResult> {
    const { result, told } = await this.#execute(files, null);
    for (const { path, time_execution } of result.recorded) {
      const cases = told.get(path)?.cases;
      if (cases) this.testCases.addFile(path, time_execution, cases);
    }
    return this.#note(result);
  }

  /** Runs a piece of a file, and after it the whole file if only that can judge. */
  async #runPiece(piece: Piece, expected: number | null): Promise<BatchResult> {
    const files = [{ path: piece.file, expected }];
    const run = await this.#execute(files, piece);
    if (this.runner.signal !== null) return this.#note({ recorded: [], failed: [piece.path] });
    const told = run.told.get(piece.file);
    const judgement = judgePiece(piece, told);
    const seconds = secondsOf(run.result);
    const isFailed = run.result.failed.length > 0;
    if (judgement.foreign.length > 0) warnOfForeign(piece, judgement.foreign);
    if (isFailed ? !piece.isTrial && judgement.failed.length > 0 : judgement.missing.length === 0) {
      this.testCases.addPiece(piece.path, seconds, told?.cases ?? [], []);
      return this.#note(ofPiece(piece, run.result, seconds));
    }
    printToStderr(wholeFileLine(piece, judgement));
    const whole = await this.#execute(files, null);
    const wholeTold = whole.told.get(piece.file);
    const isWholeFailed = whole.result.failed.length > 0;
    const passed = passedWhole(judgement, { isFailed, told }, { isFailed: isWholeFailed, told: wholeTold });
    if (passed.length > 0 && !isWholeFailed) printToStderr(`${piece.file} passed as a whole file: it is not run in pieces again`);
    this.testCases.addPiece(piece.path, seconds, told?.cases ?? [], passed);
    if (wholeTold) this.testCases.addFile(piece.file, secondsOf(whole.result), wholeTold.cases);
    return this.#note(ofPiece(piece, whole.result, seconds + secondsOf(whole.result)));
  }

  /** Runs the command once. @param piece of the only file; null: the files are whole */
  async #execute(files: readonly PlannedFile[], piece: Piece | null): Promise<Executed> {
    this.commandCount += 1;
    await this.#reportWatch.snapshot();
    const selecting = this.pieces && new Selecting(this.pieces.runner, piece, this.environment);
    try {
      const { args, environment } = selecting?.selection ?? NO_SELECTION;
      const command = this.#commandFor(
        files.map(({ path }) => path),
        args,
      );
      const ended = await this.runner.run(command, { ...this.environment, ...environment, BALLAST_BATCH: String(this.commandCount) });
      if (ended.startError !== null)
        throw new CommandNotStarted(ended.exitCode, `cannot start the command ${this.command[0]}: ${ended.startError}`);
      const reported: Reported = { cases: new Map() };
      const result = this.runner.signal === null ? await this.#resultOf(files, ended, reported) : await this.#interruptedResult(files);
      if (this.runner.signal === null && ended.exitCode !== 0)
        printToStderr(`the command ended with ${ended.exitCode} (${batchLabel(this.commandCount, files)})`);
      return { result, told: this.#toldOf(files, reported, selecting) };
    } finally {
      selecting?.end();
    }
  }

  #toldOf(files: readonly PlannedFile[], { cases }: Reported, selecting: Selecting | null): ReadonlyMap<string, ToldCases> {
    if (this.runner.signal !== null) return new Map();
    const paths = files.map(({ path }) => path);
    if (selecting) return selecting.told(paths, cases);
    return new Map(Array.from(cases, ([path, ofFile]) => [path, { cases: reportedCases(ofFile), listed: null }]));
  }

  /** Adds the result of a part of a batch. */
  #note(result: BatchResult): BatchResult {
    for (const file of result.recorded) this.#recorded.set(file.path, file);
    if (this.runner.signal === null) for (const path of result.failed) this.failed.add(path);
    this.hasFailed ||= result.failed.length > 0;
    return result;
  }

  /** @param more arguments behind the paths */
  #commandFor(paths: readonly string[], more: readonly string[]): string[] {
    if (!this.#readsListFile) return commandLine(this.command, paths, more);
    try {
      return [...commandWithListFile(this.command, this.#list.write(paths)), ...more];
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

  /** @param reported gets the test cases of the reports */
  async #resultOf(files: readonly PlannedFile[], { exitCode, seconds }: CommandResult, reported: Reported): Promise<BatchResult> {
    if (this.reportGlobs.length === 0) return resultFromExitCode(files, seconds, exitCode === 0);
    const reports = await this.#readReports(files);
    reported.cases = reports.cases;
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

/** The test cases of each file in the reports of a command. */
interface Reported {
  cases: ReadonlyMap<string, readonly TestCase[]>;
}

/** What one run of the command said. */
interface Executed {
  result: BatchResult;
  told: ReadonlyMap<string, ToldCases>;
}

function secondsOf({ recorded }: BatchResult): number {
  return recorded.reduce((sum, { time_execution }) => sum + time_execution, 0);
}

/** The result of a file as that of its piece. @param seconds what the piece took; a file of which nothing says that it ran keeps its 0 */
function ofPiece({ path }: Piece, { recorded, failed }: BatchResult, seconds: number): BatchResult {
  const timeOf = ({ time_execution, ran }: RecordedFile) => (time_execution > 0 || ran ? seconds : 0);
  return { recorded: recorded.map(file => ({ ...file, path, time_execution: timeOf(file) })), failed: failed.map(() => path) };
}

function warnOfForeign({ path }: Piece, foreign: readonly RanCase[]): void {
  const seconds = foreign.reduce((sum, one) => sum + one.seconds, 0);
  printToStderr(
    `WARNING: ${path} also ran ${pluralize(foreign.length, 'test case')} of other pieces, ${durationText(seconds)}: ${abbreviate(foreign.map(({ name }) => name))}`,
  );
}

function wholeFileLine({ path, file }: Piece, { missing, failed }: PieceJudgement): string {
  const count = missing.length > 0 ? missing.length : failed.length;
  const verb = missing.length > 0 ? 'of it did not run' : 'failed';
  const what = count > 0 ? `${pluralize(count, 'test case')} ${verb}` : 'the command failed, and no test case did';
  const names = missing.length > 0 ? missing : failed;
  return `${path}: ${what}${names.length > 0 ? ` (${abbreviate(names)})` : ''}: running the whole file ${file}`;
}
