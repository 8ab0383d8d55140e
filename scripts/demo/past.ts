import { byName } from '../../src/protocol/case-outcomes.js';
import type { HandedPiece } from '../../src/protocol/messages/queue.js';
import { pieceOf } from '../../src/protocol/piece-path.js';
import { digest, queueKey, splitKey } from '../../src/server/engine/keys.js';
import { type CaseReport, encodeCases } from '../../src/server/engine/pieces/case-report.js';
import { handedPieces } from '../../src/server/engine/pieces/cuts.js';
import { decodeFiles, pathsOfQueue } from '../../src/server/engine/planned-files.js';
import type { Change, OpenQueue } from '../../src/server/engine/ports/queues.js';
import type { Store } from '../../src/server/engine/ports/store.js';
import type { Batch } from '../../src/server/engine/queue/batch.js';
import { failedOf } from '../../src/server/engine/queue/failed.js';
import { newRun } from '../../src/server/engine/recordings.js';
import { shareOf } from '../../src/server/engine/splits.js';
import { planQueue, planSplit } from '../../src/server/engine/suites/plan-suite.js';
import { suiteOf } from '../../src/server/engine/suites/suite.js';
import { waitingCaller, whenSaved } from '../../test/testbed/waiting.js';
import type { Calendar } from './calendar.js';
import { type CiRun, isRed } from './ci-run.js';
import { type Answer, type Node, type NodeRequest, type PullRequest, type RecordRequest, startNode } from './node.js';
import type { Summaries } from './summaries.js';

/** A node that has not ended yet, with its next request. */
export interface RunningNode {
  run: CiRun;
  node_index: number;
  node: Node;
  request: NodeRequest;
}

export interface Past {
  store: Store;
  project: number;
  pullCost: number;
  /** The clock of the leases. */
  clock: { millis: number };
  summaries: Summaries;
  /** The same seed makes the same plans, too, and playing takes longer. Otherwise runs that are recorded at the same time may change places. */
  isExact?: boolean;
  /** Resolves when the project may play what is next, at a time. */
  turn?: ((at: number) => Promise<void>) | undefined;
  /** Called before each CI run with the part of the time that is played. It may throw to end the play. */
  progressed?: (part: number) => void;
}

const DAY = 86_400_000;

type Recording = RunningNode & { request: RecordRequest };

/**
 * Plays the CI runs before now at their times. Each is planned with what was recorded before it began.
 * Returns the nodes that still run now, and how many CI runs were played.
 */
export async function playPast(past: Past, calendar: Calendar): Promise<{ running: RunningNode[]; ciRuns: number }> {
  const running: RunningNode[] = [];
  let recordings: Recording[] = [];
  let ciRuns = 0;
  const recordUntil = async (at: number) => {
    const due = recordings.filter(({ request }) => request.at <= at).sort((a, b) => a.request.at - b.request.at);
    recordings = recordings.filter(({ request }) => request.at > at);
    if (past.isExact) await recordInOrder(past, due);
    else await Promise.all(due.map(recording => record(past, recording)));
    const unfinished = new Set(recordings.map(({ run }) => run));
    for (const run of new Set(due.map(({ run }) => run))) {
      if (unfinished.has(run)) continue;
      past.summaries.note(past.project, run.build);
      await merge(past, run, calendar.now);
    }
  };
  for (const run of calendar.past()) {
    await past.turn?.(run.at);
    past.progressed?.(1 - (calendar.now - run.at) / (DAY * calendar.days));
    ciRuns += 1;
    await recordUntil(run.at);
    const nodes = run.project.mode === 'queue' ? await playQueue(past, run, calendar.now) : await playSplit(past, run, calendar.now);
    for (const node of nodes) {
      if (node.request.kind === 'record') recordings.push(node as Recording);
      else running.push(node);
    }
  }
  await past.turn?.(calendar.now);
  await recordUntil(calendar.now);
  return { running: [...running, ...recordings], ciRuns };
}

/** Records one run after another, with all times on disk before the runs of the next CI run. */
async function recordInOrder(past: Past, recordings: readonly Recording[]): Promise<void> {
  for (const [i, recording] of recordings.entries()) {
    await record(past, recording);
    if (recordings[i + 1]?.run !== recording.run) await past.store.maintenance.publish('timings');
  }
}

async function record({ store, project }: Past, { run, node_index, request }: Recording): Promise<void> {
  const { commit_hash, branch, node_total } = run.build;
  const ci_run = digest(commit_hash, branch, node_total, run.id);
  const told = request.told.map(({ path, seconds, cases }): CaseReport => {
    const piece = pieceOf(path);
    return { file: piece?.file ?? path, piece, ci_run, commit_hash, runner: run.runner, seconds, cases: byName(cases), passed_whole: [] };
  });
  if (told.length > 0) await store.cases.keep(project, encodeCases(told), request.at);
  await whenSaved(store.recordings.record(project, { ...run.build, node_index }, newRun(request.files, run.id), waitingCaller, request.at));
}

const MERGED_AFTER = 40 * 60_000;

