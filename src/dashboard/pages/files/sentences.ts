import type { FileHistory, FilePieces, FileTrends } from '../../../protocol/answers/trends.js';
import { count, duration, times as factor, number, percent } from '../../text/format.js';
import { commitOf, nameOf } from '../../text/in-sentence.js';

const WORDS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten', 'Eleven', 'Twelve'];
const worded = (value: number) => WORDS[value] ?? number(value);

/** The part of the builds that "a few files" decide. */
const MOST_ENDS = 0.8;

/** Says how few files decide builds: "Five of 1,122 files decided 80 % of your builds." */
export function filesSentences({ decided, file_count, builds }: Pick<FileTrends, 'decided' | 'file_count' | 'builds'>): string[] {
  if (file_count === 0) return ['No file was measured yet.'];
  const ends = decided.reduce((sum, file) => sum + file.builds, 0);
  if (ends === 0) {
    return builds === 1
      ? ['The last build did not wait for a single file.', 'Cutting one would not have ended it sooner.']
      : [`None of the last ${number(builds)} builds waited for a single file.`, 'Cutting one would not have ended them sooner.'];
  }
  let files = 0;
  let reached = 0;
  for (const file of [...decided].sort((a, b) => b.builds - a.builds)) {
    if (reached >= MOST_ENDS * builds) break;
    reached += file.builds;
    files++;
  }
  const part = percent(Math.min(1, reached / builds));
  return [`${worded(files)} of ${number(file_count)} files decided ${part} of your builds.`];
}

/** Reports whether an estimate differs from the usual time by a tenth or more. */
function hasDrifted(estimate: number, usual: number): boolean {
  return Math.abs(Math.log(estimate / usual)) >= Math.log(1.1);
}

/** Says the time of a file, whether it changed, and how many builds it decided. */
export function fileSentences({ path, estimate, median, points, changes, decided }: FileHistory): string[] {
  if (median === null) return [`${nameOf(path)} was not measured on this branch.`];
  const change = changes.at(-1);
  const expected = estimate ?? median;
  const unchanged = hasDrifted(expected, median) ? `The median of its times is ${duration(median)}.` : 'Its time did not change.';
  return [
    `${nameOf(path)} takes ${duration(expected)}.`,
    change ? `Since ${commitOf(change.commit_hash)} it takes ${factor(change.factor)} as long as before.` : unchanged,
    decided.length > 0 ? `It decided ${number(decided.length)} of ${number(points.length)} builds.` : '',
  ].filter(Boolean);
}

/** Says in how many of the builds that tell it a file failed, up to the name of the last of them. */
export function failuresText({ failed, results, points }: FileHistory): string {
  const builds = `its last ${count(results, 'build')}${results < points.length ? ' whose results are known' : ''}`;
  return failed.length === 0 ? `It did not fail in ${builds}.` : `It failed in ${number(failed.length)} of ${builds}, the last time in `;
}

/** Cases that a sentence names. */
const NAMED = 3;

/** Says how a file ran in pieces, or why it does not, see the guide. */
export function piecesSentences({ cases, runner, count: pieces, is_proven, not_cut }: FilePieces): string[] {
  if (not_cut?.reason === 'differs') {
    const names = not_cut.cases.slice(0, NAMED).join(', ');
    const more = not_cut.cases.length > NAMED ? ` and ${number(not_cut.cases.length - NAMED)} more` : '';
    return [
      `It no longer runs in pieces: at ${commitOf(not_cut.commit_hash)}, ${names}${more} passed in the whole file, but not in a piece.`,
      'Its cases may share state or depend on their order, or the command did not select them.',
    ];
  }
  if (not_cut)
    return [
      `It no longer runs in pieces: at ${commitOf(not_cut.commit_hash)}, its pieces together took ${duration(not_cut.pieces_seconds)}, and the whole file takes ${duration(not_cut.file_seconds)}.`,
    ];
  if (pieces !== null)
    return [
      `Its ${count(cases, 'test case')} ran in ${count(pieces, 'piece')} the last time.`,
      is_proven ? '' : 'A case failed in a piece, so if a piece fails the next time, the whole file decides.',
    ].filter(Boolean);
  return [`Its ${count(cases, 'test case is', 'test cases are')} known from ${runner ?? 'reports'}.`];
}
