import type { PlannedFile } from './planned-file.js';

/** How long a command may run: seconds; 'off': as long as it wants; missing: as the rule says. */
export interface TimeLimitOption {
  timeLimit?: number | 'off';
}

/** The rule: what the files of a command are expected to take, so many times, but no less than this. */
const EXPECTED_TIMES = 8;
const LEAST_SECONDS = 600;

/**
 * Returns the seconds after which a command with these files hangs; null: it may run for ever. Without an option, a command that has a file that was
 * never measured may: nobody knows what is long for it.
 */
export function timeLimitOf(files: readonly Pick<PlannedFile, 'duration'>[], { timeLimit }: TimeLimitOption): number | null {
  if (timeLimit !== undefined) return timeLimit === 'off' ? null : timeLimit;
  let seconds = 0;
  for (const { duration } of files) {
    if (duration === undefined) return null;
    seconds += duration;
  }
  return Math.max(LEAST_SECONDS, EXPECTED_TIMES * seconds);
}
