import { readdirSync, readFileSync } from 'node:fs';
import type { Logger } from 'pino';
import type { Listener } from './adapter.js';
import { LogThrottle } from './log-throttle.js';

/** Open files that connections may not use, because each thread needs four. At most a quarter of the system's limit. */
const RESERVED_OPEN_FILES = 256;
export const LISTEN_RETRY_MILLISECONDS = 1000;

/** Number of connections that the system's limit of open files allows. */
export interface ConnectionCapacity {
  maxConnections: number;
  maxOpenFiles: number;
}

/**
 * Stops listening while the limit of connections is reached. At the limit of open files the system can neither accept nor refuse a
 * connection: the event loop would retry without pause, and later clients would hang. A refused client tries again.
 */
export class ConnectionLimiter {
  #listener: Listener | null = null;
  #isOpening = false;
  #connections = 0;
  #isClosed = false;
  readonly #throttle = new LogThrottle();
  #hasWarned = false;

  /** @param listen resolves with null if it cannot listen, for example because another process has the port */
  constructor(
    readonly listen: () => Promise<Listener | null>,
    readonly capacity: ConnectionCapacity,
    readonly log: Logger,
  ) {}

  /** Starts to listen. Resolves with null if it is not listening afterwards. */
  async open(): Promise<Listener | null> {
    if (this.#listener || this.#isOpening || this.#isClosed) return this.#listener;
    this.#isOpening = true;
    const listener = await this.listen();
    this.#isOpening = false;
    // Meanwhile the limiter may have been closed or become full.
    if (listener && (this.#isClosed || this.#isFull)) listener.close();
    else this.#listener = listener;
    return this.#listener;
  }

  get connections(): number {
    return this.#connections;
  }

  /** Closes the listener and opens another. Connections stay open and counted. */
  async reopen(): Promise<void> {
    if (!this.#listener) return;
    this.#closeListener();
    await this.#resume();
  }

  /** Counts a connection that opened (1) or closed (-1). */
  count(change: 1 | -1): void {
    this.#connections += change;
    const { maxConnections } = this.capacity;
    if (this.#isFull) this.#pause();
    else if (change < 0 && this.#connections < maxConnections - maxConnections / 16) void this.#resume();
  }

  /** Stops listening for good. */
  close(): void {
    this.#isClosed = true;
    this.#closeListener();
  }

  get #isFull(): boolean {
    return this.#connections >= this.capacity.maxConnections;
  }

  #pause(): void {
    if (!this.#listener) return;
    this.#closeListener();
    if (this.#throttle.hit() === null) return;
    this.#hasWarned = true;
    const { maxOpenFiles: openFiles } = this.capacity;
    this.log.warn(
      { connections: this.#connections, openFiles },
      `no room for more connections, new ones are refused until others close: the limit is ${openFiles} open files; raise it (LimitNOFILE of systemd, ulimit -n)`,
    );
  }

  async #resume(): Promise<void> {
    // If it is full, `count` calls this again when a connection closes.
    if (this.#listener || this.#isOpening || this.#isClosed || this.#isFull) return;
    if (!(await this.open())) {
      setTimeout(() => void this.#resume(), LISTEN_RETRY_MILLISECONDS).unref();
    } else if (this.#hasWarned) {
      this.#hasWarned = false;
      this.log.info({ connections: this.#connections }, 'there is room for connections again');
    }
  }

  #closeListener(): void {
    this.#listener?.close();
    this.#listener = null;
  }
}

/** Reads the limit of open files from the system. Only Linux reports it; elsewhere the capacity is infinite. */
export function connectionCapacity(): ConnectionCapacity {
  try {
    const maxOpenFiles = Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
    const reserved = Math.min(RESERVED_OPEN_FILES, Math.floor(maxOpenFiles / 4));
    const openNow = readdirSync('/proc/self/fd').length;
    return { maxOpenFiles, maxConnections: Math.max(1, maxOpenFiles - reserved - openNow) };
  } catch {
    return { maxOpenFiles: Infinity, maxConnections: Infinity };
  }
}
