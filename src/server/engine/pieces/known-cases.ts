import { DAY_MILLISECONDS } from '../../../base/time.js';
import type { NotCut } from '../../../protocol/answers/trends.js';
import { type CaseOutcomes, type CasesOfName, type NamedCases, ranAmong } from '../../../protocol/case-outcomes.js';
import type { Cases, KeptCases } from '../ports/cases.js';

/** Bytes of reports on cases that are read to plan a queue or to play a build: about 150 ms of a worker thread. */
export const READ_CASE_BYTES_PER_REQUEST = 16_777_216;

/** Facts about the cases of a file. */
export interface KnownCases {
  /** See CaseReport. */
  runner: string | null;
  /** The cases that ran, in their order in the file. */
  cases: readonly Pick<NamedCases, 'name' | 'seconds'>[];
  /** See CutFile. */
  outcomes: readonly CasesOfName[];
  /** Seconds that the file takes besides its cases. */
  own: number;
  /** True if the file ran in pieces, and the last time no case failed that passes in the whole file: nothing is known against its pieces. */
  isProven: boolean;
  /** Null: it may be cut. */
  notCut: NotCut | null;
  /** The file ran in pieces the last time: what is known is of the pieces, and its estimate may be older. */
  isCut: boolean;
}

/** Pieces may take together at most this many times as long as the file, and this many seconds more. */
const MOST_WORK = 1.5;
const MOST_MORE_SECONDS = 1;
/** Time in milliseconds after which a file is cut again that was not to be cut: somebody may have mended it. */
const TRIED_AGAIN_AFTER = 14 * DAY_MILLISECONDS;

/**
 * Judges the reports on a file and on its pieces. Null: its cases are not known, or it did not run as a whole for as long as times are kept.
 * It then runs whole, or its estimate would be forgotten, too.
 */
export function knownCases(kept: readonly KeptCases[]): KnownCases | null {
  const wholes = kept.filter(({ piece }) => piece === null);
  // No runner selects by the names of reports.
  const whole = wholes.find(({ runner }) => runner !== null) ?? wholes[0];
  if (!whole) return null;
  const recent = kept.filter(({ at }) => at > whole.at - TRIED_AGAIN_AFTER);
  const cut = lastCut(recent);
  // A piece of which no case is known may have run as the whole file: the cases of the others are not all.
  const isCut = cut !== null && newest(cut) > whole.at && cut.every(({ cases }) => cases.length > 0);
  const last = isCut ? cut : [whole];
  const notCut = difference(recent) ?? (cut && excess(whole, cut));
  const own = last.reduce((sum, report) => sum + ownSeconds(report), 0) / last.length;
  const cases = casesByName(last);
  return {
    runner: last[0]!.runner,
    cases: [...cases.values()].filter(({ outcomes }) => ranAmong(outcomes) > 0),
    outcomes: outcomesOf(cases, isCut ? casesByName([whole]) : cases),
    own,
    isProven: cut !== null && !hasFailedInPieces(whole, cut),
    notCut,
    isCut,
  };
}

/**
 * Reads what is known of the cases of these files, one file after another. Ends before the first file of which more was reported than a request
 * may still read. Bytes count, because the pieces of a file may repeat the names of the whole.
 */
export async function* readKnownCases(
  cases: Cases,
  project: number,
  files: readonly string[],
): AsyncGenerator<{ place: number; known: KnownCases }> {
  let left = READ_CASE_BYTES_PER_REQUEST;
  for (const [place, file] of files.entries()) {
    const found = await cases.of(project, file, left);
    if (!found) return;
    left -= found.bytes;
    const known = knownCases(found.kept);
    if (known) yield { place, known };
  }
}

/** Each name as the piece reported it in which most of its cases ran: a runner may tell the cases of other pieces as skipped. */
function casesByName(reports: readonly KeptCases[]): Map<string, NamedCases> {
  const cases = new Map<string, NamedCases>();
  for (const one of reports.flatMap(({ cases }) => cases)) {
    const before = cases.get(one.name);
    if (!before || ranAmong(one.outcomes) > ranAmong(before.outcomes)) cases.set(one.name, one);
  }
  return cases;
}

/**
 * Returns the outcomes that the cases of each name must have in a piece. A name without an entry stands for one case, which must run. A case may be
 * skipped or fail as expected only if it did so both in the whole file and in its pieces: a case that did better in either must do so again.
 */
function outcomesOf(cases: ReadonlyMap<string, NamedCases>, whole: ReadonlyMap<string, NamedCases>): CasesOfName[] {
  return [...cases.values()].flatMap(({ name, outcomes }) => {
    const best = bestOf(outcomes, whole.get(name)?.outcomes ?? outcomes);
    const isOrdinary = best.passed === 1 && !best.expected_failure && !best.skipped;
    return isOrdinary ? [] : { name, outcomes: best };
  });
}

function bestOf(one: CaseOutcomes, other: CaseOutcomes): CaseOutcomes {
  const least = (outcome: keyof CaseOutcomes) => Math.min(one[outcome] ?? 0, other[outcome] ?? 0);
  const expected_failure = least('expected_failure');
  const passed = Math.max(ranAmong(one), ranAmong(other)) - expected_failure;
  return { passed, expected_failure, skipped: least('skipped') };
}

/** Reports whether a case failed in a piece, and did not fail in the whole file that decided. */
function hasFailedInPieces(whole: KeptCases, cut: readonly KeptCases[]): boolean {
  const failedIn = ({ cases }: KeptCases) => cases.flatMap(({ name, outcomes }) => (outcomes.failed ? name : []));
  const judged = new Set(whole.ci_run === cut[0]!.ci_run ? failedIn(whole) : []);
  return cut.some(report => failedIn(report).some(name => !judged.has(name)));
}

/** Returns the reports of each piece in the last CI run of which pieces are known, in order; null: that CI run did not report all of them. */
function lastCut(kept: readonly KeptCases[]): KeptCases[] | null {
  const pieces = kept.filter(({ piece }) => piece !== null).sort((a, b) => b.at - a.at);
  const [last] = pieces;
  if (!last) return null;
  const { count } = last.piece!;
  const cut = pieces.filter(({ ci_run, piece }) => ci_run === last.ci_run && piece!.count === count);
  return cut.length === count ? cut.sort((a, b) => a.piece!.number - b.piece!.number) : null;
}

function newest(cut: readonly KeptCases[]): number {
  return Math.max(...cut.map(({ at }) => at));
}

function ownSeconds({ seconds, cases }: KeptCases): number {
  return Math.max(0, seconds - cases.reduce((sum, one) => sum + one.seconds, 0));
}

function difference(kept: readonly KeptCases[]): NotCut | null {
  const report = kept.find(({ passed_whole }) => passed_whole.length > 0);
  if (!report) return null;
  return { reason: 'differs', commit_hash: report.commit_hash, cases: [...report.passed_whole], pieces_seconds: 0, file_seconds: 0 };
}

function excess(whole: KeptCases, cut: readonly KeptCases[]): NotCut | null {
  const pieces_seconds = cut.reduce((sum, { seconds }) => sum + seconds, 0);
  const most = Math.max(MOST_WORK * whole.seconds, whole.seconds + MOST_MORE_SECONDS);
  if (pieces_seconds <= most) return null;
  return { reason: 'slow', commit_hash: cut[0]!.commit_hash, cases: [], pieces_seconds, file_seconds: whole.seconds };
}
