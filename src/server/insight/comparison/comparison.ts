import { durationText } from '../../../base/duration.js';
import { pluralize } from '../../../base/plural.js';
import { wholeMilliseconds } from '../../../base/rounding.js';
import type { ComparisonAnswer, DifferenceCause } from '../../../protocol/answers/comparison.js';
import { PART_NAMES } from '../../../protocol/answers/minutes.js';
import { hasEndedComplete } from '../../../protocol/build-state.js';
import { filesAmong } from '../../../protocol/piece-path.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import { fileOutcomes } from '../minutes/file-outcomes.js';
import { leastDelay } from '../minutes/last-node.js';
import { buildHead, type Subject } from '../subject.js';
import { readTimeline } from '../timeline/read-timeline.js';
import type { Trend } from '../trends/summary.js';
import { causesOf } from './causes.js';
import { comparedFiles } from './compared-files.js';
import { type Measured, type MeasuredBuild, measuredBuild } from './measured.js';
import { usualFor } from './usual.js';

/** Files that a comparison lists. */
const COMPARED_FILES = 50;

export interface ComparisonSubject {
  subject: Subject;
  /** Null: what is usual. */
  other: Subject | null;
  /** See ComparisonAnswer. */
  page: string | null;
  now: Millis;
}

/** Number of causes that the verdict names, and the least part of the wall time that one of them makes. */
const NAMED_CAUSES = 3;
const NAMED_PART = 0.01;
/** The time that a file itself took longer is told when it is more than what that cost the build by this part. */
const FILE_MORE = 0.1;

/** Compares a CI run with another one, or with what is usual. Throws a 422 when recorded runs do not fit in memory. */
export async function comparisonOf(store: Store, asked: ComparisonSubject): Promise<Trend<ComparisonAnswer>> {
  const { subject, other, now } = asked;
  const timeline = await readTimeline(store, subject, now);
  const build = measuredBuild(timeline);
  const otherTimeline = other && (await readTimeline(store, other, now));
  const { found, outdated } = other ? { found: null, outdated: [] } : await usualFor(store, subject);
  const before = otherTimeline ? measuredBuild(otherTimeline) : (found?.measured ?? null);
  const files = before ? comparedFiles(build, before) : [];
  const causes = before ? causesOf(build, before, files) : [];
  const usual = found && { ...found.builds, shorter: found.walls.filter(wall => wall < build.wall).length };
  const head = other && buildHead(other, otherTimeline!);
  const answer: ComparisonAnswer = {
    ...buildHead(subject, timeline),
    other: head,
    usual,
    verdict: verdictOf(build, before, causes, { branch: subject.build.branch, other: head, usual, otherTimeline }),
    wall: { seconds: build.wall, before: before?.wall ?? null },
    floor: { seconds: build.floor, before: before?.floor ?? null },
    parts: PART_NAMES.map(name => ({ name, seconds: build.parts[name], before: before?.parts[name] ?? null })),
    causes,
    files: files.slice(0, COMPARED_FILES),
    file_count: files.length,
    page: asked.page,
  };
  return { answer, outdated };
}

type Against = Pick<ComparisonAnswer, 'branch' | 'other' | 'usual'> & { otherTimeline: MeasuredBuild['timeline'] | null };

function verdictOf(now: MeasuredBuild, before: Measured | null, causes: readonly DifferenceCause[], against: Against): string {
  const { other, usual, otherTimeline } = against;
  if (now.timeline.is_running) return 'The build is running. It can be compared when it has ended.';
  if (otherTimeline?.is_running) return 'The other build is running. It can be compared when it has ended.';
  if (!before)
    return `What is usual is not known: fewer than three builds of ${against.branch} with ${pluralize(now.nodes, 'node')} ended complete before this one.`;
  const usually = usual
    ? `The median of ${usual.builds} builds of ${usual.branch} is ${durationText(before.wall)}, and ${usual.shorter === 0 ? 'none' : usual.shorter === usual.builds ? 'all' : usual.shorter} took less.`
    : '';
  const than = other ? `the build of ${other.commit_hash.slice(0, 7)} on ${other.branch}` : 'usual';
  const difference = now.wall - before.wall;
  const partial = [incomplete(now.timeline, 'The build'), otherTimeline ? incomplete(otherTimeline, 'The other build') : ''].filter(
    Boolean,
  );
  if (partial.length > 0) return [...partial, usually].filter(Boolean).join(' ');
  const compared =
    Math.abs(difference) <= leastDelay(before.wall)
      ? `As long as ${than}.`
      : `${durationText(Math.abs(difference))} ${difference > 0 ? 'longer' : 'shorter'} than ${than}${causesText(causes, before.wall)}.`;
  return [compared, usually].filter(Boolean).join(' ');
}

/** Why the times of a build do not compare, as a sentence; empty: they do. */
function incomplete(timeline: MeasuredBuild['timeline'], subject: string): string {
  if (hasEndedComplete(timeline.state)) return '';
  const { missing } = fileOutcomes(timeline, 0);
  const why =
    missing.length > 0
      ? `misses ${pluralize(filesAmong(missing.map(({ path }) => path)), 'test file')}`
      : 'has nodes that recorded nothing';
  return `${subject} ${why}, so its time says little.`;
}

function causesText(causes: readonly DifferenceCause[], wall: number): string {
  const named = causes.filter(({ seconds }) => Math.abs(seconds) >= NAMED_PART * wall).slice(0, NAMED_CAUSES);
  return named.length === 0 ? '' : `: ${named.map(causeText).join(', ')}`;
}

/** A cause and what it cost the build; of a file that took much longer than that, also this time. */
function causeText({ text, seconds, file_seconds }: DifferenceCause): string {
  const more =
    file_seconds !== null && file_seconds - seconds > FILE_MORE * seconds ? ` (it took ${durationText(file_seconds)} longer)` : '';
  return `${text} ${signed(seconds)}${seconds > 0 ? more : ''}`;
}

function signed(seconds: number): string {
  return `${seconds < 0 ? '\u2212' : '+'}${durationText(Math.abs(wholeMilliseconds(seconds)))}`;
}
