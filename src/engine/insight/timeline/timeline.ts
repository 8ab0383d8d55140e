import type { Millis } from '../../ports/store.js';
import type { EndedLease } from '../../queue/batch.js';
import type { Decision } from '../../queue/decision.js';

/** What the nodes of a CI run did, and when. Times are milliseconds since 1970 by the server's clock; durations are seconds. */
export interface Timeline {
  /** `recordings`: no queue and no split is known, only what was recorded. */
  kind: 'queue' | 'split' | 'recordings';
  /** When the first node began: its first pull, or else the creation of the split, or else derived from the recorded times. */
  start: Millis;
  /** When the last node ended; while it is running, now. */
  end: Millis;
  /** How long nothing ran before a node was retried. This time is cut out: what came later has earlier times here. */
  paused: Millis;
  /** Some node has files that it has not recorded, and was heard of recently; or files are left in the queue. */
  isRunning: boolean;
  /** All files that were planned or recorded. */
  files: TimelineFiles;
  /** By node_index: one for each node of the build, also for a node that never started. */
  nodes: NodeLane[];
}

/** Columns, because a suite may have 200,000 files. */
export interface TimelineFiles {
  paths: string[];
  /** The seconds that the plan was made with, guesses included; NaN: not planned. */
  estimates: Float64Array;
  /** 1: the estimate is a guess, because the file was never measured. */
  isGuess: Uint8Array;
}

export interface NodeLane {
  node_index: number;
  /** When it first asked for files, or (of a split or recordings) when it must have begun; null: it never started. */
  start: Millis | null;
  /** When it last recorded a run; null: it has not recorded since it began. */
  recordedAt: Millis | null;
  /** When it ended: `recordedAt`, or else its last sign of life; null: it never started. */
  end: Millis | null;
  /** In the order of time, without overlaps. Of a split or of recordings: one for each recorded run, or one of what is planned. */
  spans: Span[];
}

/** What a node did with one batch. */
export interface Span {
  /** The batch's number in its queue; null: a split or recordings. */
  seq: number | null;
  /** When the batch was handed out. */
  from: Millis;
  /**
   * When the node asked again or recorded. The files may have ended earlier: the rest is a gap. Of a node that did neither: when it
   * should have ended by the estimates, or when its files went to another node if that was earlier; while it may be at work, now.
   */
  to: Millis;
  /** Indices into the timeline's files, in the order in which the node was given them. */
  files: Uint32Array;
  /** By file: the seconds that the node recorded for this execution; NaN: none (yet). */
  seconds: Float64Array;
  /** The node had these files before. */
  isReplay: boolean;
  /** Why the batch's lease ended early; null: it did not. */
  lease: EndedLease | null;
  /** Which of `files` failed; null: the client does not report it. */
  failed: number[] | null;
  /** Null: the planner did not size the batch. */
  decision: Decision | null;
}
