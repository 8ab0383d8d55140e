import { readdirSync, readFileSync } from 'node:fs';
import type { us_listen_socket } from 'uWebSockets.js';
import { limits } from '../limits.js';
import type { Logger } from '../log.js';
import { Seldom } from '../seldom.js';

export interface DoorOptions {
  /** False when the port is somebody else's. */
  listen: () => us_listen_socket | false;
  close: (socket: us_listen_socket) => void;
  room: FileRoom;
}

/** How many connections the limit of open files leaves room for. */
export interface FileRoom {
  connections: number;
  openFiles: number;
}

/**
 * Listens while a further connection has room. At the limit of open files a connection can be neither taken nor refused: the event
 * loop would ask for it without end, and whoever comes behind it would wait. A client that is refused comes again.
 */
export class Door {
  #socket: us_listen_socket | false;
  #listen: DoorOptions['listen'];
  #connections = 0;
  #isShut = false;
  readonly #seldom = new Seldom();
  #isTold = false;

  constructor(
    readonly options: DoorOptions,
    readonly log: Logger,
  ) {
    this.#listen = options.listen;
    this.#socket = this.#listen();
  }

  /** False when it could not listen. */
  get socket(): us_listen_socket | false {
    return this.#socket;
  }

  get connections(): number {
    return this.#connections;
  }

  /** Listens so from now on; connections stay, and are counted. */
  relisten(listen: DoorOptions['listen']): void {
    this.#listen = listen;
    if (!this.#socket) return;
    this.#close();
    this.#resume();
  }

  /** @param change 1: one more connection, -1: one less */
  count(change: number): void {
    this.#connections += change;
    const { connections } = this.options.room;
    if (change > 0 && this.#connections >= connections) this.#pause();
    else if (change < 0 && this.#connections < connections - connections / 16) this.#resume();
  }

  /** Listens no more. */
  shut(): void {
    this.#isShut = true;
    this.#close();
  }

  #pause(): void {
    if (!this.#socket) return;
    this.#close();
    if (this.#seldom.happened() === null) return;
    this.#isTold = true;
    const { openFiles } = this.options.room;
    this.log.warn(
      { connections: this.#connections, openFiles },
      `no room for more connections, new ones are refused until others end: the limit is ${openFiles} open files; raise it (LimitNOFILE of systemd, ulimit -n)`,
    );
  }

  #resume(): void {
    if (this.#socket || this.#isShut) return;
    this.#socket = this.#listen();
    if (!this.#socket) {
      setTimeout(() => this.#resume(), limits.listenAgainMilliseconds).unref();
    } else if (this.#isTold) {
      this.#isTold = false;
      this.log.info({ connections: this.#connections }, 'there is room for connections again');
    }
  }

  #close(): void {
    if (this.#socket) this.options.close(this.#socket);
    this.#socket = false;
  }
}

/** What this process may open beyond what it has opened. No bound where the system does not tell: Linux does. */
export function fileRoom(): FileRoom {
  try {
    const openFiles = Number(/^Max open files +(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8'))?.[1] ?? Infinity);
    const spare = Math.min(limits.spareFiles, Math.floor(openFiles / 4));
    return { openFiles, connections: Math.max(1, openFiles - spare - readdirSync('/proc/self/fd').length) };
  } catch {
    return { openFiles: Infinity, connections: Infinity };
  }
}
