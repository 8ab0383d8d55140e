import { limits } from '../../protocol/limits.js';
import { type ApiError, httpErrors } from './api-error.js';
import type { MemoryBudget, Owner } from './in-flight.js';
import { takeMemory } from './spare-memory.js';

/** Bodies of at least this size (about 1,000 test files) go to a worker thread unparsed, unless their suite is cached. */
export const POOLED_BODY_BYTES = 65_536;

export interface BodyLimits {
  maxBodyBytes: number;
  bodySeconds: number;
}

/** Called once, with the body or the error to answer. @param isRead whether the body was received to its end */
type OnBody = (body: Uint8Array[] | ApiError, isRead: boolean) => void;

/** Minimum average size of pieces that are handed over. Handing over smaller ones takes longer than joining them. */
const MIN_PIECE_BYTES = 16_384;
/** Maximum size of a piece that several chunks share. */
const SHARED_PIECE_BYTES = 2 * MIN_PIECE_BYTES;

/**
 * Receives the body of a request. A body over a limit is read to its end and discarded, because a client that is still sending reads
 * no answer. Nearly all bodies are small and arrive in one chunk: `onBody` then borrows that chunk and must not keep it after
 * returning. A body of at least `POOLED_BODY_BYTES` is handed over in pieces, which are joined only if they are small. A body that nobody
 * reads is discarded, and handed over as empty.
 */
export class Body {
  #reservedBytes = 0;
  #owner: Owner = null;
  /** The last one may have room behind it. */
  #pieces: Uint8Array<ArrayBuffer>[] = [];
  #error: ApiError | null = null;
  #isFinished = false;
  #timer: NodeJS.Timeout | null = null;

  /** @param pathBytes the most bytes that the path of the request takes; Infinity: as many as the server; 0: nobody reads them */
  constructor(
    contentLength: number | null,
    readonly limit: BodyLimits,
    readonly pathBytes: number,
    readonly memory: MemoryBudget,
    readonly findOwner: () => Owner,
    readonly onBody: OnBody,
  ) {
    if (contentLength !== null && pathBytes > 0) this.#refuseIfTooLarge(contentLength);
  }

  /** Releases the memory of the body and stops waiting for the rest. */
  release(): void {
    this.#stop();
    this.#discard();
  }

  /** @param chunk valid only during the call */
  receive(chunk: Uint8Array, isLast: boolean): void {
    if (this.#isFinished) return;
    if (this.pathBytes === 0) chunk = chunk.subarray(0, 0);
    const isBorrowed = isLast && this.#reservedBytes === 0 && chunk.byteLength < POOLED_BODY_BYTES;
    if (!this.#error) this.#reserve(chunk.byteLength, isBorrowed);
    if (isLast) {
      this.#finish(this.#error ?? this.#assemble(chunk), true);
      return;
    }
    if (!this.#error && chunk.byteLength > 0) this.#store(chunk);
    const { bodySeconds: seconds } = this.limit;
    this.#timer ??= setTimeout(() => this.#finish(this.#error ?? httpErrors.bodyTooSlow(seconds), false), seconds * 1000);
  }

  /** Counts the bytes of a chunk against the limits. A borrowed chunk takes no memory. */
  #reserve(bytes: number, isBorrowed: boolean): void {
    this.#refuseIfTooLarge(this.#reservedBytes + bytes);
    if (this.#error || isBorrowed || bytes === 0) return;
    if (this.#reservedBytes === 0) this.#owner = this.findOwner();
    if (this.memory.reserve(this.#owner, bytes)) this.#reservedBytes += bytes;
    else this.#refuse(httpErrors.overloaded('memory', 'too many large requests at once', limits.retryAfterSeconds));
  }

  #assemble(last: Uint8Array): Uint8Array[] {
    if (this.#pieces.length === 0) return [last.byteLength < POOLED_BODY_BYTES ? last : copyOf(last)];
    const isLarge = this.#reservedBytes >= POOLED_BODY_BYTES;
    const hasLargePieces = (this.#pieces.length + 1) * MIN_PIECE_BYTES <= this.#reservedBytes;
    return isLarge && hasLargePieces ? [...this.#pieces, copyOf(last)] : [Buffer.concat([...this.#pieces, last])];
  }

  /** Small chunks share a piece: stored one by one they would take a hundred times their size. A piece of a small body is small. */
  #store(chunk: Uint8Array): void {
    const { byteLength } = chunk;
    let piece = this.#pieces.pop();
    if (piece && piece.length + byteLength > piece.buffer.byteLength) {
      this.#pieces.push(piece);
      piece = undefined;
    }
    piece ??= unfilled(Math.max(byteLength, Math.min(SHARED_PIECE_BYTES, this.#reservedBytes))).subarray(0, 0);
    const { buffer, length } = piece;
    piece = new Uint8Array(buffer, 0, length + byteLength);
    piece.set(chunk, length);
    this.#pieces.push(piece);
  }

  #finish(result: Uint8Array[] | ApiError, isRead: boolean): void {
    if (this.#isFinished) return;
    this.#stop();
    this.onBody(result, isRead);
  }

  #refuseIfTooLarge(bytes: number): void {
    const { maxBodyBytes } = this.limit;
    const most = Math.min(maxBodyBytes, this.pathBytes);
    if (bytes > most) this.#refuse(httpErrors.bodyTooLarge(most, most < maxBodyBytes));
  }

  #refuse(error: ApiError): void {
    this.#error = error;
    this.#discard();
  }

  #stop(): void {
    this.#isFinished = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  #discard(): void {
    this.memory.release(this.#owner, this.#reservedBytes);
    this.#reservedBytes = 0;
    this.#pieces = [];
  }
}

/** Copies a chunk, whose memory the HTTP library reuses, into a buffer of its own that can be moved to another thread. */
function copyOf(chunk: Uint8Array): Uint8Array {
  const copy = unfilled(chunk.byteLength);
  copy.set(chunk);
  return copy;
}

/** Bytes with a buffer of their own. To fill that with zeros first takes as long as the copy. */
function unfilled(bytes: number): Uint8Array<ArrayBuffer> {
  return new Uint8Array(takeMemory(bytes), 0, bytes);
}
