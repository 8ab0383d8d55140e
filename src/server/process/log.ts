import { write, writeSync } from 'node:fs';
import { type DestinationStream, type Logger, pino } from 'pino';

/** Log that is buffered while stderr cannot be written. */
const LOG_BUFFER_CHARACTERS = 1_048_576;
/** Interval at which the write is tried again. */
const LOG_RETRY_MILLISECONDS = 50;
/** Attempts to write the buffered log on exit. */
const LOG_FLUSH_ATTEMPTS = 10;

export type { Logger };

/** Opens a structured log, one JSON object per line, on stderr. stdout is for the output of commands. */
export function openLog(level: string, destination: DestinationStream = stderr()): Logger {
  return pino(
    { level, base: null, timestamp: pino.stdTimeFunctions.isoTime, formatters: { level: label => ({ level: label }) } },
    destination,
  );
}

/** Opens a log for the last lines of a process: calls return when the line is written. Other logs use threads, which a disk may block. */
export function openSyncLog(level: string): Logger {
  return openLog(level, { write: line => writeNow(2, line) });
}

/**
 * Writes lines to an open file, one after another. Lines that cannot be written, because the disk is full or the terminal is gone, are
 * lost, so that the server continues. In these cases pino's own destination ends the process or retries without end.
 */
export class LogFile implements DestinationStream {
  #buffer = '';
  /** Bytes that the reader has not accepted yet. */
  #unwritten: Uint8Array = new Uint8Array();
  #isWriting = false;

  constructor(readonly fileDescriptor: number) {}

  write(line: string): void {
    if (this.#buffer.length + line.length > LOG_BUFFER_CHARACTERS) return;
    this.#buffer += line;
    if (!this.#isWriting) this.#writeNext();
  }

  /** Writes the buffered lines. A write that has already started is not awaited. */
  end(): void {
    writeNow(this.fileDescriptor, Buffer.concat([this.#unwritten, Buffer.from(this.#buffer)]));
    this.#unwritten = new Uint8Array();
    this.#buffer = '';
  }

  #writeNext(): void {
    const bytes = this.#unwritten.length > 0 ? this.#unwritten : Buffer.from(this.#buffer);
    if (this.#unwritten.length === 0) this.#buffer = '';
    this.#unwritten = new Uint8Array();
    this.#isWriting = bytes.length > 0;
    if (!this.#isWriting) return;
    write(this.fileDescriptor, bytes, (error, written) => {
      if (isPipeFull(error)) {
        this.#unwritten = bytes;
        setTimeout(() => this.#writeNext(), LOG_RETRY_MILLISECONDS);
        return;
      }
      if (!error) this.#unwritten = bytes.subarray(written);
      this.#writeNext();
    });
  }
}

let stderrFile: LogFile | null = null;

/** Returns the one file that all logs of the process share. */
function stderr(): LogFile {
  if (stderrFile) return stderrFile;
  const file = (stderrFile = new LogFile(2));
  process.once('exit', () => file.end());
  return file;
}

function writeNow(fileDescriptor: number, text: string | Uint8Array): void {
  let bytes: Uint8Array = Buffer.from(text);
  for (let attempts = 0; bytes.length > 0 && attempts < LOG_FLUSH_ATTEMPTS; ) {
    try {
      bytes = bytes.subarray(writeSync(fileDescriptor, bytes));
    } catch (error) {
      if (!isPipeFull(error)) return;
      attempts += 1;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LOG_RETRY_MILLISECONDS);
    }
  }
}

/** Tells whether a write failed because the reader of the pipe is slow. */
function isPipeFull(error: unknown): boolean {
  return (error as NodeJS.ErrnoException | null)?.code === 'EAGAIN';
}
