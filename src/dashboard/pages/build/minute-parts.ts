import type { MinutePartAnswer } from '../../../protocol/answers/minutes.js';

/** The parts of the floor: no plan with whole files avoids them. */
const FLOOR: MinutePartAnswer['name'][] = ['even_share', 'longest_file'];

/** The parts of the floor, or those of the time that was lost. */
export function partsOf(parts: readonly MinutePartAnswer[], isFloor: boolean): MinutePartAnswer[] {
  return parts.filter(({ name }) => FLOOR.includes(name) === isFloor);
}

export function largestPart(parts: readonly MinutePartAnswer[], isFloor: boolean): MinutePartAnswer {
  return partsOf(parts, isFloor).reduce((largest, part) => (part.seconds > largest.seconds ? part : largest));
}
