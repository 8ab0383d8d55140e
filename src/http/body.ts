import type { HttpResponse } from 'uWebSockets.js';
import { type Fault, faults } from '../fault.js';
import { limits } from '../limits.js';

/** Bytes that all requests together hold. One process, one socket layer: one number. */
let inFlight = 0;

export interface BodyLimits {
  maxBytes: number;
  seconds: number;
}

/**
 * Collects a request's body. Calls `done` once, with the body or with the fault to answer, and whether all of it
 * came. A body over a limit is read to its end and thrown away, because a client that is still sending reads no answer.
 * Returns the function that gives the body's bytes back to the common account.
 */
export function readBody(
  res: HttpResponse,
  contentLength: number | null,
  { maxBytes, seconds }: BodyLimits,
  done: (body: Uint8Array | Fault, whole: boolean) => void,
): () => void {
  let held = 0;
  let chunks: Uint8Array[] = [];
  let fault: Fault | null = null;
  let finished = false;
  let timer: NodeJS.Timeout | null = null;

  const stop = () => {
    finished = true;
    if (timer) clearTimeout(timer);
  };
  const drop = () => {
    inFlight -= held;
    held = 0;
    chunks = [];
  };
  const finish = (result: Uint8Array | Fault, whole: boolean) => {
    if (finished) return;
    stop();
    done(result, whole);
  };
  const refuse = (reason: Fault) => {
    fault = reason;
    drop();
  };
  if (contentLength !== null && contentLength > maxBytes) refuse(faults.bodyTooLarge(maxBytes));

  res.onData((chunk, isLast) => {
    if (finished) return;
    const { byteLength } = chunk;
    if (!fault && held + byteLength > maxBytes) refuse(faults.bodyTooLarge(maxBytes));
    if (!fault && inFlight + byteLength > limits.bodyBytesInFlight) {
      refuse(faults.overloaded('too many large requests at once', limits.retryAfterSeconds));
    }
    if (!fault) {
      held += byteLength;
      inFlight += byteLength;
      // The chunk's memory is reused after this callback.
      chunks.push(new Uint8Array(chunk.slice(0)));
    }
    if (isLast) finish(fault ?? (chunks.length === 1 ? chunks[0]! : joined(chunks, held)), true);
    else timer ??= setTimeout(() => finish(fault ?? faults.bodyTooSlow(seconds), false), seconds * 1000);
  });
  return () => {
    stop();
    drop();
  };
}

function joined(chunks: readonly Uint8Array[], length: number): Uint8Array {
  const body = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    body.set(chunk, at);
    at += chunk.length;
  }
  return body;
}
