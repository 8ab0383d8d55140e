import { minutesOf } from '../../engine/insight/minutes/minutes.js';
import type { Subject } from '../../engine/insight/subject.js';
import type { Timeline } from '../../engine/insight/timeline/timeline.js';
import type { TimelineAnswer } from '../messages/insight/timeline.js';
import { buildHead, orNull } from './build-head.js';

/** What each node did, in the form that the API returns. */
export function timelineAnswer(subject: Subject, timeline: Timeline): TimelineAnswer {
  const { start, files, nodes } = timeline;
  const { wall, floor } = minutesOf(timeline);
  const since = (time: number) => (time - start) / 1000;
  return {
    ...buildHead(subject, timeline),
    wall: wall / 1000,
    floor: floor / 1000,
    paths: files.paths,
    estimates: Array.from(files.estimates, orNull),
    is_guess: Array.from(files.isGuess, each => (each === 1 ? 1 : 0)),
    nodes: nodes.map(({ node_index, start: began, end, recordedAt, spans }) => ({
      node_index,
      start: began === null ? null : since(began),
      end: end === null ? null : since(end),
      recorded: recordedAt !== null,
      spans: spans.map(({ seq, from, to, files: indices, seconds, isReplay, lease, failed }) => ({
        batch: seq,
        from: since(from),
        to: since(to),
        files: Array.from(indices),
        seconds: Array.from(seconds, orNull),
        is_replay: isReplay,
        lease,
        failed: failed?.map(i => indices[i]!) ?? null,
      })),
    })),
  };
}
