import type { Timeline } from '../timeline/timeline.js';
import { leastDelay, mainCause, overrunFile } from './delay.js';
import { lastNode } from './last-node.js';
import type { LongExecution, Minutes } from './minutes.js';

/** The longest execution, if it takes longer than an even share of the work by a delay that matters: all nodes wait for it. */
export function decidingExecution({ parts, longest, wall }: Minutes): LongExecution | null {
  const part = parts.find(({ name }) => name === 'longest_file')!;
  return part.milliseconds > leastDelay(wall) ? longest : null;
}

/**
 * The file without which the build would have ended earlier: the longest one, if it takes longer than an even share of the work. Else,
 * if the last node was late because of estimates, the file of its last span that exceeded its own by at least half of the delay. Null:
 * none stands out.
 */
export function decidingFile(timeline: Timeline, minutes: Minutes): number | null {
  const longest = decidingExecution(minutes);
  if (longest) return longest.file;
  const last = lastNode(timeline);
  if (!last || last.late <= leastDelay(minutes.wall) || mainCause(minutes, last.lane.node_index) !== 'estimates') return null;
  return overrunFile(last.lane.spans.at(-1)!, timeline.files, last.late)?.file ?? null;
}
