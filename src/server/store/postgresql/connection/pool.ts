import type { Address } from './address.js';
import type { Connection } from './connection.js';
import { codeOf, mayPass } from './errors.js';
import type { Settings, StatementKind } from './options.js';
import type { Servers } from './servers.js';

/** The statements that want connections. */
export interface Demand {
  /** Number of statements of a kind that wait for a connection. */
  waiting(kind: StatementKind): number;
  /** Uses free connections. */
  serve(): void;
  /** There is no connection, and there will be none. */
  refuseWaiting(error: unknown): void;
}

/**
 * A few connections for statements, opened when statements wait for one. Some of them are for reads only, because the commits of changes may
 * wait for a standby.
 */
export class Pool {
  /** A statement ran: from then on, a name that is not found is taken for an outage. */
  hasOpened = false;
  readonly #idle: Connection[] = [];
  /** All, and those of them that are being made. */
  #size = 0;
  #opening = 0;
  /** Changes that have a connection, and the most that may. */
  #changing = 0;
  readonly #mostChanging: number;
  /** Attempts to connect that failed one after another, and those of them whose reason will not pass. */
  #failures = 0;
  #finalFailures = 0;
  /** Until the next attempt. */
  #pause: NodeJS.Timeout | null = null;

  constructor(
    readonly servers: Servers,
    readonly settings: Settings,
    readonly demand: Demand,
  ) {
    const { connections } = settings;
    this.#mostChanging = Math.max(1, connections - (connections > 4 ? 2 : 1));
  }

  /** Connections that are open, and those of them that a statement has. */
  load(): { open: number; busy: number } {
    const open = this.#size - this.#opening;
    return { open, busy: open - this.#idle.length };
  }

  /** Reports whether a statement may have a connection now. */
  hasFree(kind: StatementKind): boolean {
    return this.#idle.length > 0 && this.#mayRun(kind);
  }

  /** Gives a statement a connection, when one is free. */
  take(kind: StatementKind): Connection {
    if (kind === 'change') this.#changing += 1;
    return this.#idle.pop()!;
  }

  /** Takes the connection of a statement back. */
  release(connection: Connection, kind: StatementKind): void {
    if (kind === 'change') this.#changing -= 1;
    if (connection.isLost || connection.isOld || this.settings.closing.aborted) this.#drop(connection);
    else this.#idle.push(connection);
    this.demand.serve();
  }

  /** Opens connections for those who wait: one at a time while that fails. */
  openMore(): void {
    if (this.#pause || this.settings.closing.aborted) return;
    const { demand } = this;
    const wanted = demand.waiting('read') + Math.min(demand.waiting('change'), this.#mostChanging - this.#changing);
    while (this.#size < this.settings.connections && this.#opening < (this.#failures > 0 ? Math.min(1, wanted) : wanted))
      void this.#openOne();
  }

  /** A server was reached: those who wait for a connection need not wait for the next attempt. */
  reached(): void {
    this.#failures = 0;
    this.#finalFailures = 0;
    clearTimeout(this.#pause!);
    this.#pause = null;
    this.openMore();
  }

  /** Cuts all connections to a server, or all. */
  cut(address: Address | null, error: unknown): void {
    // Those that are idle first: a statement that is cut must not get one of them.
    for (const connection of [...this.#idle, ...this.servers.connections])
      if (address === null || connection.address === address) connection.cut(error);
  }

  /** Opens no more connections, and ends those that are free. */
  close(): void {
    clearTimeout(this.#pause!);
    for (const connection of this.#idle.splice(0)) this.#drop(connection);
  }

  #mayRun(kind: StatementKind): boolean {
    return kind === 'read' || this.#changing < this.#mostChanging;
  }

  async #openOne(): Promise<void> {
    this.#size += 1;
    this.#opening += 1;
    const { closing, bounds } = this.settings;
    let failure: { error: unknown } | null = null;
    try {
      const connection = await this.servers.connect(lost => this.#remove(lost));
      this.#failures = 0;
      this.#finalFailures = 0;
      connection.retireAfter(bounds.connection, () => this.#remove(connection));
      if (closing.aborted) this.#drop(connection);
      else this.#idle.push(connection);
    } catch (error) {
      this.#size -= 1;
      failure = { error };
    }
    this.#opening -= 1;
    if (failure && !closing.aborted) this.#couldNotOpen(failure.error);
    this.demand.serve();
  }

  #couldNotOpen(error: unknown): void {
    this.#failures += 1;
    const isFinal = !mayPass(error) || (!this.hasOpened && codeOf(error) === 'ENOTFOUND');
    this.#finalFailures = isFinal ? this.#finalFailures + 1 : 0;
    if (this.#size === this.#opening) {
      this.servers.setAway('pool', true);
      // There is no connection that may become free, and each server refuses new ones.
      if (this.#finalFailures >= this.servers.count) this.demand.refuseWaiting(error);
    }
    this.#pause ??= setTimeout(() => {
      this.#pause = null;
      this.openMore();
    }, this.servers.pauseAfter(this.#failures)).unref();
  }

  /** Removes a connection that is lost or old, unless a statement has it: then that removes it. */
  #remove(connection: Connection): void {
    const at = this.#idle.indexOf(connection);
    if (at === -1) return;
    this.#idle.splice(at, 1);
    this.#drop(connection);
  }

  #drop(connection: Connection): void {
    this.#size -= 1;
    connection.end(this.settings.bounds.connect);
  }
}
