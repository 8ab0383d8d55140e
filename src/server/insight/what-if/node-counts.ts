import { durationText } from '../../../base/duration.js';
import { agree, pluralize } from '../../../base/plural.js';
import { wholeMilliseconds } from '../../../base/rounding.js';
import { timestamp } from '../../../base/time.js';
import type { NodeCount, NodeCountsAnswer, Variant } from '../../../protocol/answers/what-if.js';
import { hasEndedComplete } from '../../../protocol/build-state.js';
import { limits } from '../../../protocol/limits.js';
import { costOfSum, type PriceSettings } from '../../../protocol/price.js';
import type { Build } from '../../engine/ports/builds.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import { mean, median } from '../../planning/estimating/median.js';
import { newestSubject } from '../subject.js';
import { readTimeline } from '../timeline/read-timeline.js';
import { isOutOfDate, withSummaries } from '../trends/summary.js';
import { whatIfOfRun } from './prepare-what-if.js';
import { type Scenario, usefulNodesOf } from './scenario.js';
import { AS_IT_WAS } from './what-if.js';

/** Builds that are played with the same numbers of nodes, of the last ones that are looked at, and their test files. */
const PLAYED_BUILDS = 10;
const PLAYED_BUILDS_SEARCHED = 30;
const PLAYED_BUILD_FILES = 50_000;
/** The largest number of nodes that is played to reach a target, unless a build has had more than half of it. */
const RECOMMENDED_NODES = 250;

/** The number of nodes that a branch needs: its last builds are played with several numbers. */

/** The builds to play, newest first, and those whose summaries are to be written before they are listed again. */
export interface BuildsToPlay {
  builds: Build[];
  outdated: Build[];
}

/** The last builds of a branch that ended complete: as many as can be played within seconds. */
export async function buildsToPlay(
  store: Pick<Store, 'builds' | 'summaries'>,
  { project, branch }: { project: number; branch: string },
): Promise<BuildsToPlay> {
  const found: BuildsToPlay = { builds: [], outdated: [] };
  let files = 0;
  const builds = await store.builds.list(project, { branch }, { limit: PLAYED_BUILDS_SEARCHED });
  for (const { build, summary } of await withSummaries(store, builds)) {
    if (isOutOfDate(build, summary)) found.outdated.push(build);
    if (!summary || !hasEndedComplete(summary.state) || summary.line.files === 0 || build.node_total > limits.playedNodes) continue;
    files += summary.line.files;
    if (found.builds.length > 0 && files > PLAYED_BUILD_FILES) break;
    if (found.builds.push(build) === PLAYED_BUILDS) break;
  }
  return found;
}

/** A build of several that are played with the same numbers of nodes. */
export interface PreparedBuild {
  line: NodeCountsAnswer['builds'][number];
  scenario: Scenario;
  mostUseful: number;
  longest: string | null;
}

/** Reads a build, and what is needed to play it as What-if does. */
export async function prepareBuild(store: Store, { build, now }: { build: Build; now: Millis }): Promise<PreparedBuild> {
  const { id, commit_hash, node_total, created_at } = build;
  const subject = await newestSubject(store, build);
  const timeline = await readTimeline(store, subject, now);
  const played = await whatIfOfRun(store, subject, timeline, { changes: AS_IT_WAS, candidates: [], expectedPullCost: 0 });
  return {
    line: { build_id: id, commit_hash, at: timestamp(created_at), node_total, wall: timeline.wall },
    scenario: played.scenario,
    mostUseful: played.mostUseful,
    longest: played.longest?.path ?? null,
  };
}

/** Numbers of nodes to play first, and how many more between two of them: 14 plays of ten builds with 5,000 files each take about 2 s. */
const FIRST_COUNTS = 9;
const FURTHER_COUNTS = 5;

/**
 * The numbers of nodes with which each of the builds is played first: those that the builds had, and others up to twice that of the newest,
 * or to what the target takes.
 */
