/** Requests that may wait for earlier answers on a connection of node:http; beyond it the connection is closed. */
export const PIPELINED_REQUESTS = 100;
/** Bytes of the requests that wait on a connection of node:http; beyond it the connection is closed. */
const PIPELINED_BYTES = 65_536;

/** Handles the requests of one connection one at a time. A client may send requests before earlier ones are answered. */
export class RequestPipeline {
  /** State of the current request. */
  state: 'idle' | 'receiving' | 'answering' = 'idle';
  /** Invalid bytes follow the requests: close the connection when those are answered. */
  isBroken = false;
  readonly #waiting: { start: () => void; bytes: number }[] = [];
  #waitingBytes = 0;

  /**
   * Starts a request now, or when those before it are answered. Returns false if too many wait.
   * @param bytes memory that the request takes while it waits
   */
  enqueue(start: () => void, bytes: number): boolean {
    if (this.state === 'idle') {
      this.state = 'receiving';
      start();
      return true;
    }
    this.#waitingBytes += bytes;
    return this.#waiting.push({ start, bytes }) <= PIPELINED_REQUESTS && this.#waitingBytes <= PIPELINED_BYTES;
  }

  /** Ends the current request and starts the next. */
  finish(): void {
    const next = this.#waiting.shift();
    this.state = next ? 'receiving' : 'idle';
    if (!next) return;
    this.#waitingBytes -= next.bytes;
    next.start();
  }

  /** Drops the waiting requests of a closed connection. */
  clear(): void {
    this.#waiting.length = 0;
  }
}
