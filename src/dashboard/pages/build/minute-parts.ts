import type { MinutePartAnswer } from '../../../protocol/answers/minutes.js';

export const PART_TITLES: Record<MinutePartAnswer['name'], string> = {
  even_share: 'even share',
  longest_file: 'longest file',
  slow_nodes: 'slow nodes',
  estimates: 'wrong estimates',
  late_starts: 'late starts',
  unreported: 'not in the reports',
  gaps: 'gaps',
  repeats: 'repeats',
  idle: 'other idle time',
};

/** The parts of the floor: no plan with whole files avoids them. */
const FLOOR: MinutePartAnswer['name'][] = ['even_share', 'longest_file'];

/** The parts of the floor, or those of the time that was lost. */
export function partsOf(parts: readonly MinutePartAnswer[], isFloor: boolean): MinutePartAnswer[] {
  return parts.filter(({ name }) => FLOOR.includes(name) === isFloor);
}

export function largestPart(parts: readonly MinutePartAnswer[], isFloor: boolean): MinutePartAnswer {
  return partsOf(parts, isFloor).reduce((largest, part) => (part.seconds > largest.seconds ? part : largest));
}
