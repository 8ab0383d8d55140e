import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { refusals } from '../../engine/refusal.js';
import { limits } from '../../limits.js';

export interface DatabaseOptions {
  /** postgres://user@host:port,host:port/database. The hosts are tried in turn; only one that accepts writes is used. */
  url: string;
  /** The most connections at a time. */
  connections: number;
}

/** What a statement returned. */
export interface Result<Row> {
  rows: Row[];
  /** How many rows it changed, or returned. */
  count: number;
}

const INT8 = 20;
/** Integers of 64 bits are times and counters, which a double has exactly. */
const types = { getTypeParser: (oid: number, format?: 'text' | 'binary') => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) };

/** Milliseconds since 1970, on the clock of the database. */
export const NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)::int8';

/** Writes the row of a process. */
const commitOf = (process: string) =>
  `insert into processes (id, seen_at) values (${process}, ${NOW})
  on conflict (id) do update set commits = processes.commits + 1, seen_at = excluded.seen_at`;

/**
 * A statement that commits something in any case: it writes the row of its process. Its commit comes behind all that it reads, or finds done.
 * A statement that makes a table cannot do this: the change that follows it does.
 */
function withCommit(text: string, values: readonly unknown[], process: string): [text: string, values: unknown[]] {
  if (text.startsWith('create ')) return [text, [...values]];
  const rest = text.startsWith('with ') ? `, ${text.slice('with '.length)}` : ` ${text}`;
  return [`with committed as (${commitOf(`$${values.length + 1}`)})${rest}`, [...values, process]];
}

/** Each text is prepared once on each connection, under its own name. */
const names = new Map<string, string>();

function nameOf(text: string): string {
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `ballast_${names.size}`));
  return name;
}

/**
 * Runs statements on a few connections, one statement at a time on each. While the database takes no connection, statements wait for it, each
 * `limits.databaseWaitMilliseconds` at most, and are then refused with a 503. A statement that is under way is waited for without limit.
 */
export class Database {
  /** The key of this one in the table of processes. */
  readonly process = randomUUID();
  readonly #idle: Connection[] = [];
  readonly #waiting: (() => void)[] = [];
  readonly #hosts: readonly string[];
  #open = 0;
  #host = 0;
  #isClosed = false;

  constructor(readonly options: DatabaseOptions) {
    this.#hosts = urlsOf(options.url);
  }

