import type { Piece, RanCase, ToldCases } from './piece.js';

/** How the cases that ran differ from those that the piece has to run. */
export interface PieceJudgement {
  /** Cases of the piece that should have run, and of which nothing says that they did. */
  missing: string[];
  /** Cases of the piece that failed. */
  failed: string[];
  /** Cases of other pieces that ran. */
  foreign: RanCase[];
  /** No case of the piece ran. */
  isEmpty: boolean;
}

/** @param told undefined: the command told nothing of the file */
export function judgePiece({ cases, others, skipped }: Piece, told: ToldCases | undefined): PieceJudgement {
  const listed = told?.listed ?? null;
  const ran = new Map((told?.cases ?? []).flatMap(one => (one.outcome === 'skipped' ? [] : [[one.name, one] as const])));
  const own = new Set(cases);
  const excluded = others && new Set(others);
  const isOwn = (name: string) => (excluded ? !excluded.has(name) : own.has(name));
  const maySkip = new Set(skipped);
  const inFile = [...(listed ?? []), ...(told?.cases ?? []).map(({ name }) => name)];
  // The rest also has cases that are new. One may need a case of another piece, and be skipped without it.
  const expected = new Set([...cases, ...(excluded ? inFile.filter(name => isOwn(name) && !maySkip.has(name)) : [])]);
  const absent = [...expected].filter(name => !ran.has(name));
  const isEmpty = ![...ran.keys()].some(isOwn);
  return {
    // A case that the file has no more is not missing. If none of them is there, the names tell nothing.
    missing: isEmpty ? absent : absent.filter(name => listed === null || listed.has(name)),
    failed: [...ran.values()].flatMap(({ name, outcome }) => (outcome === 'failed' && isOwn(name) ? name : [])),
    foreign: [...ran.values()].filter(({ name }) => !isOwn(name)),
    isEmpty,
  };
}

/**
 * Returns the cases that did not pass in the piece, but passed in the whole file. If the command of the piece failed although none of its cases
 * did, these are all that ran: something around them, such as the end of a suite, fails in pieces.
 *
 * @param piece what the command of the piece told
 * @param whole what that of the whole file told; undefined: nothing
 */
export function passedWhole(
  { missing, failed, isEmpty }: PieceJudgement,
  piece: { isFailed: boolean; told: ToldCases | undefined },
  whole: { isFailed: boolean; told: ToldCases | undefined },
): string[] {
  const suspects = [...failed, ...missing];
  if (suspects.length === 0 && piece.isFailed && !isEmpty && !whole.isFailed) return namesOf(piece.told, 'passed');
  if (!whole.told) return whole.isFailed ? [] : suspects;
  const passed = new Set(namesOf(whole.told, 'passed'));
  return suspects.filter(name => passed.has(name));
}

function namesOf(told: ToldCases | undefined, wanted: RanCase['outcome']): string[] {
  return (told?.cases ?? []).flatMap(({ name, outcome }) => (outcome === wanted ? name : []));
}
