import { TextDecoder } from 'node:util';
import type { KnownFiles } from './known-files.js';

/** Characters of a report in XML. */
const REPORT_CHARACTERS = 268_435_456;

/**
 * Receives each path of a report.
 * @param seconds NaN: the report has no time for the path
 * @param error why the entry cannot be used
 */
export type AddTime = (path: string, seconds: number, error?: string) => void;

/** Gets a sentence about a report that can be used all the same. It follows the name of the report. */
export type Note = (sentence: string) => void;

export interface ReportContext {
  /** The folder that paths are relative to; null: not given. */
  root: string | null;
  /** The test files; null: not given. */
  known: KnownFiles | null;
  /** Gets sentences on odd times. Missing: nobody wants them. */
  note?: Note;
}

/** Reads a report. */
export type ReadReport = (bytes: AsyncIterable<Uint8Array>, addTime: AddTime, context: ReportContext) => Promise<void>;

/** The input is not a report of its format. The message says why and where; the caller adds the name of the file. */
export class ReportError extends Error {}

/** XML of another kind, such as a coverage report. */
export class OtherXml extends ReportError {}

/**
 * Decodes a whole report, in the encoding that its byte order mark or its XML declaration names, else in UTF-8. Throws a ReportError if the
 * encoding is not supported, or the report is too long.
 */
export function decodeReport(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const fromByteOrderMark = first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : null;
  const declared = /^[^>]{0,100}\bencoding=["']([\w.-]+)["']/.exec(Buffer.from(bytes.subarray(0, 200)).toString('latin1'))?.[1];
  let decoder: TextDecoder;
  try {
    decoder = new TextDecoder(fromByteOrderMark ?? declared ?? 'utf-8');
  } catch {
    throw new ReportError(`its encoding ${declared} is not supported`);
  }
  const text = decoder.decode(bytes);
  if (text.length > REPORT_CHARACTERS) throw new ReportError(`it has more than ${REPORT_CHARACTERS} characters`);
  return text;
}
