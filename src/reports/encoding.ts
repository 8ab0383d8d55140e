import { TextDecoder } from 'node:util';
import { ReportError } from './report.js';

/** Returns a decoder for the encoding that the byte order mark or the XML declaration of a report names, else for UTF-8. */
export function decoderFor(beginning: Uint8Array): TextDecoder {
  const [first, second] = beginning;
  const fromByteOrderMark = first === 0xff && second === 0xfe ? 'utf-16le' : first === 0xfe && second === 0xff ? 'utf-16be' : null;
  const declared = /^[^>]{0,100}\bencoding=["']([\w.-]+)["']/.exec(Buffer.from(beginning.subarray(0, 200)).toString('latin1'))?.[1];
  try {
    return new TextDecoder(fromByteOrderMark ?? declared ?? 'utf-8');
  } catch {
    throw new ReportError(`its encoding ${declared} is not supported`);
  }
}
