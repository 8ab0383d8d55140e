import { LRUCache } from 'lru-cache';
import { whenKnown } from '../../base/soon.js';
import { observedIn } from '../planning/batching/batch-cost.js';
import { toWeight } from '../planning/weight.js';
import { buildDigest, type NodeKey, type SplitKey, shortDigest, UNNAMED_CI_RUN } from './keys.js';
import type { NewRun } from './ports/recordings.js';
import type { Millis, Store } from './ports/store.js';
import { isPublicSide } from './public-side/side.js';
import { hasRun } from './test-file.js';

/** Builds of which the nodes are known that got their part of a split and have not recorded yet, for so long. */
const ASKING_BUILDS = 5000;
const SPLIT_ASK_MILLISECONDS = 12 * 3_600_000;

interface Ask {
  ci_run: string;
  at: Millis;
  /** The node asked again before it recorded, so the time until then is no time of its files. */
  isRepeated: boolean;
}

/**
 * When nodes asked for their part of a split, until they record. It is in memory only: without it, as after a restart, the start of a node
 * is derived from its recorded times.
 */
export class SplitAsks {
  /** By the digest of the build, then by node_index. */
  readonly #builds = new LRUCache<string, Map<number, Ask>>({ max: ASKING_BUILDS });
  /** The same of public sides: strangers take no place of others. */
  readonly #publicBuilds = new LRUCache<string, Map<number, Ask>>({ max: ASKING_BUILDS / 10 });

  /** Notes that a node got its part. A node that asks again in its CI run has lost the time since it asked first. */
  note({ project, build, ci_run }: SplitKey, node_index: number, at: Millis): void {
    const digest = buildDigest(project, build);
    const builds = this.#buildsOf(project);
    const nodes = builds.get(digest) ?? new Map<number, Ask>();
    if (nodes.size === 0) builds.set(digest, nodes);
    const known = nodes.get(node_index);
    if (known && ci_run !== UNNAMED_CI_RUN && known.ci_run === ci_run) known.isRepeated = true;
    else nodes.set(node_index, { ci_run, at, isRepeated: false });
  }

  #buildsOf(project: number): LRUCache<string, Map<number, Ask>> {
    return isPublicSide(project) ? this.#publicBuilds : this.#builds;
  }

  /** When the node of a run asked for its files; null: it is not known. */
  askedAt(project: number, node: NodeKey, { ci_run }: Pick<NewRun, 'ci_run'>, at: Millis): Millis | null {
    const ask = this.#buildsOf(project).get(buildDigest(project, node))?.get(node.node_index);
    if (!ask || ask.at > at || at - ask.at > SPLIT_ASK_MILLISECONDS) return null;
    return ci_run === 0 || ask.ci_run === UNNAMED_CI_RUN || shortDigest(ask.ci_run) === ci_run ? ask.at : null;
  }

  /** Learns from a recorded run what the files of its node cost, as from a batch of a queue; nothing from the public side of a project. */
  recorded({ queues }: Pick<Store, 'queues'>, project: number, node: NodeKey, { seconds, asked_at }: NewRun, at: Millis): void {
    if (asked_at === null || isPublicSide(project)) return;
    const nodes = this.#builds.get(buildDigest(project, node));
    const isRepeated = nodes?.get(node.node_index)?.isRepeated;
    nodes?.delete(node.node_index);
    const ran = Array.from(seconds).filter(hasRun);
    if (isRepeated || ran.length === 0) return;
    const weight = toWeight(ran.reduce((sum, each) => sum + each, 0));
    void whenKnown(queues.learned(project, 'split'), learned => {
      const batch = { files: ran.length, weight, elapsed: toWeight((at - asked_at) / 1000) };
      const observed = observedIn([batch], { setting: null, learned });
      if (observed) void queues.learn(project, 'split', observed);
    });
  }
}
