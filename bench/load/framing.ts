/** Bytes of the head of an answer, and of its body. */
export interface Frame {
  head: number;
  body: number;
}

/** Returns the frame of the answer that begins with these bytes; null: its head is not complete. */
export type Framing = (bytes: Buffer) => Frame | null;

/** An answer over HTTP/1.1 with a Content-Length. */
export function httpFraming(bytes: Buffer): Frame | null {
  const end = bytes.indexOf('\r\n\r\n');
  if (end < 0) return null;
  // Every server here writes it like this. A search in the bytes is faster than a pattern on their text.
  const name = bytes.indexOf('\r\nContent-Length: ');
  if (name < 0 || name > end) throw new Error(`cannot read an answer without Content-Length: ${bytes.toString('latin1', 0, end)}`);
  let body = 0;
  for (let at = name + CONTENT_LENGTH; bytes[at] !== CARRIAGE_RETURN; at++) body = 10 * body + bytes[at]! - ZERO;
  return { head: end + 4, body };
}

/** A string, a number or an error in Redis's protocol. */
export function redisFraming(bytes: Buffer): Frame | null {
  const end = bytes.indexOf('\r\n');
  if (end < 0) return null;
  const length = bytes[0] === DOLLAR ? Number(bytes.toString('latin1', 1, end)) : -1;
  return { head: end + 2, body: length < 0 ? 0 : length + 2 };
}

const CONTENT_LENGTH = '\r\nContent-Length: '.length;
const CARRIAGE_RETURN = 0x0d;
const ZERO = 0x30;
const DOLLAR = 0x24;
