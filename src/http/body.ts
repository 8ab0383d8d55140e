import { limits } from '../limits.js';
import { type ApiError, httpErrors } from './api-error.js';
import type { MemoryBudget, Owner } from './memory-budget.js';

export interface BodyLimits {
  maxBytes: number;
  seconds: number;
}

/** Called once, with the body or the error to answer. @param isRead whether the body was received to its end */
type OnBody = (body: Uint8Array[] | ApiError, isRead: boolean) => void;

/** Minimum average size of pieces that are handed over. Handing over smaller ones takes longer than joining them. */
const MIN_PIECE_BYTES = 16_384;
const MAX_BLOCK_BYTES = 2 * MIN_PIECE_BYTES;

/**
 * Receives the body of a request. A body over a limit is read to its end and discarded, because a client that is still sending reads
 * no answer. Nearly all bodies are small and arrive in one chunk: `onBody` then borrows that chunk and must not keep it after
 * returning. A body of at least `limits.pooledBodyBytes` is handed over in pieces, which are joined only if they are small.
 */
export class Body {
  #reservedBytes = 0;
  #owner: Owner = null;
  #pieces: Uint8Array[] = [];
  /** Collects small chunks. Stored one by one they would take a hundred times their size. */
  #block: { bytes: Uint8Array; length: number } | null = null;
  #error: ApiError | null = null;
  #isFinished = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    contentLength: number | null,
    readonly limit: BodyLimits,
    readonly memory: MemoryBudget,
    readonly findOwner: () => Owner,
    readonly onBody: OnBody,
  ) {
    if (contentLength !== null && contentLength > limit.maxBytes) this.#refuse(httpErrors.bodyTooLarge(limit.maxBytes));
  }

  /** Releases the memory of the body and stops waiting for the rest. */
  release(): void {
    this.#stop();
    this.#discard();
  }

  /** @param chunk valid only during the call */
  receive(chunk: Uint8Array, isLast: boolean): void {
    if (this.#isFinished) return;
    const isBorrowed = isLast && this.#reservedBytes === 0 && chunk.byteLength < limits.pooledBodyBytes;
    if (!this.#error) this.#reserve(chunk.byteLength, isBorrowed);
    if (isLast) {
      this.#finish(this.#error ?? this.#assemble(chunk), true);
      return;
    }
    if (!this.#error && chunk.byteLength > 0) this.#store(chunk);
    const { seconds } = this.limit;
    this.#timer ??= setTimeout(() => this.#finish(this.#error ?? httpErrors.bodyTooSlow(seconds), false), seconds * 1000);
  }

  /** Counts the bytes of a chunk against the limits. A borrowed chunk takes no memory. */
  #reserve(bytes: number, isBorrowed: boolean): void {
    const { maxBytes } = this.limit;
    if (this.#reservedBytes + bytes > maxBytes) {
      this.#refuse(httpErrors.bodyTooLarge(maxBytes));
      return;
    }
    if (isBorrowed || bytes === 0) return;
    if (this.#reservedBytes === 0) this.#owner = this.findOwner();
    if (this.memory.reserve(this.#owner, bytes)) this.#reservedBytes += bytes;
    else this.#refuse(httpErrors.overloaded('memory', 'too many large requests at once', limits.retryAfterSeconds));
  }

  #assemble(last: Uint8Array): Uint8Array[] {
    if (this.#pieces.length === 0 && !this.#block) return [last.byteLength < limits.pooledBodyBytes ? last : copyOf(last)];
    this.#endBlock();
    const isLarge = this.#reservedBytes >= limits.pooledBodyBytes;
    const hasLargePieces = (this.#pieces.length + 1) * MIN_PIECE_BYTES <= this.#reservedBytes;
    return isLarge && hasLargePieces ? [...this.#pieces, copyOf(last)] : [Buffer.concat([...this.#pieces, last])];
  }

  #store(chunk: Uint8Array): void {
    const { byteLength } = chunk;
    if (this.#block && this.#block.length + byteLength > MAX_BLOCK_BYTES) this.#endBlock();
    if (byteLength >= MIN_PIECE_BYTES) {
      this.#endBlock();
      this.#pieces.push(copyOf(chunk));
      return;
    }
    const block = (this.#block ??= { bytes: new Uint8Array(byteLength), length: 0 });
    const length = block.length + byteLength;
    // A full block doubles, so that small bodies take little memory.
    if (length > block.bytes.length) {
      const { bytes } = block;
      block.bytes = new Uint8Array(Math.min(MAX_BLOCK_BYTES, 2 * length));
      block.bytes.set(bytes);
    }
    block.bytes.set(chunk, block.length);
    block.length = length;
  }

  #endBlock(): void {
    if (this.#block) this.#pieces.push(this.#block.bytes.subarray(0, this.#block.length));
    this.#block = null;
  }

  #finish(result: Uint8Array[] | ApiError, isRead: boolean): void {
    if (this.#isFinished) return;
    this.#stop();
    this.onBody(result, isRead);
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
    this.#block = null;
  }
}

/** Copies a chunk, whose memory the HTTP library reuses, into a buffer of its own that can be moved to another thread. */
function copyOf(chunk: Uint8Array): Uint8Array {
  return new Uint8Array(chunk);
}
