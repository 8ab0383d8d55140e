import { type QueueKey, queueKey, type SplitKey, splitKey } from '../../../src/server/engine/keys.js';
import type { Split } from '../../../src/server/engine/ports/splits.js';
import type { Store } from '../../../src/server/engine/ports/store.js';
import type { Batch, Pull } from '../../../src/server/engine/queue/batch.js';
import type { LeasePolicy } from '../../../src/server/engine/queue/leases.js';
import type { Suite as DistinctPaths } from '../../../src/server/engine/suites/suite.js';
import { findSubject } from '../../../src/server/insight/subject.js';
import { readTimeline } from '../../../src/server/insight/timeline/read-timeline.js';
import type { Timeline } from '../../../src/server/insight/timeline/timeline.js';
import { codeOf, emptyBasis, setBasis } from '../../../src/server/planning/estimating/basis.js';
import type { Estimates } from '../../../src/server/planning/estimating/estimate.js';
import { toWeight } from '../../../src/server/planning/weight.js';
import { memoryStore } from '../../harness/memory-store.js';
import { pathsOf, plannedPaths } from '../../harness/planned-paths.js';
import { BUILD, LIST, NOW, newProject, newQueue, newSplit, pull, record, settle } from '../store/contract/fixtures.js';

/** Seconds by path; null: never measured. */
export type Suite = Record<string, number | null>;

const at = (seconds: number) => NOW + Math.round(seconds * 1000);
const GUESS_SECONDS = 1;

/** A build of BUILD's nodes in a store in memory. Times are seconds since the build began. */
export class TestBuild {
  constructor(
    readonly store: Store,
    readonly project: number,
    readonly build = BUILD,
  ) {}

  static async begin({ lease = null, nodes = BUILD.node_total }: { lease?: LeasePolicy | null; nodes?: number } = {}): Promise<TestBuild> {
    const store = memoryStore({ lease });
    return new TestBuild(store, await newProject(store), { ...BUILD, node_total: nodes });
  }

  /** A build whose queue has these files, and was pulled from by these nodes as soon as it began. */
  static async withQueue(suite: Suite, { pulled = [], ...options }: { lease?: LeasePolicy; nodes?: number; pulled?: number[] } = {}) {
    const build = await TestBuild.begin(options);
    await build.createQueue(suite);
    for (const node of pulled) await build.pull(node, 0, { isFirstRequest: true, runs_before: 0 });
    return build;
  }

  queueKey(ci_run = '1'): QueueKey {
    return queueKey(this.project, this.build, ci_run);
  }

  async createQueue(suite: Suite, ci_run = '1', seconds = 0): Promise<QueueKey> {
    const key = this.queueKey(ci_run);
    await this.store.queues.create(key, newQueue(estimatesOf(suite)), at(seconds));
    return key;
  }

  /** Hands a node its next batch; null: none is left. */
  async pull(node: number, seconds: number, more: Partial<Pull> = {}, ci_run = '1'): Promise<Batch | null> {
    const key = this.queueKey(ci_run);
    const batch = await pull(this.store, key, node, { batch_uuid: `${ci_run} ${node} ${seconds}`, ...more }, at(seconds));
    if (batch) await settle(this.store, key, batch, true);
    return batch;
  }

  /** @param parts the files of each node */
  createSplit(suite: Suite, parts: string[][], key = splitKey(this.project, this.build, '1', false), seconds = 0): Promise<Split> {
    const files = estimatesOf(suite);
    const nodes = parts.map(paths => paths.map(path => pathsOf(files).indexOf(path)));
    return Promise.resolve(this.store.splits.create(key, newSplit(key, LIST, files, nodes), at(seconds)));
  }

  splitKey(ci_run: string, isFixed: boolean): SplitKey {
    return splitKey(this.project, this.build, ci_run, isFixed);
  }

  async record(node_index: number, seconds: number, times: Record<string, number>, ci_build_id: string | null = '1'): Promise<void> {
    const ci = ci_build_id === null ? {} : { ci_build_id };
    await record(this.store, this.project, times, { ...this.build, node_index, at: at(seconds), ...ci });
  }

  /** The timeline as it is at some time. @param ci_run the id of its CI run, in the store */
  async timeline(seconds: number, ci_run?: string): Promise<Timeline> {
    const build = await this.store.builds.find(this.project, this.build);
    const [newest] = await this.store.ciRuns.ofBuild(this.project, this.build);
    const subject = await findSubject(this.store, this.project, build?.id ?? newest!.id, ci_run);
    return readTimeline(this.store, subject!, at(seconds));
  }
}

/** The lanes in a short form: per span `from-to path=seconds ...`, in seconds since the build began. */
export function lanesOf({ nodes, paths }: Timeline): string[] {
  return nodes.map(({ start: began, spans, end }) =>
    began === null
      ? 'never came'
      : [
          ...spans.map(({ from, to, files, seconds, is_replay, lease }) => {
            const named = files.map((file, i) => `${paths[file]}${seconds[i] === null ? '' : `=${seconds[i]}`}`);
            return [`${from}-${to}${is_replay ? ' again' : ''}${lease ? ` ${lease}` : ''}`, ...named].join(' ');
          }),
          `until ${end}`,
        ].join(', '),
  );
}

function estimatesOf(suite: Suite): Estimates<DistinctPaths> {
  const listed = Object.entries(suite).sort(([, a], [, b]) => (b ?? GUESS_SECONDS) - (a ?? GUESS_SECONDS));
  const basis = emptyBasis(listed.length);
  for (const [i, [, seconds]] of listed.entries())
    if (seconds === null) setBasis(basis, i, codeOf('suite'));
    else setBasis(basis, i, codeOf('branch'), 1, 0.2);
  return {
    basis,
    ...plannedPaths(listed.map(([path]) => path)),
    seconds: Float64Array.from(listed, ([, seconds]) => seconds ?? NaN),
    weights: Float64Array.from(listed, ([, seconds]) => toWeight(seconds ?? GUESS_SECONDS)),
  };
}
