import { LRUCache } from 'lru-cache';
import { limits } from '../limits.js';
import { costOfOne } from '../planning/batching/batch-cost.js';
import { toWeight } from '../planning/weight.js';
import { whenKnown } from '../soon.js';
import { buildDigest, type NodeKey, type SplitKey, shortDigest, UNNAMED_CI_RUN } from './keys.js';
import type { NewRun } from './ports/recordings.js';
import type { Millis, Store } from './ports/store.js';

interface Ask {
  /** See RunHead. */
  ci_run: number;
  at: Millis;
  /** A run was recorded since. */
  hasRecorded: boolean;
}

/**
 * When nodes asked for their part of a split, and have not recorded since. It is in memory only: without it, as after a restart, the start of
 * a node is derived from its recorded times.
 */
export class SplitAsks {
  readonly #asks = new LRUCache<string, Ask>({ max: limits.splitAsks });

  /** Notes that a node got its part. A node that asks again in its CI run has lost the time since it asked first. */
  note({ project, build, ci_run: name }: SplitKey, node_index: number, at: Millis): void {
    const ci_run = name === UNNAMED_CI_RUN ? 0 : shortDigest(name);
    const node = nameOf(project, { ...build, node_index });
    const known = this.#asks.get(node);
    if (known && !known.hasRecorded && ci_run !== 0 && known.ci_run === ci_run) return;
    this.#asks.set(node, { ci_run, at, hasRecorded: false });
  }

  /** When the node of a run asked for its files; null: it is not known. */
  askedAt(project: number, node: NodeKey, run: Pick<NewRun, 'ci_run'>, at: Millis): Millis | null {
    return this.#of(project, node, run, at)?.at ?? null;
  }

  /** Learns from a recorded run what a node's files cost, as from a batch of a queue. */
  recorded({ queues }: Pick<Store, 'queues'>, project: number, node: NodeKey, run: NewRun, at: Millis): void {
    const ask = this.#of(project, node, run, at);
    if (!ask || ask.hasRecorded) return;
    ask.hasRecorded = true;
    let files = 0;
    let seconds = 0;
    for (let i = 0; i < run.seconds.length; i++) {
      if (!(run.seconds[i]! > 0)) continue;
      files += 1;
      seconds += run.seconds[i]!;
    }
    if (files === 0) return;
    void whenKnown(queues.learned(project), learned => {
      const observed = costOfOne(learned, files, toWeight(seconds), toWeight((at - ask.at) / 1000));
      if (observed) queues.learn(project, observed);
    });
  }

  #of(project: number, node: NodeKey, { ci_run }: Pick<NewRun, 'ci_run'>, at: Millis): Ask | null {
    const ask = this.#asks.get(nameOf(project, node));
    if (!ask || ask.at > at) return null;
    return ci_run === 0 || ask.ci_run === 0 || ask.ci_run === ci_run ? ask : null;
  }
}

const nameOf = (project: number, node: NodeKey) => `${buildDigest(project, node)} ${node.node_index}`;
