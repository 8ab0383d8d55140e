import { wasCancelled } from '../../engine/ci-run.js';
import type { Run } from '../../engine/ports/builds.js';
import type { Millis } from '../../engine/ports/store.js';
import type { Batch } from '../../engine/queue/batch.js';
import { addRun, draftSpan, expectedOf, millisecondsIn, patienceWith } from './draft-span.js';
import type { FileColumns } from './file-columns.js';
import { shiftsOf } from './pauses.js';
import { isRecorded, type NodeLane, type Span } from './timeline.js';

export interface Lanes {
  nodes: NodeLane[];
  /** If nothing else happens, the first of the nodes at work counts as lost after this time; Infinity: none is at work. */
  steadyFor: Millis;
  /** Some node was cancelled, and all others that have begun have ended. */
  isCancelled: boolean;
  /** Now, by the time of the lanes. */
  now: Millis;
}

/** The batches of a CI run, in the order of their numbers, and its recorded runs, by node and in the order of recording. */
export interface QueueHistory {
  nodeTotal: number;
  batches: readonly Batch[];
  runs: readonly Run[];
  /** When the CI run began. */
  beganAt: Millis;
}

/** Makes a lane of each node of a queue. Times are milliseconds since 1970. */
export function queueLanes({ nodeTotal, batches, runs, beganAt }: QueueHistory, columns: FileColumns, now: Millis): Lanes {
  const shifts = shiftsOf(batches);
  const movedAt = timesOfMoves(batches, shifts);
  const lanes = Array.from({ length: nodeTotal }, (_, node_index) => new QueueLane(node_index, columns, beganAt));
  const runsOf = lanes.map((): Run[] => []);
  for (const run of runs) runsOf[run.node_index]?.push(run);
  for (const batch of batches) {
    const lane = lanes[batch.node_index];
    if (!lane) continue;
    const pending = runsOf[batch.node_index]!;
    while (pending[0] && isBefore(pending[0], batch, lane.handedAt)) lane.record(pending.shift()!);
    lane.hand(batch, shifts.get(batch)!, movedAt.get(batch) ?? Infinity);
  }
  for (const lane of lanes) for (const run of runsOf[lane.node_index]!) lane.record(run);
  const last = batches.at(-1);
  const steadyNow = now + (last ? shifts.get(last)! : 0);
  const states = lanes.map(lane => lane.end(steadyNow));
  const steadyFor = Math.min(...lanes.map(lane => lane.patience ?? Infinity));
  const isCancelled = steadyFor === Infinity && !states.includes('lost') && wasCancelled(lanes);
  return { nodes: lanes.map(lane => lane.toLane()), isCancelled, steadyFor, now: steadyNow };
}

/**
 * Reports whether a run was recorded before its node got a batch. Where only the clock can decide, the run must also be later than the batch before.
 * @param last when the node got that batch
 */
function isBefore(run: Run, { runs_before, handed_at }: Batch, last: Millis): boolean {
  return runs_before === undefined ? run.created_at >= last && run.created_at < handed_at : run.ordinal <= runs_before;
}

/** When a file of a batch next went to another node. */
function timesOfMoves(batches: readonly Batch[], shifts: ReadonlyMap<Batch, number>): Map<Batch, Millis> {
  const moves = new Map<Batch, Millis>();
  const next = new Map<number, Batch>();
  for (const batch of batches.toReversed()) {
    for (const file of batch.files) {
      const later = next.get(file);
      if (later && later.node_index !== batch.node_index) {
        moves.set(batch, Math.min(moves.get(batch) ?? Infinity, later.handed_at + shifts.get(later)!));
      }
      next.set(file, batch);
    }
  }
  return moves;
}

/** The lane of a node, made of its batches and runs in their order. */
class QueueLane {
  readonly #spans: Span[] = [];
  /** The spans since the last recording: the next one has their times. */
  #unrecorded: Span[] = [];
  /** Spans after which the node seems to have restarted. If it records them, it did not: its client sends the list in each request. */
  #cut: { span: Span; until: Millis }[] = [];
  /** When the node came with a new process, and so with a new job. */
  #restartedAt: Millis[] = [];
  /** The span that the node works on; null: none. */
  #open: Span | null = null;
  /** When files of that span went to another node. */
  #movedAt = Infinity;
  #recordedAt: Millis | null = null;
  #ranNothingAgain = false;
  /** When the node was cancelled with its last batch; null: it was not, or came back. */
  cancelledAt: Millis | null = null;
  /** Once it is ended: for how long it counts as at work; null: it is not. */
  patience: Millis | null = null;
  /** The milliseconds that were added to the last time: see `shiftsOf`. */
  #shift = 0;
  /** When it last got a batch or recorded. */
  heardAt: Millis = -Infinity;
  /** When the node got its last batch, by the server's clock. */
  handedAt: Millis = -Infinity;

