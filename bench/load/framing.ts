/** How many bytes the head of an answer takes, and its body. */
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
  const head = bytes.toString('latin1', 0, end);
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1];
  if (length === undefined) throw new Error(`cannot read an answer without Content-Length: ${head}`);
  return { head: end + 4, body: Number(length) };
}

/** A string, a number or an error in Redis's protocol. */
export function redisFraming(bytes: Buffer): Frame | null {
  const end = bytes.indexOf('\r\n');
  if (end < 0) return null;
  const length = bytes[0] === DOLLAR ? Number(bytes.toString('latin1', 1, end)) : -1;
  return { head: end + 2, body: length < 0 ? 0 : length + 2 };
}

const DOLLAR = 0x24;
