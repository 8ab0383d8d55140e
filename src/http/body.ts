import { type ApiError, apiErrors } from '../api-error.js';
import { limits } from '../limits.js';
import type { MemoryBudget, Owner } from './memory-budget.js';

export interface BodyLimits {
  maxBytes: number;
  seconds: number;
}

/** Called once, with the body or with the fault to answer, and whether all of it came. */
type Done = (body: Uint8Array[] | ApiError, whole: boolean) => void;

/** Bytes of the pieces on average; smaller ones take longer to hand over than to put together. */
const LEAST_PIECE = 16_384;
const BLOCK = 2 * LEAST_PIECE;

/**
 * A request's body as it comes. One over a limit is read to its end and thrown away, because a client that is still
 * sending reads no answer. Nearly all bodies are small and come in one piece: that is lent to `done`, valid until it
 * returns. Of `limits.pooledBodyBytes` and more the pieces are given: this thread puts them together only when they are small.
 */
export class Body {
  #held = 0;
  #owner: Owner = null;
  #chunks: Uint8Array[] = [];
  /** The last piece, filled from small chunks: each chunk by itself would take a hundred times its bytes in memory. */
  #block: { bytes: Uint8Array; length: number } | null = null;
  #fault: ApiError | null = null;
  #finished = false;
  #timer: NodeJS.Timeout | null = null;

  constructor(
    contentLength: number | null,
    readonly limit: BodyLimits,
    readonly memory: MemoryBudget,
    readonly owner: () => Owner,
    readonly done: Done,
  ) {
    if (contentLength !== null && contentLength > limit.maxBytes) this.#refuse(apiErrors.bodyTooLarge(limit.maxBytes));
  }

  /** Gives the body's bytes back, and waits for no more. */
  release(): void {
    this.#stop();
    this.#drop();
  }

  /** @param chunk valid only during the call */
  receive(chunk: Uint8Array, isLast: boolean): void {
    if (this.#finished) return;
    const { maxBytes, seconds } = this.limit;
    const { byteLength } = chunk;
    if (!this.#fault && this.#held + byteLength > maxBytes) this.#refuse(apiErrors.bodyTooLarge(maxBytes));
    const isLent = isLast && this.#held === 0 && byteLength < limits.pooledBodyBytes;
    if (!this.#fault && !isLent && byteLength > 0) {
      if (this.#held === 0) this.#owner = this.owner();
      if (this.memory.reserve(this.#owner, byteLength)) this.#held += byteLength;
      else this.#refuse(apiErrors.overloaded('memory', 'too many large requests at once', limits.retryAfterSeconds));
    }
    if (isLast) {
      this.#finish(this.#fault ?? this.#whole(chunk), true);
      return;
    }
    if (!this.#fault && byteLength > 0) this.#keep(chunk);
    this.#timer ??= setTimeout(() => this.#finish(this.#fault ?? apiErrors.bodyTooSlow(seconds), false), seconds * 1000);
  }

  #whole(last: Uint8Array): Uint8Array[] {
    if (this.#chunks.length === 0 && !this.#block) return [last.byteLength < limits.pooledBodyBytes ? last : kept(last)];
    this.#endBlock();
    const isLarge = this.#held >= limits.pooledBodyBytes;
    const isGiven = isLarge && (this.#chunks.length + 1) * LEAST_PIECE <= this.#held;
    return isGiven ? [...this.#chunks, kept(last)] : [Buffer.concat([...this.#chunks, last])];
  }

  #keep(chunk: Uint8Array): void {
    const { byteLength } = chunk;
    if (this.#block && this.#block.length + byteLength > BLOCK) this.#endBlock();
    if (byteLength >= LEAST_PIECE) {
      this.#endBlock();
      this.#chunks.push(kept(chunk));
      return;
    }
    const block = (this.#block ??= { bytes: new Uint8Array(byteLength), length: 0 });
    const length = block.length + byteLength;
    // Doubles when it is full, so that small bodies take little memory.
    if (length > block.bytes.length) {
      const { bytes } = block;
      block.bytes = new Uint8Array(Math.min(BLOCK, 2 * length));
      block.bytes.set(bytes);
    }
    block.bytes.set(chunk, block.length);
    block.length = length;
  }

  #endBlock(): void {
    if (this.#block) this.#chunks.push(this.#block.bytes.subarray(0, this.#block.length));
    this.#block = null;
  }

  #finish(result: Uint8Array[] | ApiError, whole: boolean): void {
    if (this.#finished) return;
    this.#stop();
    this.done(result, whole);
  }

  #refuse(reason: ApiError): void {
    this.#fault = reason;
    this.#drop();
  }

  #stop(): void {
    this.#finished = true;
    if (this.#timer) clearTimeout(this.#timer);
  }

  #drop(): void {
    this.memory.release(this.#owner, this.#held);
    this.#held = 0;
    this.#chunks = [];
    this.#block = null;
  }
}

/** A copy with memory of its own, which can be moved to another thread. The HTTP library uses the chunk's memory again. */
function kept(chunk: Uint8Array): Uint8Array {
  return new Uint8Array(chunk);
}