  /** Runs a statement that changes nothing. */
  async read<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#run<Row>(text, values, { isRead: true, hasCommit: false })).rows;
  }

  /** Reads the rows of many values, `$1`, some of them with each statement. */
  async readBy<Row>(text: string, values: readonly unknown[], use: (row: Row) => void): Promise<void> {
    for (let from = 0; from < values.length; from += limits.pathsPerStatement)
      for (const row of await this.read<Row>(text, [values.slice(from, from + limits.pathsPerStatement)])) use(row);
  }

  /**
   * Reads what will not vanish. A database shows changes that have reached no standby yet: when the wait of their commit was cut. So the
   * statement makes a commit of its own, which is behind them. It begins with `select` or `with`.
   */
  async readDurably<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#run<Row>(...withCommit(text, values, this.process), { isRead: false, hasCommit: true })).rows;
  }

  /**
   * Runs a statement that changes something, and resolves when the change survives what the database promises. The statement runs again when
   * its connection is lost before the answer, so it must return the same if its changes are there already.
   */
  async change<Row>(text: string, values: unknown[] = []): Promise<Result<Row>> {
    return this.#run<Row>(text, values, { isRead: false, hasCommit: text.startsWith('insert into processes ') });
  }

  /** Makes a commit: when it has reached a standby, all that was read before on the same server has, too. */
  async confirm(): Promise<void> {
    await this.change(commitOf('$1'), [this.process]);
  }

  /** Refuses further statements, and ends the connections: one with a statement under way when that has ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    for (const wake of this.#waiting.splice(0)) wake();
    await Promise.all(this.#idle.splice(0).map(connection => this.#end(connection)));
  }

  /** @param hasCommit the statement commits something in any case, also when it runs again and finds its changes */
  async #run<Row>(text: string, values: unknown[], { isRead, hasCommit }: { isRead: boolean; hasCommit: boolean }): Promise<Result<Row>> {
    const until = performance.now() + limits.databaseWaitMilliseconds;
    for (let tries = 0; ; tries++) {
      let connection: Connection | null = null;
      try {
        connection = await this.#acquire(until);
        const { rows, rowCount } = await connection.client.query({ name: nameOf(text), text, values });
        if (isRead || !connection.hasWarned) return { rows: rows as Row[], count: rowCount ?? 0 };
        // An operator may have ended the wait for a standby.
        if (performance.now() >= until) throw refusals.databaseAway(new Error('each commit came with a warning'));
      } catch (error) {
        if (connection) connection.isLost ||= isAway(error);
        const isLost = connection?.isLost || isAway(error);
        if (this.#isClosed || performance.now() >= until) throw refusalOf(error);
        if (!isLost && (!isConflict(error) || tries >= limits.databaseConflicts)) throw refusalOf(error);
        if (!connection?.isLost) {
          // It did not run.
          await sleep(Math.min(until - performance.now(), pauseAfter(tries)));
          continue;
        }
      } finally {
        if (connection) this.#release(connection);
      }
      // It may have run, and what it did may have reached no standby. When it runs again it may find that, and commit nothing.
      if (!isRead && !hasCommit) {
        [text, values] = withCommit(text, values, this.process);
        hasCommit = true;
      }
      await sleep(Math.min(until - performance.now(), pauseAfter(tries)));
    }
  }

  async #acquire(until: number): Promise<Connection> {
    for (;;) {
      if (this.#isClosed) throw new Error('the store is closed');
      const idle = this.#idle.pop();
      if (idle) return idle;
      if (this.#open < this.options.connections) return this.#connect();
      await this.#released(until);
    }
  }

  async #connect(): Promise<Connection> {
    this.#open += 1;
    const connectionString = this.#hosts[this.#host % this.#hosts.length]!;
    const client = new pg.Client({ connectionString, types, keepAlive: true, connectionTimeoutMillis: limits.databaseConnectMilliseconds });
    const connection: Connection = { client, isLost: false, hasWarned: false };
    // Without a listener, the end of a connection that waits ends the process.
    client.on('error', () => this.#lose(connection));
    // Class 01. The severity is in the language of the database.
    client.on('notice', ({ code }) => (connection.hasWarned ||= code?.startsWith('01') === true));
    try {
      await client.connect();
      const { rows } = await client.query<{ transaction_read_only: string }>('show transaction_read_only');
      if (rows[0]!.transaction_read_only === 'on')
        throw Object.assign(new Error('this server of the database accepts no writes'), { code: '25006' });
      return connection;
    } catch (error) {
      this.#host += 1;
      await this.#end(connection);
      throw error;
    }
  }

  /** Resolves when a connection may be free, or at a time. */
  #released(until: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const timer = setTimeout(
        () => {
          this.#waiting.splice(this.#waiting.indexOf(wake), 1);
          reject(refusals.databaseAway(new Error('all connections to the database were in use')));
        },
        Math.max(0, until - performance.now()),
      );
      const wake = () => {
        clearTimeout(timer);
        resolve();
      };
      this.#waiting.push(wake);
    });
  }

  #release(connection: Connection): void {
    connection.hasWarned = false;
    if (connection.isLost || this.#isClosed) void this.#end(connection);
    else this.#idle.push(connection);
    this.#waiting.shift()?.();
  }

  #lose(connection: Connection): void {
    connection.isLost = true;
    const at = this.#idle.indexOf(connection);
    if (at === -1) return;
    this.#idle.splice(at, 1);
    void this.#end(connection);
  }

  async #end({ client }: Connection): Promise<void> {
    this.#open -= 1;
    // The connection may be lost already.
    await client.end().catch(() => {});
  }
}

interface Connection {
  client: pg.Client;
  isLost: boolean;
  /** The database warned during the statement: an operator may have ended the wait of its commit for a standby. */
  hasWarned: boolean;
}

const codeOf = (error: unknown) => (error as { code?: unknown }).code;

/** Whether the database refused a value that must be unique. */
export const isTaken = (error: unknown) => codeOf((error as Error).cause ?? error) === '23505';

/** The statement lost against another one, and can run again. */
const isConflict = (error: unknown) => ['40001', '40P01'].includes(codeOf(error) as string);

const AWAY = /^(08|57P0[123]|53300|25006|40003)/;

/** The database ended the connection, accepts none, or takes no writes; or the connection did not answer. */
function isAway(error: unknown): boolean {
  const code = codeOf(error);
  if (typeof code === 'string') return /^E[A-Z_]+$/.test(code) || AWAY.test(code);
  return error instanceof Error && /^(Connection terminated|timeout expired|Client has encountered a connection error)/.test(error.message);
}

/** What the caller of the store is told. Errors that it decides on stay what they are. */
function refusalOf(error: unknown): unknown {
  return isAway(error) || isConflict(error) ? refusals.databaseAway(error) : error;
}

/** 50 ms, doubling to a second; and a part at random, because many wait. */
function pauseAfter(tries: number): number {
  return Math.min(1000, 50 * 2 ** tries) * (0.5 + Math.random() / 2);
}

/** One URL for each host of a URL. Throws a sentence when it is not one of PostgreSQL. */
export function urlsOf(url: string): string[] {
  const parts = /^(postgres(?:ql)?:\/\/(?:[^@/?]*@)?)([^@/?]+)(\/[^/?]+(?:\?.*)?)$/.exec(url);
  if (!parts) throw new Error('it must be like postgres://user@host:5432/database, with several hosts separated by commas');
  const [, start, hosts, rest] = parts;
  return hosts!.split(',').map(host => `${start}${host}${rest}`);
}
