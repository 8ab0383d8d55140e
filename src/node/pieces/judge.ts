import { type CaseOutcomes, type NamedCases, ranAmong } from '../../protocol/case-outcomes.js';
import type { CaseReport, Piece } from './piece.js';

/** Differences between the cases that ran and those that the piece has to run. */
export interface PieceJudgement {
  /** Names of the piece of which fewer cases ran than should have, as far as is reported, or more were skipped. */
  missing: string[];
  /** Other names of the piece of which more cases failed as expected than in the whole file. */
  expectedFailures: string[];
  /** Names of the piece of which a case failed. */
  failed: string[];
  /** Cases of other pieces that ran. */
  foreign: NamedCases[];
  /** No case of the piece ran. */
  isEmpty: boolean;
}

/** Outcome of nearly every name in the whole file. A name that is not known is new, and its case may need a case of another piece. */
const ONE_CASE: CaseOutcomes = { passed: 1 };

/** @param report undefined: the command reported nothing of the file */
export function judgePiece({ cases, others, outcomes }: Piece, report: CaseReport | undefined): PieceJudgement {
  const listed = report?.listed ?? null;
  const byName = new Map((report?.cases ?? []).map(one => [one.name, one]));
  const ran = [...byName.values()].filter(one => ranAmong(one.outcomes) > 0);
  const own = new Set(cases);
  const excluded = others && new Set(others);
  const isOwn = (name: string) => (excluded ? !excluded.has(name) : own.has(name));
  const isEmpty = !ran.some(({ name }) => isOwn(name));
  const judged = new Set([...cases, ...(excluded ? [...(listed ?? []), ...byName.keys()].filter(isOwn) : [])]);
  const missing: string[] = [];
  const expectedFailures: string[] = [];
  for (const name of judged) {
    // A case that the file has no more is not missing. If none of them is there, the names tell nothing.
    if (!isEmpty && listed !== null && !listed.has(name)) continue;
    const had = byName.get(name)?.outcomes ?? {};
    const wanted = outcomes.get(name) ?? ONE_CASE;
    if (ranAmong(had) < ranAmong(wanted) || exceeds(had.skipped, wanted.skipped)) missing.push(name);
    else if (exceeds(had.expected_failure, wanted.expected_failure)) expectedFailures.push(name);
  }
  return {
    missing,
    expectedFailures,
    failed: ran.flatMap(({ name, outcomes }) => (outcomes.failed && isOwn(name) ? name : [])),
    foreign: ran.filter(({ name }) => !isOwn(name)),
    isEmpty,
  };
}

/**
 * Tells whether the result of a piece counts without a run of its whole file. A piece that passed must have run all of its cases as they run in the whole
 * file. A piece that failed must have a case that failed, and not be in its trial: its cases may fail only in pieces. If its failures are muted, it
 * counts as green, so it must have run all of its cases, too.
 */
export function decidesAlone(
  { isTrial }: Piece,
  { missing, expectedFailures, failed }: PieceJudgement,
  { hasFailed, isMuted }: { hasFailed: boolean; isMuted: boolean },
): boolean {
  if (isMuted && missing.length > 0) return false;
  return hasFailed ? !isTrial && failed.length > 0 : missing.length === 0 && expectedFailures.length === 0;
}

function exceeds(count = 0, most = 0): boolean {
  return count > most;
}

/**
 * Returns the suspect names of which more cases passed in the whole file than in the piece. A name is suspect if the piece did not run all of its
 * cases as it should. If the command of the piece failed although none of its cases did, returns all names of which a case passed: something
 * around them, such as the end of a suite, fails in pieces.
 *
 * @param piece what the command of the piece reported
 * @param whole what that of the whole file reported; undefined: nothing
 */
export function passedWhole(
  { missing, expectedFailures, failed, isEmpty }: PieceJudgement,
  piece: { isFailed: boolean; report: CaseReport | undefined },
  whole: { isFailed: boolean; report: CaseReport | undefined },
): string[] {
  const suspects = [...new Set([...failed, ...missing, ...expectedFailures])];
  const passedIn = (report: CaseReport | undefined) => new Map(report?.cases.map(({ name, outcomes }) => [name, outcomes.passed ?? 0]));
  const inPiece = passedIn(piece.report);
  if (suspects.length === 0 && piece.isFailed && !isEmpty && !whole.isFailed) return [...inPiece.keys()].filter(name => inPiece.get(name));
  if (!whole.report) return whole.isFailed ? [] : suspects;
  const inWhole = passedIn(whole.report);
  return suspects.filter(name => (inWhole.get(name) ?? 0) > (inPiece.get(name) ?? 0));
}
