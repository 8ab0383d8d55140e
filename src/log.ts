import { type DestinationStream, type Logger, pino } from 'pino';

export type { Logger };

/** Structured logs, a JSON object a line, on stderr: stdout is for what the user asked for. */
export function openLog(level: string, destination: DestinationStream = pino.destination(2)): Logger {
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: label => ({ level: label }) } }, destination);
}

/** For the last words of a process: a line is written when the call returns. Other lines go by way of threads that may hang with the disk. */
export function openLastLog(level: string): Logger {
  return openLog(level, pino.destination({ dest: 2, sync: true }));
}
