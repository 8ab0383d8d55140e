import type { PartName } from '../../engine/insight/minutes/minutes-answer.js';

/** The parts of the wall time, as people read them. */
export const PART_TITLES: Readonly<Record<PartName, string>> = {
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
