import type { DatabaseLoad } from '../../../engine/ports/maintenance.js';
import { closed, openingError } from './errors.js';
import { BOUNDS, type DatabaseOptions } from './options.js';
import { within } from './pause.js';
import { Servers } from './servers.js';
import { PATHS_PER_STATEMENT, withCommit } from './sql.js';
import { type Result, Statements } from './statements.js';
import { watch } from './watch.js';

/** A database on one or more servers, as the store uses it: statements, and the time. */
export class Database {
  readonly #closing = new AbortController();
  readonly #servers: Servers;
  readonly #statements: Statements;
  readonly #bounds;
  #watching: Promise<void> | null = null;

  /** Throws a sentence when the URL is none. */
  constructor(readonly options: DatabaseOptions) {
    this.#bounds = { ...BOUNDS, ...options.bounds };
    const settings = { ...options, bounds: this.#bounds, closing: this.#closing.signal };
    this.#servers = new Servers(settings);
    this.#statements = new Statements(this.#servers, settings);
  }

  /** The key of this one in the table of processes. */
  get process(): string {
    return this.#statements.process;
  }

  /**
   * The setting of the server that was connected to last; null: none was. `on` and `remote_apply` make an acknowledged change survive the
   * server. `off` and `local` do not, `remote_write` not the crash of the standby.
   */
  get synchronousCommit(): string | null {
    return this.#servers.synchronousCommit;
  }

  /** Another machine to which what is sent is not encrypted; null: there is none. */
  get plainHost(): string | null {
    return this.#servers.plainHost;
  }

  /**
   * Connects, and begins to watch. Throws a sentence that names the server and what to do: at once if what is wrong will not pass, else when
   * it has not passed within the wait of a statement.
   */
  async open(): Promise<void> {
    try {
      await this.read('select 1');
    } catch (error) {
      throw this.explain(error);
    }
    const { pool, settings } = this.#statements;
    pool.hasOpened = true;
    if (this.options.isWatched) this.#watching = watch(this.#servers, pool, settings);
  }

  /** An error with a sentence about why the database cannot be used. */
  explain(error: unknown): Error {
    return openingError(error, this.#servers.lastFailure?.address ?? this.#servers.address);
  }

  /** Milliseconds since 1970, by the clock of the database. */
  now(): number {
    return this.#servers.clock.now();
  }

  /** Runs a statement that changes nothing. */
  async read<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#statements.run<Row>('read', text, values)).rows;
  }

  /** Reads the rows of many values, `$1`, some of them with each statement. */
  async readBy<Row>(text: string, values: readonly unknown[], use: (row: Row) => void): Promise<void> {
    for (let from = 0; from < values.length; from += PATHS_PER_STATEMENT)
      for (const row of await this.read<Row>(text, [values.slice(from, from + PATHS_PER_STATEMENT)])) use(row);
  }

  /**
   * Reads what will not vanish. A database shows changes that have reached no standby yet: when the wait of their commit was cut. So the
   * statement makes a commit of its own, which is behind them. It begins with `select` or `with`.
   */
  async readDurably<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#statements.run<Row>('change', ...withCommit(text, values, this.process), { hasCommit: true })).rows;
  }

  /**
   * Runs a statement that changes something, and resolves when the change survives what the database promises. The statement runs again when
   * its connection is lost before the answer, so it must return the same if its changes are there already.
   */
  change<Row>(text: string, values: unknown[] = []): Promise<Result<Row>> {
    return this.#statements.run<Row>('change', text, values);
  }

  /**
   * The same for a statement that changes a growing table, which it joins with a list. It is planned each time: which plan is right depends on how
   * large the table is.
   */
  changeMany<Row>(text: string, values: unknown[]): Promise<Result<Row>> {
    return this.#statements.run<Row>('change', text, values, { keepsPlan: false });
  }

  /** For how many milliseconds there has been no connection to be had, or no answer to the watch. */
  awayMilliseconds(): number {
    return this.#servers.away().now;
  }

  load(): DatabaseLoad {
    const { pool, repeated } = this.#statements;
    return {
      ...pool.load(),
      waiting: this.#statements.waiting('read') + this.#statements.waiting('change'),
      awaySeconds: this.#servers.away().ever / 1000,
      clockOffsetSeconds: this.#servers.clock.ahead(),
      repeated,
    };
  }

  /** Refuses further statements, and ends the connections: one with a statement under way when that has ended, or a little later. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    this.#statements.close();
    const all = Promise.all([...this.#servers.connections].map(({ ended }) => ended));
    await within(all, this.#bounds.close).catch(() => {});
    this.#statements.pool.cut(null, closed());
    this.#statements.ended();
    await this.#watching;
  }
}
