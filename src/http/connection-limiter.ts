import { readdirSync, readFileSync } from 'node:fs';
import { limits } from '../limits.js';
import type { Logger } from '../server/log.js';
import type { Listener } from './adapter.js';
import { LogThrottle } from './log-throttle.js';

export interface ConnectionLimiterOptions {
  /** Resolves with null when it cannot listen, for example because another process has the port. */
  listen: () => Promise<Listener | null>;
  capacity: ConnectionCapacity;
}

/** How many connections the limit of open files leaves room for. */
export interface ConnectionCapacity {
  maxConnections: number;
  maxOpenFiles: number;
}

/**
 * Listens while a further connection has room. At the limit of open files a connection can be neither taken nor refused: the event
 * loop would ask for it without end, and whoever comes behind it would wait. A client that is refused comes again.
 */
export class ConnectionLimiter {
  #listener: Listener | null = null;
  #isOpening = false;
  #connections = 0;
  #isShut = false;
  readonly #throttle = new LogThrottle();
  #isTold = false;

  constructor(
    readonly options: ConnectionLimiterOptions,
    readonly log: Logger,
  ) {}

  /** Resolves with null when it does not listen afterwards. */
  async open(): Promise<Listener | null> {
    if (this.#listener || this.#isOpening || this.#isShut) return this.#listener;
    this.#isOpening = true;
    const listener = await this.options.listen();
    this.#isOpening = false;
    // It may have been shut, or the last place taken, while it opened.
    if (listener && (this.#isShut || this.#isFull)) listener.close();
    else this.#listener = listener;
    return this.#listener;
  }

  get isOpen(): boolean {
    return this.#listener !== null;
  }

  get connections(): number {
    return this.#connections;
  }

  /** Closes the listener and opens another. Connections stay open and stay counted. */
  async reopen(): Promise<void> {
    if (!this.#listener) return;
    this.#close();
    await this.#resume();
  }

  /** @param change 1: a connection has begun, -1: one has ended */
  count(change: 1 | -1): void {
    this.#connections += change;
    const { maxConnections: connections } = this.options.capacity;
    if (this.#isFull) this.#pause();
    else if (change < 0 && this.#connections < connections - connections / 16) void this.#resume();
  }

  /** Stops listening for good. */
  close(): void {
    this.#isShut = true;
    this.#close();
  }

  get #isFull(): boolean {
    return this.#connections >= this.options.capacity.maxConnections;
  }

  #pause(): void {
    if (!this.#listener) return;
    this.#close();
    if (this.#throttle.hit() === null) return;
    this.#isTold = true;
    const { maxOpenFiles: openFiles } = this.options.capacity;
    this.log.warn(
      { connections: this.#connections, openFiles },
      `no room for more connections, new ones are refused until others end: the limit is ${openFiles} open files; raise it (LimitNOFILE of systemd, ulimit -n)`,
    );
  }

  async #resume(): Promise<void> {
    // A full one waits for a connection to end: `count` calls this again.
    if (this.#listener || this.#isOpening || this.#isShut || this.#isFull) return;
    if (!(await this.open())) {
      setTimeout(() => void this.#resume(), limits.listenRetryMilliseconds).unref();
    } else if (this.#isTold) {
      this.#isTold = false;
      this.log.info({ connections: this.#connections }, 'there is room for connections again');
    }
  }

  #close(): void {
    this.#listener?.close();
    this.#listener = null;
  }
}

/** What this process may open beyond what it has opened. No bound where the system does not tell: Linux does. */
export function connectionCapacity(): ConnectionCapacity {
  try {
    const openFiles = Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
    const spare = Math.min(limits.reservedOpenFiles, Math.floor(openFiles / 4));
    return { maxOpenFiles: openFiles, maxConnections: Math.max(1, openFiles - spare - readdirSync('/proc/self/fd').length) };
  } catch {
    return { maxOpenFiles: Infinity, maxConnections: Infinity };
  }
}
