import type { Timeline } from '../timeline/timeline.js';
import { leastDelay, mainCause, overrunFile } from './delay.js';
import { lastNode } from './last-node.js';
import type { Minutes } from './minutes.js';

/**
 * The file without which the build would have ended earlier: the longest one, if it takes longer than an even share of the work. Else,
 * if the last node was late because of estimates, the file of its last span that exceeded its own by at least half of the delay. Null:
 * none stands out.
 */
export function decidingFile(timeline: Timeline, minutes: Minutes): number | null {
  const least = leastDelay(minutes.wall);
  const longest = minutes.parts.find(({ name }) => name === 'longest_file')!;
  if (longest.milliseconds > least) return minutes.longest?.file ?? null;
  const last = lastNode(timeline);
  if (!last || last.late <= least || mainCause(minutes, last.lane.node_index) !== 'estimates') return null;
  return overrunFile(last.lane.spans.at(-1)!, timeline.files, last.late)?.file ?? null;
}
