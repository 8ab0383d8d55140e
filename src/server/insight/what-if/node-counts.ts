import { rounded, wholeMilliseconds } from '../../../base/rounding.js';
import { DAY_MILLISECONDS, timestamp } from '../../../base/time.js';
import type { NodeCount, NodeCountsAnswer, Variant } from '../../../protocol/answers/what-if.js';
import { hasEndedComplete } from '../../../protocol/build-state.js';
import { limits } from '../../../protocol/limits.js';
import { settingsOf } from '../../engine/access.js';
import type { Build } from '../../engine/ports/builds.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import { isOutOfDate } from '../../engine/ports/summaries.js';
import { mean, median } from '../../planning/estimating/median.js';
import { newestSubject } from '../subject.js';
import { countedNodes } from '../timeline/counted-nodes.js';
import { readTimeline } from '../timeline/read-timeline.js';
import { hasBuilds, jobsIn } from '../trends/build-trend.js';
import { withSummaries } from '../trends/summary.js';
import { type Playing, whatIfOfRun } from './prepare-what-if.js';
import { recommendationOf, type Spent } from './recommendation.js';
import { type Scenario, usefulNodesOf } from './scenario.js';
import type { Changes } from './what-if.js';

/** Builds that are played with the same numbers of nodes, of the last ones that are looked at, and their test files. */
const PLAYED_BUILDS = 10;
const PLAYED_BUILDS_SEARCHED = 30;
const PLAYED_BUILD_FILES = 50_000;
/** The days whose cost shows what another number of nodes costs. */
const SPENT_DAYS = 30;
/** The largest number of nodes that is played to reach a target, unless a build has had more than half of it. */
const RECOMMENDED_NODES = 250;

/** The builds of a branch to play. */
export interface BuildsToPlay {
  /** Newest first. */
  builds: Build[];
  /** Builds between them that are not played: incomplete, or with less than half of the files of the largest one. */
  left_out: number;
  spent: Spent;
  /** Builds whose summaries are to be written before they are listed again. */
  outdated: Build[];
}

/** The last builds of a branch that ended complete: as many as can be played within seconds. */
export async function buildsToPlay(
  store: Pick<Store, 'builds' | 'summaries' | 'access'>,
  { project, branch, now }: { project: number; branch: string; now: Millis },
): Promise<BuildsToPlay> {
  const last = await store.builds.list(project, { branch }, { limit: limits.trendBuilds });
  const searched = await withSummaries(store, last.slice(0, PLAYED_BUILDS_SEARCHED));
  const most = Math.max(...searched.map(({ summary }) => summary?.line.files ?? 0));
  const builds: Build[] = [];
  let left_out = 0;
  let files = 0;
  for (const { build, summary } of searched) {
    const isWhole = summary && hasEndedComplete(summary.state) && summary.line.files > 0 && 2 * summary.line.files >= most;
    if (!isWhole || build.node_total > limits.playedNodes) {
      left_out++;
      continue;
    }
    files += summary.line.files;
    if (builds.length > 0 && files > PLAYED_BUILD_FILES) break;
    if (builds.push(build) === PLAYED_BUILDS) break;
  }
  const today = Math.floor(now / DAY_MILLISECONDS);
  const days = await store.summaries.days(project, null, today - SPENT_DAYS + 1, today);
  return {
    ...{ builds, left_out },
    spent: { days: today + 1 - (days.find(hasBuilds)?.day ?? today), price: jobsIn(days, await settingsOf(store.access, project)).price },
    outdated: searched.flatMap(({ build, summary }) => (isOutOfDate(build, summary) ? build : [])),
  };
}

/** A build of several that are played with the same numbers of nodes. */
export interface PreparedBuild {
  line: NodeCountsAnswer['builds'][number];
  scenario: Scenario;
  mostUseful: number;
  longest: string | null;
}

/** Reads a build, and what is needed to play it as What-if does. */
export async function prepareBuild(
  store: Store,
  { build, playing, now }: { build: Build; playing: Playing; now: Millis },
): Promise<PreparedBuild> {
  const { id, commit_hash, created_at } = build;
  const subject = await newestSubject(store, build);
  const timeline = await readTimeline(store, subject, now);
  const played = await whatIfOfRun(store, subject, timeline, playing);
  return {
    line: { build_id: id, commit_hash, at: timestamp(created_at), node_count: countedNodes(timeline).length, wall: timeline.wall },
    scenario: played.scenario,
    mostUseful: played.mostUseful,
    longest: played.longest?.path ?? null,
  };
}

/** Numbers of nodes to play first, and how many more between two of them: 14 plays of ten builds with 5,000 files each take about 2 s. */
const FIRST_COUNTS = 9;
const FURTHER_COUNTS = 5;

/**
 * The numbers of nodes with which each of the builds is played first: the usual one, those that the builds had, and others up to twice the
 * usual one, or to what the target takes.
 */
export function firstCounts(builds: readonly PreparedBuild[], usual: number, target: number | null): number[] {
  if (builds.length === 0) return [];
  const most = Math.min(limits.playedNodes, Math.max(16, 2 * usual, Math.min(mostUsefulOf(builds), neededOf(builds, target))));
  return [...new Set([usual, ...between(0, most + 1, FIRST_COUNTS), ...builds.map(({ line }) => line.node_count)])].sort((a, b) => a - b);
}

/** A number of nodes that should be enough for the target, if any is; without a target, enough to see what more nodes bring. */
function neededOf(builds: readonly PreparedBuild[], target: number | null): number {
  if (target === null) return limits.playedVariants;
  const work = ({ suite, rate }: Scenario) => suite.seconds.reduce((sum, seconds) => sum + seconds, 0) / rate;
  const least = Math.max(...builds.map(({ scenario }) => work(scenario) / target));
  return Math.min(RECOMMENDED_NODES, Math.max(limits.playedVariants, Math.ceil(NEEDED_ROOM * least)));
}

