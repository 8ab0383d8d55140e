import { createHash } from 'node:crypto';
import { AFTER, BEFORE } from './head.js';

const [BACKSLASH, NUL] = Buffer.from('\\\0');

/** Returns the digest of list-digest.ts for the heads of sorted paths. */
export function digestOfHeads(heads: Uint8Array, ends: Uint32Array): string {
  // Without what is before and after it, a path takes no more bytes with its NUL.
  const text = Buffer.allocUnsafeSlow(heads.length);
  let at = 0;
  let start = 0;
  for (const end of ends) {
    const from = start + BEFORE.length + 1;
    const to = end - AFTER.length - 1;
    const began = at;
    let isEscaped = false;
    for (let i = from; i < to; i++) {
      const byte = heads[i]!;
      text[at++] = byte;
      isEscaped ||= byte === BACKSLASH;
    }
    // The JSON string of a path is as long as its text or longer.
    if (isEscaped) at = began + text.write(JSON.parse(json(heads, from - 1, to + 1)) as string, began);
    text[at++] = NUL!;
    start = end;
  }
  return createHash('sha256').update(text.subarray(0, at)).digest('hex');
}

function json({ buffer, byteOffset }: Uint8Array, from: number, to: number): string {
  return Buffer.from(buffer as ArrayBuffer, byteOffset + from, to - from).toString();
}