  constructor(
    readonly node_index: number,
    readonly columns: FileColumns,
    readonly beganAt: Millis,
  ) {}

  hand(batch: Batch, shift: number, movedAt: Millis): void {
    const from = batch.handed_at + shift;
    const { seq, files, isReplay, isFirstRequest, retry: is_retry, lease = null, failed = null, cancelled_at } = batch;
    this.cancelledAt = cancelled_at === undefined ? null : cancelled_at + shift;
    this.#shift = shift;
    this.handedAt = batch.handed_at;
    this.heardAt = from;
    if (isFirstRequest && this.#spans.length > 0) this.#restartedAt.push(from);
    if (this.#open) {
      this.#open.to = isFirstRequest ? Math.min(from, this.#expectedEnd(this.#open)) : from;
      if (isFirstRequest) this.#cut.push({ span: this.#open, until: from });
    }
    this.#open = null;
    this.#ranNothingAgain = files.length === 0;
    if (this.#ranNothingAgain) return;
    this.#open = draftSpan(from, from, files, { batch: seq, is_replay: isReplay, lease, failed, ...(is_retry && { is_retry }) });
    this.#movedAt = movedAt;
    this.#spans.push(this.#open);
    this.#unrecorded.push(this.#open);
  }

  record(run: Run): void {
    const last = this.#spans.at(-1);
    const at = Math.max(run.created_at + this.#shift, last?.from ?? -Infinity, this.#recordedAt ?? -Infinity);
    if (this.#open) this.#open.to = at;
    else if (this.#unrecorded.length === 0 && run.paths.length > 0) this.#addUnplanned(run, at);
    // A retry for which nothing was left moves no end.
    const isRetry = run.paths.length === 0 && this.#unrecorded.length === 0 && this.#spans.length > 0;
    addRun(run, this.#unrecorded, this.columns);
    for (const { span, until } of this.#cut.filter(cut => isRecorded(cut.span))) {
      span.to = until;
      this.#restartedAt = this.#restartedAt.filter(at => at !== until);
    }
    this.#cut = [];
    this.#open = null;
    this.#unrecorded = [];
    if (!isRetry) this.#recordedAt = at;
    this.heardAt = at;
    if (run.paths.length > 0) this.#ranNothingAgain = false;
    // A node that is cancelled records what it ran, or nothing at all. It came back, and nothing was left for it.
    else this.cancelledAt = null;
  }

  /** Ends the last span. Returns what became of the node. */
  end(now: Millis): 'ended' | 'cancelled' | 'at work' | 'lost' {
    const open = this.#open;
    if (this.cancelledAt !== null) {
      if (open) open.to = Math.max(open.from, this.cancelledAt);
      return 'cancelled';
    }
    if (!open) return 'ended';
    this.patience = patienceWith(open, this.columns, now);
    open.to = this.patience === null ? this.#expectedEnd(open) : Math.max(open.from, now);
    return this.patience === null ? 'lost' : 'at work';
  }

  toLane(): NodeLane {
    const spans = this.#spans;
    const start = spans[0]?.from ?? this.#recordedAt;
    const end = start === null ? null : Math.max(start, this.#recordedAt ?? start, spans.at(-1)?.to ?? start);
    const restartedAt = this.#restartedAt;
    const lane: NodeLane = { node_index: this.node_index, start, recordedAt: this.#recordedAt, restartedAt, end, spans };
    return { ...lane, ...(this.#ranNothingAgain && { ranNothingAgain: true }), ...(this.cancelledAt !== null && { isCancelled: true }) };
  }

  /** A run of files that the node did not get from the queue. */
  #addUnplanned(run: Run, at: Millis): void {
    const earliest = this.#spans.at(-1)?.to ?? this.beganAt;
    const span = draftSpan(Math.min(at, Math.max(earliest, at - millisecondsIn(run))), at, []);
    this.#spans.push(span);
    this.#unrecorded.push(span);
  }

  #expectedEnd(span: Span): Millis {
    return Math.max(span.from, Math.min(this.#movedAt, span.from + expectedOf(span, this.columns)));
  }
}
