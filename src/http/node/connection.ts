import { limits } from '../../limits.js';

/** The requests of one connection, one at a time: a client may send some ahead of the answers. */
export class Connection {
  /** Of the request that is not answered yet. */
  state: 'idle' | 'receiving' | 'answering' = 'idle';
  /** What came behind its requests is none: it is closed when they are answered. */
  isBroken = false;
  readonly #ahead: (() => void)[] = [];

  /** Begins a request now, or when those before it are answered. False when there are too many of those. */
  enter(begin: () => void): boolean {
    if (this.state === 'idle') {
      this.state = 'receiving';
      begin();
      return true;
    }
    return this.#ahead.push(begin) <= limits.pipelinedRequests;
  }

  /** The request is over: the next one's turn. */
  leave(): void {
    const begin = this.#ahead.shift();
    this.state = begin ? 'receiving' : 'idle';
    begin?.();
  }

  /** It is closed: what was sent ahead is not begun. */
  forget(): void {
    this.#ahead.length = 0;
  }
}
