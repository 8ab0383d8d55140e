import { limits } from '../../limits.js';

/** The requests of one connection, one at a time: a client may send some ahead of the answers. */
export class Connection {
  /** Of the request that is not answered yet. */
  state: 'idle' | 'receiving' | 'answering' = 'idle';
  /** What came behind its requests is none: it is closed when they are answered. */
  isBroken = false;
  readonly #ahead: { begin: () => void; bytes: number }[] = [];
  #aheadBytes = 0;

  /**
   * Begins a request now, or when those before it are answered. False when those are too many.
   * @param bytes what it takes in memory until then
   */
  enter(begin: () => void, bytes: number): boolean {
    if (this.state === 'idle') {
      this.state = 'receiving';
      begin();
      return true;
    }
    this.#aheadBytes += bytes;
    return this.#ahead.push({ begin, bytes }) <= limits.pipelinedRequests && this.#aheadBytes <= limits.pipelinedBytes;
  }

  /** The request is over: the next one's turn. */
  leave(): void {
    const next = this.#ahead.shift();
    this.state = next ? 'receiving' : 'idle';
    if (!next) return;
    this.#aheadBytes -= next.bytes;
    next.begin();
  }

  /** It is closed: what was sent ahead is not begun. */
  forget(): void {
    this.#ahead.length = 0;
  }
}
