import { createReadStream } from 'node:fs';
import { type Format, formatOf, formats, HEAD_BYTES } from '../reports/format.js';
import type { Progress } from './progress.js';

export interface OpenReport {
  /** As it was named; `-` is what is piped in. */
  file: string;
  format: Format;
  /** All of it. */
  bytes: AsyncIterable<Uint8Array>;
}

/** Opens a file and tells its format by how it begins, unless that is given. Throws a sentence when it cannot. */
export async function openReport(file: string, given: Format | null, progress: Progress): Promise<OpenReport> {
  const source = file === '-' ? process.stdin : createReadStream(file);
  const chunks = source[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  const head: Buffer[] = [];
  let size = 0;
  try {
    while (size < HEAD_BYTES) {
      const { done, value } = await chunks.next();
      if (done) break;
      head.push(value);
      size += value.length;
    }
  } catch (error) {
    throw unreadable(file, error);
  }
  const beginning = Buffer.concat(head);
  if (size === 0) throw new Error(`${file} is empty: there are no timings in it`);
  // Windows PowerShell writes what is redirected so.
  if (beginning[0]! + beginning[1]! === 0x1fd) throw new Error(`${file} is UTF-16: save it as UTF-8`);
  const format = given ?? formatOf(beginning.toString());
  if (!format) throw new Error(`cannot tell the format of ${file}, which begins with ${JSON.stringify(beginning.toString().slice(0, 60))}: name it with --format (${formats.join(', ')})`);
  return { file, format, bytes: rest(file, beginning, chunks, progress) };
}

async function* rest(file: string, beginning: Buffer, chunks: AsyncIterator<Buffer>, progress: Progress): AsyncGenerator<Uint8Array> {
  yield beginning;
  let bytes = beginning.length;
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      bytes += next.value.length;
      progress.tell(() => `${file}: ${(bytes / 2 ** 20).toFixed(1)} MiB read`);
      yield next.value;
    }
  } catch (error) {
    throw unreadable(file, error);
  }
}

function unreadable(file: string, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EISDIR') return new Error(`${file} is a folder: name the files in it (${file.replace(/\/$/, '')}/*.xml)`, { cause: error });
  return new Error(`cannot read ${file}: ${code === 'ENOENT' ? 'there is no such file' : message}`, { cause: error });
}