/** Merges some branches without a change once they are green: the CI run of the main branch need not run its tests. */
async function merge({ store, project }: Past, run: CiRun, now: number): Promise<void> {
  const { build, id, at, seconds, nodes } = run;
  const { commit_hash, branch } = build;
  const isGreen = !isRed(run) && nodes.every(({ death }) => death === null);
  const asked_at = at + MERGED_AFTER;
  if (branch === 'main' || !isGreen || commit_hash > '4' || asked_at > now) return;
  const [ciRun] = await store.ciRuns.ofBuild(project, build);
  const merged = { commit_hash: [...commit_hash].reverse().join(''), branch: 'main', ci_run: `${Number(id) + 1}`, asked_at };
  const taken = [...seconds.values()].reduce((sum, each) => sum + each, 0);
  await store.ciRuns.noteSpared(ciRun!, { ...merged, seconds: taken });
}

/** Plays a queue until each node records or ends, or until now. */
async function playQueue({ store, project, pullCost, clock }: Past, run: CiRun, now: number): Promise<RunningNode[]> {
  const key = queueKey(project, run.build, run.id);
  const { plan } = (await planQueue(
    store,
    key,
    suiteOf(run.paths),
    { repeatsNewest: false, sizes: [], pieces: run.runner, failingFirst: false, proved: null },
    { isWorker: true, pullCost, at: now },
  ))!;
  const nodes = begin(run);
  await store.queues.create(key, plan!, nodes[0]!.request.at);
  const { id } = (await store.queues.find(key))!;
  const paths = await pathsOfQueue(store, id);
  const { cuts } = plan!;
  const recordedBefore = (await store.builds.find(project, run.build))?.recorded ?? 0;
  await whenSaved(
    store.queues.update(
      key,
      () => null,
      open => {
        const changes: Change[] = [];
        for (;;) {
          const pulling = nodes.filter(({ request }) => request.kind === 'pull' && request.at <= now);
          if (pulling.length === 0) return { value: null, changes };
          const node = pulling.reduce((first, other) => (other.request.at < first.request.at ? other : first));
          clock.millis = node.request.at;
          // Nodes that work send heartbeats. Otherwise many would stand by for their files.
          if (run.retries) open.queue.hear(nodes.map(({ node_index }) => [node_index, clock.millis]));
          const recorded = nodes.filter(({ request }) => request.kind === 'record' && request.at <= clock.millis).length;
          const handed = pull(open, node as RunningNode & { request: PullRequest }, { paths, cuts }, recordedBefore + recorded, changes);
          advance(nodes, node, handed);
        }
      },
      run.at,
    ),
  );
  return nodes;
}

/** Pulls as the use case does, but without waiting for the disk. */
function pull(
  { queue }: OpenQueue,
  { run: { retries }, node_index, request }: RunningNode & { request: PullRequest },
  { paths, cuts }: { paths: readonly string[]; cuts: Uint8Array | null },
  runs_before: number,
  changes: Change[],
): Answer {
  const { at, process, batch_index, batch_id, failed, times } = request;
  const run = digest(process);
  const node = { node_index, batch_uuid: `${run} ${batch_index}` };
  const pathsOf = ({ files }: Batch) => files.map(file => paths[file]!);
  const ended = batch_id === null ? null : queue.batchOf(node, batch_id);
  if (ended) {
    const told = failed.length === 0 ? { failed: [] } : failedOf(ended, pathsOf(ended), failed);
    changes.push(queue.acknowledge(node, ended.seq, told, times)!);
  }
  const isFirstRequest = batch_index === 0;
  const handed = queue.pull(
    {
      ...node,
      run,
      isRetry: false,
      isFirstRequest,
      ...(isFirstRequest && { runs_before }),
      wantsLastSplit: false,
      acknowledges: true,
      ...(retries && { retriesFailed: true }),
      recordedRunId: null,
      hasLeft: () => false,
    },
    at,
  );
  changes.push(...queue.takeChanged());
  if (!handed) return retries && queue.standsBy(node_index) ? 'later' : null;
  const { batch } = handed;
  changes.push(batch);
  queue.delivered(batch.seq);
  const handedPaths = pathsOf(batch);
  return {
    batch_id: batch.seq,
    paths: handedPaths,
    pieces: cuts ? (JSON.parse(handedPieces(cuts, handedPaths).toString()) as HandedPiece[]) : [],
    ...(batch.retry && { isRetry: true }),
  };
}

/** Plays a split until each node records or ends, or until now. */
async function playSplit({ store, project, pullCost }: Past, run: CiRun, now: number): Promise<RunningNode[]> {
  const key = splitKey(project, run.build, run.id, true);
  const planned = (await planSplit(store, key, suiteOf(run.paths), { isWorker: true, pullCost, at: now }))!;
  const nodes = begin(run);
  for (;;) {
    const node = nodes.find(({ request }) => request.kind === 'split' && request.at <= now);
    if (!node) return nodes;
    const request = { key, node_index: node.node_index, suite: suiteOf(run.paths), listDigest: undefined, told: null };
    const { files } = (await shareOf(store, request, planned, node.request.at))!;
    advance(nodes, node, { batch_id: 0, paths: decodeFiles(files!).map(({ path }) => path), pieces: [] });
  }
}

/** The nodes of a CI run, the first to ask first. */
function begin(run: CiRun): RunningNode[] {
  const nodes = run.nodes.map(plan => {
    const node = startNode(run, plan);
    return { run, node_index: plan.node_index, node, request: node.next().value as NodeRequest };
  });
  return nodes.sort((a, b) => a.request.at - b.request.at);
}

/** Tells a node what it is handed. A node that ends leaves the list. */
function advance(nodes: RunningNode[], node: RunningNode, answer: Answer): void {
  const { value, done } = node.node.next(answer);
  if (done) nodes.splice(nodes.indexOf(node), 1);
  else node.request = value;
}
