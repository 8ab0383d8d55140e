import { median } from '../../../planning/estimating/median.js';
import type { Build } from '../../ports/builds.js';
import type { Store } from '../../ports/store.js';
import { isOutOfDate } from './summary.js';

/** A node that takes this many times as long as the others is slow in a build. */
const SLOW = 1.1;
/** The part of the projects with equal runners that see a wrong alarm. */
const FALSE_ALARM = 0.01;

export interface NodeTrendSubject {
  project: number;
  /** Null: all branches. */
  branch: string | null;
  /** Null: that of the newest build. */
  node_total: number | null;
  /** The most builds that are looked at. */
  builds: number;
}

/** The nodes of the last builds with the same number of nodes. */
export interface NodeHistory {
  node_total: number;
  /** Oldest first. */
  builds: Build[];
  nodes: NodePattern[];
  /** Builds whose summaries are to be written again. */
  outdated: Build[];
}

export interface NodePattern {
  /** By build; null: unknown. */
  slowness: (number | null)[];
  median: number | null;
  isSlow: boolean;
  slowBuilds: number;
  lastBuilds: number;
}

export async function nodeTrends(store: Pick<Store, 'builds' | 'summaries'>, subject: NodeTrendSubject): Promise<NodeHistory> {
  const { project, branch } = subject;
  const onBranch = branch === null ? {} : { branch };
  const node_total = subject.node_total ?? (await store.builds.newest(project, onBranch))?.node_total ?? 0;
  const newest = await store.builds.older(project, { ...onBranch, node_total }, null, subject.builds);
  const history: NodeHistory = { node_total, builds: [], nodes: [], outdated: [] };
  const slowness = Array.from({ length: node_total }, (): (number | null)[] => []);
  const lastBuilds = new Uint32Array(node_total);
  for (const build of newest.builds.toReversed()) {
    const summary = await store.summaries.get(build.number);
    if (isOutOfDate(build, summary)) history.outdated.push(build);
    if (!summary) continue;
    history.builds.push(build);
    for (const [node, all] of slowness.entries()) all.push(summary.slowness[node] || null);
    if (summary.last && summary.last.node_index < node_total) lastBuilds[summary.last.node_index]! += 1;
  }
  history.nodes = slowness.map((all, node) => ({ ...patternOf(all, node_total), lastBuilds: lastBuilds[node]! }));
  return history;
}

/**
 * Whether a node is slow again and again: its median is that of a slow node, and it was slower than the usual node in so many builds that
 * a coin would hardly fall so (the sign test of Arbuthnott, 1710), with the chance divided by the number of nodes (Bonferroni).
 */
export function patternOf(slowness: readonly (number | null)[], nodes: number): Omit<NodePattern, 'lastBuilds'> {
  const known = slowness.filter(each => each !== null);
  const slower = known.filter(each => each > 1).length;
  const usual = known.length > 0 ? median(known) : null;
  const isSlow = usual !== null && usual >= SLOW && chanceOfHeads(slower, known.length) < FALSE_ALARM / nodes;
  return { slowness: [...slowness], median: usual, isSlow, slowBuilds: known.filter(each => each >= SLOW).length };
}

/** The probability that a fair coin falls on heads at least this often. */
export function chanceOfHeads(heads: number, tosses: number): number {
  let sum = 0;
  let term = 2 ** -tosses;
  for (let k = 0; k <= tosses; k++) {
    if (k >= heads) sum += term;
    term *= (tosses - k) / (k + 1);
  }
  return Math.min(1, sum);
}
