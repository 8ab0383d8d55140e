import type { MinutesAnswer } from '../../protocol/answers/minutes.js';
import type { TimelineAnswer } from '../../protocol/answers/timeline.js';

/** Answers about a build that runs, some seconds after they were made: nothing happened, and the nodes at work are at work for longer. */

export function agedMinutes(build: MinutesAnswer, age: number): MinutesAnswer {
  return build.is_running ? { ...build, wall: build.wall + age } : build;
}

export function agedTimeline(timeline: TimelineAnswer, age: number): TimelineAnswer {
  if (!timeline.is_running || age === 0) return timeline;
  const wall = timeline.wall + age;
  const nodes = timeline.nodes.map(node => {
    const last = node.spans.at(-1);
    const isAtWork = last?.to === timeline.wall && last.seconds.every(seconds => seconds === null);
    return isAtWork ? { ...node, end: wall, spans: [...node.spans.slice(0, -1), { ...last, to: wall }] } : node;
  });
  return { ...timeline, wall, nodes };
}