/** No plan is perfect, and nodes start late. */
const NEEDED_ROOM = 1.5;

/** The numbers of nodes below the recommended one that may be enough, too: all were too few up to the played one before it. */
export function furtherCounts({ counts, recommended }: NodeCountsAnswer): number[] {
  const at = counts.findIndex(({ nodes }) => nodes === recommended);
  return at < 1 ? [] : between(counts[at - 1]!.nodes, counts[at]!.nodes, FURTHER_COUNTS);
}

/** Whole numbers between two others, at most so many of them, evenly apart. */
function between(low: number, high: number, most: number): number[] {
  const count = Math.min(most, high - low - 1);
  if (count < 2) return count < 1 ? [] : [Math.floor((low + high) / 2)];
  return Array.from({ length: count }, (_, i) => Math.round(low + 1 + (i * (high - low - 2)) / (count - 1)));
}

const mostUsefulOf = (builds: readonly PreparedBuild[]) => builds.reduce((most, { mostUseful }) => Math.max(most, mostUseful), 1);

/** How many of the builds are to end in time: nine of ten. */
const enoughOf = (builds: number) => Math.ceil(0.9 * builds);

interface Asked extends Pick<BuildsToPlay, 'left_out' | 'spent'> {
  branch: string;
  /** The usual number of nodes of the builds; null: there is none. */
  usual: number | null;
  changes: Changes;
  /** Seconds; null: none is set. */
  target: number | null;
}

/** @param played by build: its variants with each number of nodes, ascending */
export function nodeCountsAnswer(
  { branch, target, left_out, usual, ...asked }: Asked,
  builds: readonly PreparedBuild[],
  played: readonly (readonly Variant[])[],
): NodeCountsAnswer {
  const counts = (played[0] ?? []).map(({ nodes, price }, i): NodeCount => {
    const variants = played.map(own => own[i]!);
    const walls = variants.map(({ wall }) => wall).sort((a, b) => a - b);
    return {
      nodes,
      median_wall: wholeMilliseconds(median(walls)),
      p90_wall: walls[enoughOf(walls.length) - 1]!,
      job_seconds: wholeMilliseconds(mean(variants.map(each => each.job_seconds))),
      price: price && { ...price, amount: rounded(mean(variants.map(each => each.price!.amount)), 1e6) },
      within: target === null ? null : walls.filter(wall => wall <= target).length,
    };
  });
  const isEnough = ({ p90_wall }: NodeCount) => target !== null && p90_wall <= target;
  const answer = {
    ...{ branch, target, left_out, counts },
    builds: builds.map(({ line }) => line),
    usual_nodes: usual,
    recommended: enoughNodes(counts.filter(isEnough), usual) ?? usefulOf(counts, builds),
    bound: boundOf(builds, played),
  };
  // Not more than the target as it was played, and more as it was.
  const isMissed = ({ node_count, wall }: PreparedBuild['line'], build: number) =>
    target !== null && wall > target && played[build]!.find(({ nodes }) => nodes === node_count)!.wall <= target;
  const missed = answer.builds.filter(isMissed).map(({ wall }) => wall);
  // No file may run in pieces in a split, for example.
  const inPieces = asked.changes.inPieces && (builds.some(({ scenario }) => scenario.cuttable.length > 0) || null);
  const changes = { ...asked.changes, inPieces };
  return { ...answer, ...recommendationOf(answer, { ...asked, changes, missed, enough: enoughOf(builds.length) }) };
}

/** Fewer nodes than the usual number are recommended when they save this part of its cost. */
const LEAST_SAVING = 0.02;

/** The least of the numbers that are enough; the usual one if it is one of them, and fewer save little. */
function enoughNodes(enough: readonly NodeCount[], usual: number | null): number | null {
  const costOf = ({ price, job_seconds }: NodeCount) => price?.amount ?? job_seconds;
  const [least] = enough;
  const own = enough.find(({ nodes }) => nodes === usual);
  return (own && costOf(least!) > (1 - LEAST_SAVING) * costOf(own) ? own : least)?.nodes ?? null;
}

/** The least number that was played beyond which more nodes bring little. */
function usefulOf(counts: readonly NodeCount[], builds: readonly PreparedBuild[]): number | null {
  const walls = counts.map(({ nodes, median_wall }) => ({ nodes, wall: median_wall }));
  const useful = usefulNodesOf(walls, mostUsefulOf(builds), builds[0]?.scenario.settings.setup ?? null);
  return (counts.find(({ nodes }) => nodes >= useful) ?? counts.at(-1))?.nodes ?? null;
}

/**
 * From which number of nodes on the longest file decides when most of the builds end, and which file that is in most of them. Where each file
 * has a node of its own, that is no news.
 */
function boundOf(builds: readonly PreparedBuild[], played: readonly (readonly Variant[])[]): NodeCountsAnswer['bound'] {
  const hasNews = ({ nodes, bound_by_file }: Variant, build: number) =>
    bound_by_file && nodes < builds[build]!.scenario.suite.seconds.length;
  const isBound = (i: number) => 2 * played.filter((variants, build) => hasNews(variants[i]!, build)).length > played.length;
  const variants = played[0] ?? [];
  const at = variants.findIndex((_, i) => isBound(i));
  const times = new Map<string, number>();
  for (const { longest } of builds) if (longest !== null) times.set(longest, (times.get(longest) ?? 0) + 1);
  const [path] = [...times].sort(([, a], [, b]) => b - a)[0] ?? [];
  return at === -1 || path === undefined ? null : { nodes: variants[at]!.nodes, path };
}
