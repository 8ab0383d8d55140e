import { write, writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';
import { limits } from '../limits.js';

export type { Logger };

/** Structured logs, a JSON object a line, on stderr: stdout is for what the user asked for. */
export function openLog(level: string, destination: DestinationStream = stderr()): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: label => ({ level: label }) } },
    destination,
  );
}

/** For the last words of a process: a line is written when the call returns. Other lines go by way of threads that may hang with the disk. */
export function openSyncLog(level: string): Logger {
  return openLog(level, { write: line => writeAtOnce(2, line) });
}

/**
 * An open file (by its number) that takes lines one after the other. Those that it does not take, because its disk is full or its
 * terminal gone, are lost: no log is worth its server. (pino's own destination ends the process then, or tries without end.)
 */
export class LogFile implements DestinationStream {
  #waiting = '';
  /** What a slow reader did not take yet. */
  #rest: Uint8Array = new Uint8Array();
  #isWriting = false;

  constructor(readonly file: number) {}

  write(line: string): void {
    if (this.#waiting.length + line.length > limits.logBufferCharacters) return;
    this.#waiting += line;
    if (!this.#isWriting) this.#next();
  }

  /** Writes what waits; what is being written is on its way. */
  end(): void {
    writeAtOnce(this.file, Buffer.concat([this.#rest, Buffer.from(this.#waiting)]));
    this.#rest = new Uint8Array();
    this.#waiting = '';
  }

  #next(): void {
    const bytes = this.#rest.length > 0 ? this.#rest : Buffer.from(this.#waiting);
    if (this.#rest.length === 0) this.#waiting = '';
    this.#rest = new Uint8Array();
    this.#isWriting = bytes.length > 0;
    if (!this.#isWriting) return;
    write(this.file, bytes, (error, written) => {
      if (isFull(error)) {
        this.#rest = bytes;
        setTimeout(() => this.#next(), limits.logRetryMilliseconds);
        return;
      }
      if (!error) this.#rest = bytes.subarray(written);
      this.#next();
    });
  }
}

let standard: LogFile | null = null;

/** One for all logs of a process. */
function stderr(): LogFile {
  if (standard) return standard;
  const file = (standard = new LogFile(2));
  process.once('exit', () => file.end());
  return file;
}

function writeAtOnce(file: number, text: string | Uint8Array): void {
  let bytes: Uint8Array = Buffer.from(text);
  for (let tries = 0; bytes.length > 0 && tries < limits.logFlushAttempts; ) {
    try {
      bytes = bytes.subarray(writeSync(file, bytes));
    } catch (error) {
      if (!isFull(error)) return;
      tries += 1;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, limits.logRetryMilliseconds);
    }
  }
}

/** Whether a pipe is full, whose reader is slow. */
function isFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'EAGAIN';
}
