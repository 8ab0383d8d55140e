import { capitalized } from '../../../base/capitalized.js';
import { durationText } from '../../../base/duration.js';
import { agree, pluralize } from '../../../base/plural.js';
import { rounded, wholeMilliseconds } from '../../../base/rounding.js';
import { DAY_MILLISECONDS, timestamp } from '../../../base/time.js';
import type { NodeCount, NodeCountsAnswer, Variant } from '../../../protocol/answers/what-if.js';
import { hasEndedComplete } from '../../../protocol/build-state.js';
import { limits } from '../../../protocol/limits.js';
import { priceText } from '../../../protocol/price.js';
import type { Price } from '../../../protocol/project-settings.js';
import { usualNodeTotal } from '../../../protocol/usual-nodes.js';
import { settingsOf } from '../../engine/access.js';
import type { Build } from '../../engine/ports/builds.js';
import type { Millis, Store } from '../../engine/ports/store.js';
import { mean, median } from '../../planning/estimating/median.js';
import { newestSubject } from '../subject.js';
import { readTimeline } from '../timeline/read-timeline.js';
import { jobsIn } from '../trends/build-trend.js';
import { isOutOfDate, withSummaries } from '../trends/summary.js';
import { whatIfOfRun } from './prepare-what-if.js';
import { type Scenario, usefulNodesOf } from './scenario.js';
import { AS_IT_WAS } from './what-if.js';

/** Builds that are played with the same numbers of nodes, of the last ones that are looked at, and their test files. */
const PLAYED_BUILDS = 10;
const PLAYED_BUILDS_SEARCHED = 30;
const PLAYED_BUILD_FILES = 50_000;
/** The days whose cost shows what another number of nodes costs. */
const SPENT_DAYS = 30;
/** The largest number of nodes that is played to reach a target, unless a build has had more than half of it. */
const RECOMMENDED_NODES = 250;

/** The number of nodes that a branch needs: its last builds are played with several numbers. */

/** The builds of a branch to play. */
export interface BuildsToPlay {
  /** Newest first. */
  builds: Build[];
  /** Builds between them that are not played: incomplete, or with less than half of the files of the largest one. */
  left_out: number;
  /** The usual number of nodes of the last builds of the branch; null: it has none. */
  usual: number | null;
  /** What the builds of the last 30 days cost, on all branches; null: the project has no price. */
  spent: Price | null;
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
    usual: usualNodeTotal(last.filter(({ node_total }) => node_total <= limits.playedNodes)),
    spent: jobsIn(days, await settingsOf(store.access, project)).price,
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
 * The numbers of nodes with which each of the builds is played first: the usual one, those that the builds had, and others up to twice the
 * usual one, or to what the target takes.
 */
export function firstCounts(builds: readonly PreparedBuild[], usual: number, target: number | null): number[] {
  if (builds.length === 0) return [];
  const most = Math.min(limits.playedNodes, Math.max(16, 2 * usual, Math.min(mostUsefulOf(builds), neededOf(builds, target))));
  return [...new Set([usual, ...between(0, most + 1, FIRST_COUNTS), ...builds.map(({ line }) => line.node_total)])].sort((a, b) => a - b);
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

interface Asked extends Pick<BuildsToPlay, 'left_out' | 'usual' | 'spent'> {
  branch: string;
  /** Seconds; null: none is set. */
  target: number | null;
}

/** @param played by build: its variants with each number of nodes, ascending */
export function nodeCountsAnswer(
  { branch, target, left_out, usual, spent }: Asked,
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
    recommended: counts.find(isEnough)?.nodes ?? usefulOf(counts, builds),
    bound: boundOf(builds, played),
  };
  return { ...answer, ...sentencesOf(answer, spent) };
}

/** The least number that was played beyond which more nodes bring little. */
function usefulOf(counts: readonly NodeCount[], builds: readonly PreparedBuild[]): number | null {
  const walls = counts.map(({ nodes, median_wall }) => ({ nodes, wall: median_wall }));
  const useful = usefulNodesOf(walls, mostUsefulOf(builds), builds[0]?.scenario.settings.setup ?? null);
  return (counts.find(({ nodes }) => nodes >= useful) ?? counts.at(-1))?.nodes ?? null;
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

/** Says which number of nodes is enough, beside the usual one or the next lower one, what that costs, and why more bring little. */
function sentencesOf(
  { builds, counts, target, recommended, usual_nodes, bound }: Omit<NodeCountsAnswer, 'sentence' | 'remarks'>,
  spent: Price | null,
): Pick<NodeCountsAnswer, 'sentence' | 'remarks'> {
  const at = counts.findIndex(({ nodes }) => nodes === recommended);
  const found = counts[at];
  if (!found) return { sentence: 'No build of this branch has ended complete, so none can be played.', remarks: [] };
  const usual = counts.find(({ nodes }) => nodes === usual_nodes);
  const other = found === usual ? counts[at - 1] : usual;
  const nodesOf = (count: NodeCount) =>
    `${count === usual ? 'the usual ' : ''}${count === found ? pluralize(count.nodes, 'node') : count.nodes}`;
  const more = boundText(bound, found) ?? (found === counts.at(-1) ? 'More may be worth their jobs, too.' : 'More bring little.');
  const cost = usual && found !== usual ? [costOfOther(found, usual, spent)] : [];
  if (target === null || found.within === null) {
    const beside = other ? `; ${nodesOf(other)}: in ${durationText(other.median_wall)}` : '';
    const sentence = `${nodesOf(found)}: the median build ends in ${durationText(found.median_wall)}${beside}.`;
    return { sentence: capitalized(sentence), remarks: [...cost, more] };
  }
  const isMet = found.within >= enoughOf(builds.length);
  const ends = `${found.within} of ${pluralize(builds.length, 'build')} ${agree(found.within, 'ends', 'end')} within ${durationText(target)}`;
  const beside = other ? `; ${nodesOf(other)}: ${other.within} of ${builds.length}` : '';
  const unmet = `No number up to ${counts.at(-1)!.nodes} is enough for ${enoughOf(builds.length)} of ${builds.length}.`;
  return { sentence: capitalized(`${nodesOf(found)}: ${ends}${beside}.`), remarks: isMet ? cost : [unmet, more, ...cost] };
}

function boundText(bound: NodeCountsAnswer['bound'], found: NodeCount): string | null {
  if (!bound) return null;
  return bound.nodes <= found.nodes
    ? `${bound.path} already decides.`
    : `From ${pluralize(bound.nodes, 'node')} on, ${bound.path} decides.`;
}

/** What another number of nodes costs than the usual one. @param spent what the builds of the last 30 days cost */
function costOfOther(found: NodeCount, usual: NodeCount, spent: Price | null): string {
  if (spent && spent.amount > 0 && found.price && usual.price && usual.price.amount > 0) {
    const amount = (spent.amount * found.price.amount) / usual.price.amount;
    return `The last ${SPENT_DAYS} days would have cost about ${priceText({ ...spent, amount })} instead of ${priceText(spent)}, on all branches.`;
  }
  const part = Math.round(100 * (found.job_seconds / usual.job_seconds - 1));
  const nodes = pluralize(found.nodes, 'node takes', 'nodes take');
  return part === 0
    ? `${nodes} as many node-minutes as ${usual.nodes}.`
    : `${nodes} ${Math.abs(part)} % ${part > 0 ? 'more' : 'fewer'} node-minutes than ${usual.nodes}.`;
}
