import { constants } from 'node:os';

/** The signals that end a program in an orderly way. */
export const END_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** Returns the exit code that a shell reports for a process that a signal ended. */
export function signalExitCode(signal: NodeJS.Signals): number {
  return 128 + constants.signals[signal];
}
