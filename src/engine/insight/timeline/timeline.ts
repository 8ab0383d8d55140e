import type { Millis } from '../../ports/store.js';
import { floorOf } from '../minutes/floor.js';
import type { LearnedCost } from '../minutes/minutes-answer.js';
import { buildHead, type Subject } from '../subject.js';
import type { LaneAnswer, SpanAnswer, TimelineAnswer } from './timeline-answer.js';

/** What the nodes of a CI run did, and when. Durations are seconds, and times of nodes are seconds since the start. */
export interface Timeline extends Pick<TimelineAnswer, 'kind' | 'is_running' | 'wall'>, TimelineFiles {
  /** When the first node began: its first pull, or else the creation of the split, or else derived from the recorded times. */
  started_at: Millis;
  /** Whether the nodes asked for their files when they are said to have started; otherwise this is derived from recorded times. */
  areStartsKnown: boolean;
  /** What a batch cost, as the queue expected it at its first batch and had learned it at its last one, or is known of splits now; null: unknown. */
  expectedCost: LearnedCost | null;
  cost: LearnedCost | null;
  /** How long nothing ran before a node was retried. This time is cut out: what came later has earlier times here. */
  paused: number;
  /** By node_index: one for each node of the build, also for a node that never started. */
  nodes: NodeLane[];
}

/** All files that were planned or recorded, in columns. */
export type TimelineFiles = Pick<TimelineAnswer, 'paths' | 'estimates' | 'is_guess'>;

export interface NodeLane extends Omit<LaneAnswer, 'recorded'> {
  /** When it last recorded a run; null: it has not recorded since it began. */
  recordedAt: number | null;
}

export type Span = SpanAnswer;

/** Whether a node has recorded its last files. */
export function hasRecordedLast({ recordedAt, spans }: NodeLane): boolean {
  return recordedAt !== null && recordedAt >= (spans.at(-1)?.to ?? 0);
}

/** A lane with other times. */
export function withTimes(lane: NodeLane, timeOf: (time: number) => number): NodeLane {
  const orNull = (time: number | null) => (time === null ? null : timeOf(time));
  return {
    ...lane,
    start: orNull(lane.start),
    end: orNull(lane.end),
    recordedAt: orNull(lane.recordedAt),
    spans: lane.spans.map(span => ({ ...span, from: timeOf(span.from), to: timeOf(span.to) })),
  };
}

/** Whether the node recorded a time for some file of a span. */
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
    nodes: nodes.map(({ recordedAt, spans, ...lane }) => ({ ...lane, recorded: recordedAt !== null, spans })),
  };
}
