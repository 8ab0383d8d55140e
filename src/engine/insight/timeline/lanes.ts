import { floorOf } from '../minutes/floor.js';
import { buildHead, type Subject } from '../subject.js';
import type { Timeline } from './timeline.js';
import type { TimelineAnswer } from './timeline-answer.js';

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
