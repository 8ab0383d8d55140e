import { wholeMilliseconds } from '../../../base/rounding.js';
import type { LearnedCost } from '../../../protocol/answers/minutes.js';
import type { LaneAnswer, SpanAnswer, TimelineAnswer } from '../../../protocol/answers/timeline.js';
import type { Millis } from '../../engine/ports/store.js';
import { isRequeued } from '../../engine/queue/batch.js';
import { expectedTime } from '../../planning/batching/batch-cost.js';
import { floorOf } from '../minutes/floor.js';
import { buildHead, type Subject } from '../subject.js';

/** Actions of the nodes of a CI run, with their times. Durations are seconds, and times of nodes are seconds since the start. */
export interface Timeline extends Pick<TimelineAnswer, 'kind' | 'is_running' | 'state' | 'wall'>, TimelineFiles {
  /** When the first node began: its first pull, or else the creation of the split, or else derived from the recorded times. */
  started_at: Millis;
  /** True if the nodes asked for their files when they are said to have started; otherwise this is derived from recorded times. */
  areStartsKnown: boolean;
  /** Cost of a batch that the queue expected at its first one; null: unknown. */
  expectedCost: LearnedCost | null;
  /**
   * Cost of a batch: by the recorded times of a queue that has ended, as a running queue had learned it at its last batch, or of a split as it is
   * known now; null: unknown.
   */
  cost: LearnedCost | null;
  /** Time in which nothing ran before a node was retried. This time is cut out: later events have earlier times here. */
  paused: number;
  /** If nothing else happens, only the clock changes this timeline of a running build for so many milliseconds; Infinity: it has ended. */
  steadyFor: Millis;
  /** By node_index: one for each node of the build, also for a node that never started. */
  nodes: NodeLane[];
}

/** All files that were planned or recorded, in columns. */
export type TimelineFiles = Pick<TimelineAnswer, 'paths' | 'estimates' | 'is_guess'>;

export interface NodeLane extends Omit<LaneAnswer, 'recorded'> {
  /** When it last recorded a run; null: it has not recorded since it began. */
  recordedAt: number | null;
  /** When its second job began, and each later one, ascending: the CI system ran the node again. */
  restartedAt: number[];
  /**
   * True if the node was run again and got no file, as when the CI system repeats a job whose queue is empty: nothing shows that its tests pass now.
   */
  ranNothingAgain?: true;
  /** True if the node was cancelled with its last batch, and has not come back. */
  isCancelled?: true;
}

export type Span = SpanAnswer;

/** Time that files are expected to take, in seconds: no less than their estimates. */
export function expectedSeconds({ estimates, cost }: Pick<Timeline, 'estimates' | 'cost'>, files: readonly number[]): number {
  const estimate = files.reduce((sum, file) => sum + (estimates[file] ?? 0), 0);
  return cost ? expectedTime(files.length, estimate, cost) : estimate;
}

/** Reports whether most files of a build were never measured before. */
export function wasMostlyGuessed({ is_guess }: TimelineFiles): boolean {
  return is_guess.reduce<number>((sum, each) => sum + each, 0) > is_guess.length / 2;
}

/** Reports whether a batch ended, and all of its files were recorded. */
export function isFinished(span: Span): boolean {
  const { seconds, to, from } = span;
  return seconds.length > 0 && to > from && !isRequeued(span) && !seconds.includes(null);
}

/** Reports whether a node has recorded its last files. */
export function hasRecordedLast({ recordedAt, spans }: NodeLane): boolean {
  return recordedAt !== null && recordedAt >= (spans.at(-1)?.to ?? 0);
}

/** Reports whether other nodes got the last files of a node: it was cancelled, or fell silent and did not come back. */
export function hasLeft({ isCancelled, spans }: NodeLane): boolean {
  return isCancelled === true || spans.at(-1)?.lease === 'expired';
}

/** Reports whether a process of a node began again and left files, or ran files again. */
export function hasRestarted({ spans }: Pick<NodeLane, 'spans'>): boolean {
  return spans.some(({ is_replay, lease }) => is_replay || lease === 'restarted');
}

/**
 * How long each job of the nodes ran, from its first request to its end, in whole seconds: part of a second is paid as a whole one. The time
 * between two jobs of a node is paid by nobody.
 */
export function jobsOf({ nodes }: Pick<Timeline, 'nodes'>): number[] {
  return nodes.flatMap(({ start, end, restartedAt, spans }) => {
    if (start === null || end === null) return [];
    const ends = [...spans.map(({ to }) => to), end];
    return [start, ...restartedAt].map((from, i) => {
      const to = ends.reduce((last, each) => (each <= (restartedAt[i] ?? Infinity) ? Math.max(last, each) : last), from);
      return Math.ceil(wholeMilliseconds(to - from));
    });
  });
}

/** A lane with other times. */
export function withTimes(lane: NodeLane, timeOf: (time: number) => number): NodeLane {
  const orNull = (time: number | null) => (time === null ? null : timeOf(time));
  return {
    ...lane,
    start: orNull(lane.start),
    end: orNull(lane.end),
    recordedAt: orNull(lane.recordedAt),
    restartedAt: lane.restartedAt.map(timeOf),
    spans: lane.spans.map(span => ({ ...span, from: timeOf(span.from), to: timeOf(span.to) })),
  };
}

/** Reports whether the node recorded a time for some file of a span. */
export function isRecorded({ seconds }: Pick<Span, 'seconds'>): boolean {
  return seconds.some(each => each !== null);
}

/** The timeline of a CI run in full. */
export function timelineAnswer(subject: Subject, timeline: Timeline): TimelineAnswer {
  const { wall, paths, estimates, is_guess, nodes } = timeline;
  return {
    ...buildHead(subject, timeline),
    wall,
    floor: floorOf(timeline).floor,
    ...{ paths, estimates, is_guess },
    nodes: nodes.map(({ recordedAt, ranNothingAgain: _, isCancelled: _c, restartedAt: _r, spans, ...lane }) => ({
      ...lane,
      recorded: recordedAt !== null,
      spans,
    })),
  };
}
