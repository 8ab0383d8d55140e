import { TextDecoder } from 'node:util';
import { ReportError } from './report.js';

/** Of the encoding that the first bytes of a report or its first line tell, else of UTF-8. Throws a ReportError about one that is not known. */
export function decoderFor(beginning: Uint8Array): TextDecoder {
  const [first, second] = beginning;
  const fromByteOrderMark = first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : null;
  const declared = /^[^>]{0,100}\bencoding=["']([\w.-]+)["']/.exec(Buffer.from(beginning.subarray(0, 200)).toString('latin1'))?.[1];
  try {
    return new TextDecoder(fromByteOrderMark ?? declared ?? 'utf-8');
  } catch {
    throw new ReportError(`its encoding is ${declared}, which is not known`);
  }
}
