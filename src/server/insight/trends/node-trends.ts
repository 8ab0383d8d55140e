import { rounded } from '../../../base/rounding.js';
import { timestamp } from '../../../base/time.js';
import type { NodeTrend, NodeTrends } from '../../../protocol/answers/trends.js';
import { usualNodeTotal } from '../../../protocol/usual-nodes.js';
import type { Build } from '../../engine/ports/builds.js';
import type { Store } from '../../engine/ports/store.js';
import { isOutOfDate, type Summary } from '../../engine/ports/summaries.js';
import { median } from '../../planning/estimating/median.js';
import { type Trend, withSummaries } from './summary.js';

/** A node that takes this many times as long as the others is slow in a build. */
const SLOW = 1.1;
/** The part of the projects with equal runners that see a wrong alarm. */
const FALSE_ALARM = 0.01;

export interface NodeTrendSubject {
  project: number;
  /** Null: all branches. */
  branch: string | null;
  /** Null: the usual one. */
  node_total: number | null;
  /** The most builds that are looked at. */
  builds: number;
}

/** The nodes of the last builds with the same number of nodes. */
export async function nodeTrends(store: Pick<Store, 'builds' | 'summaries'>, subject: NodeTrendSubject): Promise<Trend<NodeTrends>> {
  const { project, branch } = subject;
  const onBranch = branch === null ? {} : { branch };
  const last = await store.builds.list(project, onBranch, { limit: subject.builds });
  const node_total = subject.node_total ?? usualNodeTotal(last) ?? 0;
  const newest = await store.builds.list(project, { ...onBranch, node_total }, { limit: subject.builds });
  const outdated: Build[] = [];
  const summarized: { build: Build; summary: Summary }[] = [];
  for (const { build, summary } of await withSummaries(store, newest.toReversed())) {
    if (isOutOfDate(build, summary)) outdated.push(build);
    if (summary) summarized.push({ build, summary });
  }
  const nodes = Array.from({ length: node_total }, (_, node_index) => ({
    node_index,
    ...patternOf(
      summarized.map(({ summary }) => summary.slowness[node_index] ?? null),
      node_total,
    ),
    last_builds: summarized.filter(({ summary }) => summary.line.last?.node_index === node_index).length,
  }));
  const builds = summarized.map(({ build: { id, created_at, commit_hash } }) => ({ build_id: id, at: timestamp(created_at), commit_hash }));
  const others = last.map(build => build.node_total).filter(total => total !== node_total);
  const other_node_totals = [...new Set(others)].sort((a, b) => a - b);
  return { answer: { branch, node_total, builds, left_out: others.length, other_node_totals, nodes }, outdated };
}

/**
 * Reports whether a node is slow again and again: its median is that of a slow node, and it was slower than the usual node in so many builds that a
 * coin would hardly fall so (the sign test of Arbuthnott, 1710), with the chance divided by the number of nodes (Bonferroni).
 */
export function patternOf(slowness: readonly (number | null)[], nodes: number): Omit<NodeTrend, 'node_index' | 'last_builds'> {
  const known = slowness.filter(each => each !== null);
  const slower = known.filter(each => each > 1).length;
  const usual = known.length > 0 ? median(known) : null;
  const is_slow = usual !== null && usual >= SLOW && chanceOfHeads(slower, known.length) < FALSE_ALARM / nodes;
  const slow_builds = known.filter(each => each >= SLOW).length;
  return { slowness: [...slowness], median: usual === null ? null : rounded(usual), is_slow, slow_builds };
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
