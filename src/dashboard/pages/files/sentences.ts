import { agree } from '../../../base/plural.js';
import type { FileHistory, FilePieces, FilePoint, FileTrends } from '../../../protocol/answers/trends.js';
import { count, duration, times as factor, isoDay, number, percent } from '../../text/format.js';
import { branchInSentence, commitOf, pathInSentence } from '../../text/in-sentence.js';

const WORDS = ['No', 'One', 'Two', 'Three', 'Four', 'Five', 'Six', 'Seven', 'Eight', 'Nine', 'Ten', 'Eleven', 'Twelve'];
const worded = (value: number) => WORDS[value] ?? number(value);

/** The part of the builds that "a few files" make wait. */
const MOST_BUILDS = 0.8;
/** From this logarithm on, an estimate differs from the usual time. */
const DRIFTED = Math.log(1.1);

/** Says which file most builds waited for, and how few files made most of them wait. */
export function filesSentences({ branch, decided, files, file_count, builds }: Omit<FileTrends, 'since' | 'total'>): string[] {
  if (file_count === 0) return ['No file was measured yet.'];
  const [top] = decided;
  const last = `last ${builds === 1 ? 'build' : `${number(builds)} builds`} of ${branchInSentence(branch)}`;
  if (!top) {
    return builds === 1
      ? [`The ${last} did not wait for a single file.`, 'Cutting one would not have ended it sooner.']
      : [`None of the ${last} waited for a single file.`, 'Cutting one would not have ended them sooner.'];
  }
  const waited = builds === 1 ? `The ${last}` : `${worded(top.builds)} of the ${last}`;
  const paths = [...decided, ...files].map(({ path }) => path);
  const sums = decided.map((_, i) => decided.slice(0, i + 1).reduce((sum, file) => sum + file.builds, 0));
  const most = sums.findIndex((sum, i) => i === sums.length - 1 || sum >= MOST_BUILDS * builds);
  return [
    `${waited} waited for ${pathInSentence(top.path, paths)}.`,
    most > 0 ? `${worded(most + 1)} of ${count(file_count, 'file')} made ${percent(Math.min(1, sums[most]! / builds))} of them wait.` : '',
  ].filter(Boolean);
}

/** Says the time of a file, whether it changed, and how many builds waited for it. */
export function fileSentences({ path, branch, estimate, median, points, changes, decided }: FileHistory): string[] {
  if (median === null) return [`${pathInSentence(path)} was not measured on ${branchInSentence(branch)}.`];
  const change = changes.at(-1);
  const expected = estimate ?? median;
  const unchanged =
    Math.abs(Math.log(expected / median)) >= DRIFTED ? `The median of its times is ${duration(median)}.` : 'Its time did not change.';
  return [
    `${pathInSentence(path)} takes ${duration(expected)}.`,
    change
      ? `Since ${commitOf(change.commit_hash)} (${isoDay(change.at)}) it takes ${factor(change.factor)} as long as before.`
      : unchanged,
    decided.length > 0 ? `${number(decided.length)} of ${count(points.length, 'build')} waited for it.` : '',
  ].filter(Boolean);
}

/** Says in how many of the builds that tell it a file failed, up to the name of the last of them. */
export function failuresText({ branch, failed, results }: FileHistory): string {
  const of = `of ${branchInSentence(branch)} that ${agree(results, 'tells', 'tell')} its result`;
  const builds = `the last ${results === 1 ? 'build' : count(results, 'build')} ${of}`;
  if (failed.length === 0) return `It did not fail in ${builds}.`;
  return results === 1 ? `It failed in ${builds}, ` : `It failed in ${number(failed.length)} of ${builds}, the last time in `;
}

/** Says in how many of the builds in which a file failed it passed, too; empty: in none. */
export function passedAgainText({ failed }: Pick<FileHistory, 'failed'>): string {
  const flaky = failed.filter(({ result }) => result === 'flaky').length;
  if (flaky === 0) return '';
  const times = flaky < failed.length ? `In ${number(flaky)} of these it` : flaky === 1 ? 'It' : 'Each time it';
  return `${times} passed when it ran again.`;
}

/** How a file ended, with the shape that marks it in the chart. */
export const RESULTS: Record<NonNullable<FilePoint['result']>, string> = {
  passed: 'passed',
  failed: '✕ failed',
  muted: '✕ failed, muted',
  flaky: '△ flaky',
};

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
