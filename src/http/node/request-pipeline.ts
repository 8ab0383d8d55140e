import { limits } from '../../limits.js';

/** Begins the requests of one connection one at a time. A client may send some ahead of the answers. */
export class RequestPipeline {
  /** State of the request that has no answer yet. */
  state: 'idle' | 'receiving' | 'answering' = 'idle';
  /** The bytes after its requests are not a request: it is closed when those are answered. */
  isBroken = false;
  readonly #ahead: { begin: () => void; bytes: number }[] = [];
  #aheadBytes = 0;

  /**
   * Begins a request now, or when those before it are answered. Returns false when too many wait.
   * @param bytes memory that it takes while it waits
   */
  enqueue(begin: () => void, bytes: number): boolean {
    if (this.state === 'idle') {
      this.state = 'receiving';
      begin();
      return true;
    }
    this.#aheadBytes += bytes;
    return this.#ahead.push({ begin, bytes }) <= limits.pipelinedRequests && this.#aheadBytes <= limits.pipelinedBytes;
  }

  /** Ends a request, and begins the next. */
  finish(): void {
    const next = this.#ahead.shift();
    this.state = next ? 'receiving' : 'idle';
    if (!next) return;
    this.#aheadBytes -= next.bytes;
    next.begin();
  }

  /** Drops the waiting requests of a closed connection. */
  clear(): void {
    this.#ahead.length = 0;
  }
}
