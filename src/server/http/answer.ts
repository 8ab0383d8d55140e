import { SavedGroups } from '../../base/soon.js';
import type { SendCallbacks, SendOptions } from './adapter.js';
import type { Answer } from './request.js';

/** A connection that is idle for this long is closed, unless its request is being answered. uWebSockets.js knows no other value. */
export const IDLE_SECONDS = 10;
/** Larger answers are sent in chunks of this size, as fast as the client reads. */
export const ANSWER_CHUNK_BYTES = 65_536;

/** Code that the writers of both HTTP libraries share. */

/** Writes the headers of an answer, except those for its length and its connection, which differ by library. */
export function writeHeaders(
  { body, contentType = 'application/json', cacheControl = 'no-store', headers }: Answer,
  { requestId }: SendOptions,
  write: (name: string, value: string) => void,
): void {
  if (body.length > 0) write('Content-Type', contentType);
  write('X-Request-Id', requestId);
  write('Cache-Control', cacheControl);
  for (const name in headers) write(name, headers[name]!);
}

/** Reports whether an answer tells the length of its body. With a 304 this would be that of a body which nobody made. */
export function hasLength({ status, body }: Answer): boolean {
  return status !== 304 || body.length > 0;
}

/** Value of the Keep-Alive header: a client that respects it closes an idle connection before the server does. */
export const KEEP_ALIVE = `timeout=${IDLE_SECONDS - 1}`;

/** Status lines of all statuses that Ballast answers with. */
export const STATUS_LINES: Readonly<Record<number, string>> = {
  200: '200 OK',
  201: '201 Created',
  202: '202 Accepted',
  304: '304 Not Modified',
  400: '400 Bad Request',
  401: '401 Unauthorized',
  403: '403 Forbidden',
  404: '404 Not Found',
  405: '405 Method Not Allowed',
  406: '406 Not Acceptable',
  408: '408 Request Timeout',
  409: '409 Conflict',
  413: '413 Content Too Large',
  415: '415 Unsupported Media Type',
  422: '422 Unprocessable Content',
  429: '429 Too Many Requests',
  431: '431 Request Header Fields Too Large',
  500: '500 Internal Server Error',
  503: '503 Service Unavailable',
  507: '507 Insufficient Storage',
};

/** Writes a body of unknown length. */
export interface BodyWriter {
  /** Returns false if the caller should wait for `onWritable` before the next piece. This piece is accepted in any case. */
  write(piece: Uint8Array): boolean;
  /** Sets the callback for each time that the socket can take more. */
  onWritable(callback: () => void): void;
  /** Ends the body. */
  end(): void;
}

/** Sends a body of unknown length, reading it as fast as the client does. Returns a function to call when the client leaves. */
export function streamBody(
  writer: BodyWriter,
  first: string | Uint8Array,
  rest: AsyncGenerator<Uint8Array>,
  onError: SendCallbacks['onError'],
): () => void {
  let isOver = false;
  let resume = () => {};
  writer.onWritable(() => resume());
  const write = async (piece: Uint8Array) => {
    for (let start = 0; start < piece.length && !isOver; start += ANSWER_CHUNK_BYTES) {
      const canContinue = writer.write(piece.subarray(start, start + ANSWER_CHUNK_BYTES));
      if (!canContinue) await new Promise<void>(resolve => (resume = resolve));
    }
  };
  const writeAll = async () => {
    await write(typeof first === 'string' ? Buffer.from(first) : first);
    while (!isOver) {
      const { value, done } = await rest.next();
      if (!done) await write(value);
      else if (!isOver) {
        isOver = true;
        writer.end();
      }
    }
  };
  writeAll().catch(onError);
  return () => {
    isOver = true;
    resume();
    rest.return(undefined).catch(() => {});
  };
}

/** For bodies that are written at once. New memory for each of them would make V8 collect garbage many times a second. */
const room = Buffer.allocUnsafeSlow(ANSWER_CHUNK_BYTES);

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

/** An answer to write. */
interface Outgoing {
  write(): void;
  /** Is called instead when what the answer tells of could not be saved. */
  fail(error: unknown): void;
}

/**
 * Collects the answers of one turn of the event loop and writes them at its end, one after the other. Otherwise each of them would wake a
 * client that waits, which is the dearest part of a write. A client on the same machine, a proxy or a gateway that still reads the last
 * answer need not be woken for the next. Answers that wait for the same write to the disk are written together after it.
 */
export class Outbox {
  #outgoing: Outgoing[] = [];
  readonly #saving = new SavedGroups<Outgoing>(
    one => one.write(),
    (one, error) => one.fail(error),
  );

  /** @param saved resolves when the answer may be written; null: it may be */
  add(outgoing: Outgoing, saved: Promise<void> | null): void {
    if (saved) this.#saving.add(outgoing, saved);
    else if (this.#outgoing.push(outgoing) === 1) setImmediate(this.#flush);
  }

  readonly #flush = () => {
    const outgoing = this.#outgoing;
    this.#outgoing = [];
    for (const one of outgoing) one.write();
  };
}