export function firstCounts(builds: readonly PreparedBuild[], target: number | null): number[] {
  const [newest] = builds;
  if (!newest) return [];
  const most = Math.min(
    limits.playedNodes,
    Math.max(16, 2 * newest.line.node_total, Math.min(mostUsefulOf(builds), neededOf(builds, target))),
  );
  return [...new Set([...between(0, most + 1, FIRST_COUNTS), ...builds.map(({ line }) => line.node_total)])].sort((a, b) => a - b);
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

/** The part of the builds that is to end in time. */
const ENOUGH = 0.9;
const enoughOf = (builds: number) => Math.ceil(ENOUGH * builds);

interface Asked {
  branch: string;
  /** Seconds; null: none is set. */
  target: number | null;
  settings: PriceSettings;
}

/** @param played by build: its variants with each number of nodes, ascending */
export function nodeCountsAnswer(
  { branch, target, settings }: Asked,
  builds: readonly PreparedBuild[],
  played: readonly (readonly Variant[])[],
): NodeCountsAnswer {
  const counts = (played[0] ?? []).map(({ nodes }, i): NodeCount => {
    const variants = played.map(own => own[i]!);
    const walls = variants.map(({ wall }) => wall).sort((a, b) => a - b);
    return {
      nodes,
      median_wall: wholeMilliseconds(median(walls)),
      p90_wall: walls[enoughOf(walls.length) - 1]!,
      node_seconds: wholeMilliseconds(mean(variants.map(each => each.node_seconds)) + nodes * (settings.setup ?? 0)),
      price: costOfSum(settings, { jobs: nodes, seconds: mean(variants.map(each => each.job_seconds)) }),
      within: target === null ? null : walls.filter(wall => wall <= target).length,
    };
  });
  const useful = counts.length === 0 ? null : usefulOf(counts, mostUsefulOf(builds), settings.setup);
  const recommended = counts.find(({ p90_wall }) => target !== null && p90_wall <= target)?.nodes ?? useful;
  const answer = {
    branch,
    target,
    builds: builds.map(({ line }) => line),
    counts,
    useful_nodes: useful,
    recommended,
    bound: boundOf(builds, played),
  };
  return { ...answer, sentence: sentenceOf(answer) };
}

/** The least number that was played beyond which more nodes bring little. */
function usefulOf(counts: readonly NodeCount[], most: number, setup: number | null): number {
  const useful = usefulNodesOf(
    counts.map(({ nodes, median_wall }) => ({ nodes, wall: median_wall })),
    most,
    setup,
  );
  return (counts.find(({ nodes }) => nodes >= useful) ?? counts.at(-1)!).nodes;
}

/** From which number of nodes on the longest file decides when most of the builds end, and which file that is in most of them. */
function boundOf(builds: readonly PreparedBuild[], played: readonly (readonly Variant[])[]): NodeCountsAnswer['bound'] {
  const isBound = (i: number) => 2 * played.filter(variants => variants[i]!.bound_by_file).length > played.length;
  const variants = played[0] ?? [];
  const at = variants.findIndex((_, i) => isBound(i));
  const times = new Map<string, number>();
  for (const { longest } of builds) if (longest !== null) times.set(longest, (times.get(longest) ?? 0) + 1);
  const [path] = [...times].sort(([, a], [, b]) => b - a)[0] ?? [];
  return at === -1 || path === undefined ? null : { nodes: variants[at]!.nodes, path };
}

function sentenceOf({ builds, counts, target, recommended, useful_nodes, bound }: Omit<NodeCountsAnswer, 'sentence'>): string {
  const found = counts.find(({ nodes }) => nodes === recommended);
  if (!found || useful_nodes === null) return 'No build of the branch that ended complete can be played.';
  const total = builds.length;
  const limit = bound
    ? `From ${pluralize(bound.nodes, 'node')} on, ${bound.path} decides.`
    : useful_nodes === counts.at(-1)!.nodes
      ? `Up to ${pluralize(useful_nodes, 'node')}, more nodes are worth their jobs.`
      : `More than ${pluralize(useful_nodes, 'node brings', 'nodes bring')} little.`;
  if (target === null || found.within === null)
    return `${pluralize(found.nodes, 'node')}: the median build ends in ${durationText(found.median_wall)}. ${limit}`;
  const isMet = found.within >= enoughOf(total);
  // Beside it the number of today, or the next lower one.
  const other = counts.find(({ nodes }) => nodes === builds[0]!.node_total && nodes !== found.nodes) ?? counts[counts.indexOf(found) - 1];
  const within = `${pluralize(found.nodes, 'node')}: ${found.within} of ${pluralize(total, 'build')} ${agree(found.within, 'ends', 'end')} within ${durationText(target)}`;
  const beside = other ? `; ${pluralize(other.nodes, 'node')}: ${other.within} of ${total}` : '';
  const unmet = isMet ? '' : ` No number up to ${counts.at(-1)!.nodes} is enough for ${enoughOf(total)} of ${total}.`;
  return `${within}${beside}.${unmet} ${limit}`;
}
