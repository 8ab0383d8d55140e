import { durationText } from '../../base/duration.js';
import { pluralize } from '../../base/plural.js';
import { abbreviate, printToStderr } from '../../base/terminal.js';
import type { NamedCases } from '../../protocol/case-outcomes.js';
import { type BatchResult, mutedIn, type RecordedFile } from '../client/batch-results.js';
import { decidesAlone, judgePiece, type PieceJudgement, passedWhole } from './judge.js';
import type { CaseReport, Piece } from './piece.js';
import type { TestCases } from './test-cases.js';

/** Report of one command, for a piece or for its whole file, on the file. */
export interface FileRun {
  result: BatchResult;
  /** Undefined: it reported no case of the file. */
  report: CaseReport | undefined;
  /** See Selecting. */
  remedy: string;
}

/** Runs the command for a piece, or for its whole file (null). Returns null if a signal ended it: then it is not known what ran. */
export type RunFile = (piece: Piece | null) => Promise<FileRun | null>;

/**
 * Runs a piece of a file, and then the whole file if the piece alone decides nothing. Returns the result as that of the piece.
 * @param testCases gets what is reported of both
 */
export async function runPiece(piece: Piece, runFile: RunFile, testCases: TestCases): Promise<BatchResult> {
  const run = await runFile(piece);
  if (!run) return notRun(piece);
  const judgement = judgePiece(piece, run.report);
  if (judgement.foreign.length > 0) warnOfForeign(piece, judgement.foreign, run.remedy);
  const seconds = secondsOf(run);
  const isMuted = mutedIn(run.result.recorded).size > 0;
  if (decidesAlone(piece, judgement, { hasFailed: hasFailed(run), isMuted })) {
    testCases.addPiece(piece.path, seconds, run.report?.cases ?? [], []);
    return resultOf(piece, run, seconds);
  }
  printToStderr(`${piece.path}: ${whyUnjudged(piece, run, judgement)}: running the whole file ${piece.file}`);
  const whole = await runFile(null);
  if (!whole) return notRun(piece);
  const passed = passedWhole(
    judgement,
    { isFailed: hasFailed(run), report: run.report },
    { isFailed: hasFailed(whole), report: whole.report },
  );
  if (passed.length > 0 && !hasFailed(whole)) printToStderr(`${piece.file} passed as a whole: later builds do not run it in pieces`);
  testCases.addPiece(piece.path, seconds, run.report?.cases ?? [], passed);
  if (whole.report) testCases.addFileOfPiece(piece.file, secondsOf(whole), whole.report.cases);
  return resultOf(piece, whole, seconds + secondsOf(whole));
}

/** Runs the whole file in the place of a piece that the runner cannot select. The server learns what that takes, and the cases of the file. */
export async function runWhole(piece: Piece, reason: string, runFile: RunFile, testCases: TestCases): Promise<BatchResult> {
  printToStderr(`WARNING: ${piece.path}: running the whole file ${piece.file}, because ${reason}`);
  const whole = await runFile(null);
  if (!whole) return notRun(piece);
  const seconds = secondsOf(whole);
  testCases.addPiece(piece.path, seconds, [], []);
  if (whole.report) testCases.addFileOfPiece(piece.file, seconds, whole.report.cases);
  return resultOf(piece, whole, seconds);
}

function hasFailed({ result }: FileRun): boolean {
  return result.failed.length > 0;
}

function secondsOf({ result }: FileRun): number {
  return result.recorded.reduce((sum, { time_execution }) => sum + time_execution, 0);
}

function notRun({ path }: Piece): BatchResult {
  return { recorded: [], failed: [path] };
}

/** Gives the result of a run to the piece. @param seconds what the piece took; a file keeps its 0 if nothing says that it ran */
function resultOf({ path }: Piece, { result: { recorded, failed } }: FileRun, seconds: number): BatchResult {
  const timeOf = ({ time_execution, ran }: RecordedFile) => (time_execution > 0 || ran ? seconds : 0);
  return { recorded: recorded.map(file => ({ ...file, path, time_execution: timeOf(file) })), failed: failed.map(() => path) };
}

function warnOfForeign({ path }: Piece, foreign: readonly NamedCases[], remedy: string): void {
  const count = pluralize(foreign.length, 'test case');
  const seconds = durationText(foreign.reduce((sum, one) => sum + one.seconds, 0));
  printToStderr(
    `WARNING: ${path} also ran ${count} of other pieces, ${seconds}: ${abbreviate(foreign.map(({ name }) => name))}; ${remedy}`,
  );
}

function whyUnjudged({ cases }: Piece, run: FileRun, { missing, expectedFailures, failed }: PieceJudgement): string {
  if (!run.report) return `it is not known whether its ${pluralize(cases.length, 'test case')} ran`;
  // A failure may have ended the command before it ran the others.
  if (hasFailed(run) && failed.length > 0) return `${pluralize(failed.length, 'test case')} failed (${abbreviate(failed)})`;
  if (missing.length > 0) return `${missing.length} of its test cases did not run (${abbreviate(missing)})`;
  if (expectedFailures.length > 0)
    return `${pluralize(expectedFailures.length, 'test case')} failed as expected, but did not do so before (${abbreviate(expectedFailures)})`;
  return 'the command failed, but no test case of the piece did';
}
