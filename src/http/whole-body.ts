import { limits } from '../limits.js';
import type { Answer } from './request.js';

/** For bodies that are written at once. New memory for each of them would make V8 collect garbage many times a second. */
const room = Buffer.allocUnsafeSlow(limits.answerChunkBytes);

/** The body of an answer with the text around it. */
export function wholeBody({ body, around }: Answer): string | Uint8Array {
  if (!around) return body;
  const [before, after] = around;
  return Buffer.concat([Buffer.from(before), typeof body === 'string' ? Buffer.from(body) : body, Buffer.from(after)]);
}

/** The same, valid until the next call. */
export function borrowedBody(answer: Answer): string | Uint8Array {
  const { body, around } = answer;
  if (!around || typeof body === 'string') return wholeBody(answer);
  const [before, after] = around;
  // A UTF-16 code unit takes at most three bytes.
  if (3 * (before.length + after.length) + body.length > room.length) return wholeBody(answer);
  let end = room.write(before);
  room.set(body, end);
  end += body.length;
  end += room.write(after, end);
  return room.subarray(0, end);
}
