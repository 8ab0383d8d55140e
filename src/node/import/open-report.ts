import { createReadStream, statSync } from 'node:fs';
import type { Progress } from '../../base/terminal.js';
import { detectFormat, type Format, formats, HEAD_BYTES, reportOffset } from '../reports/format.js';

export interface OpenReport {
  /** The path as given; `-` is stdin. */
  file: string;
  format: Format;
  bytes: AsyncIterable<Uint8Array>;
}

/** Opens a file and detects its format from its beginning, unless the format is given. */
export async function openReport(file: string, givenFormat: Format | null, progress: Progress): Promise<OpenReport> {
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
    throw readError(file, error);
  }
  const bytes = Buffer.concat(head);
  const beginning = bytes.subarray(reportOffset(bytes));
  const error = contentError(beginning);
  if (error) throw new Error(`${file} is ${error}`);
  const format = givenFormat ?? detectFormat(beginning.toString());
  if (!format)
    throw new Error(
      `cannot detect the format of ${file}, which begins with ${JSON.stringify(beginning.toString().slice(0, 60))}: name it with --format (${formats.join(', ')})`,
    );
  return { file, format, bytes: allBytes(file, beginning, chunks, progress) };
}

/** Returns what the content is instead of readable text; null: it may be text. */
function contentError(beginning: Buffer): string | null {
  if (beginning.length === 0) return 'empty: there are no timings in it';
  const [first = 0, second = 0] = beginning;
  // Windows PowerShell redirects output as UTF-16.
  if (first + second === 0x1fd) return 'UTF-16: save it as UTF-8';
  if (first === 0x1f && second === 0x8b) return 'compressed: unpack it first, as in gunzip -c FILE | ballast import -';
  return beginning.subarray(0, 4).equals(Buffer.from('PK\x03\x04')) ? 'a zip archive: unpack it first' : null;
}

async function* allBytes(file: string, beginning: Buffer, chunks: AsyncIterator<Buffer>, progress: Progress): AsyncGenerator<Uint8Array> {
  yield beginning;
  let bytes = beginning.length;
  const size = file === '-' ? 0 : statSync(file).size;
  const total = size > 0 ? ` of ${mebibytes(size)}` : '';
  try {
    for (let next = await chunks.next(); !next.done; next = await chunks.next()) {
      bytes += next.value.length;
      progress.show(() => `${mebibytes(bytes)}${total} MiB read of ${file}`);
      yield next.value;
    }
  } catch (error) {
    throw readError(file, error);
  }
}

function mebibytes(bytes: number): string {
  return (bytes / 2 ** 20).toFixed(1);
}

function readError(file: string, error: unknown): Error {
  const { code, message } = error as NodeJS.ErrnoException;
  if (code === 'EISDIR') return new Error(`${file} is a folder: name the files in it (${file.replace(/\/$/, '')}/*.xml)`, { cause: error });
  return new Error(`cannot read ${file}: ${code === 'ENOENT' ? 'there is no such file' : message}`, { cause: error });
}
