import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DatabaseLoad } from '../../../engine/ports/maintenance.js';
import { refusals } from '../../../engine/refusal.js';
import { type Address, addressesOf, isLocal } from './address.js';
import { Connection } from './connection.js';
import { DatabaseClock } from './database-clock.js';
import { codeOf, isAnswer, isConflict, isReadOnly, mayPass, noAnswer, openingError, refusalOf } from './errors.js';

/** How long the caller of a statement waits for a database that does not answer. Clients wait 15 s for an answer. */
export const DATABASE_WAIT_MILLISECONDS = 12_000;
/** Statements that may wait for a connection to the database; beyond it 503. */
const DATABASE_WAITING = 10_000;
/** How long a connection to the database may take to be made, or to be ended. */
const DATABASE_CONNECT_MILLISECONDS = 5000;
/** After this time a connection is replaced by a new one: the plans of its statements follow the data then. */
const DATABASE_CONNECTION_MILLISECONDS = 600_000;
/** Interval at which a serving process asks whether its database is there. */
export const DATABASE_WATCH_MILLISECONDS = 1000;
/** Without an answer to that for this time, all connections are made again. */
const DATABASE_SILENCE_MILLISECONDS = 2000;
/** How long statements that are under way may take when the store is closed. */
const DATABASE_CLOSE_MILLISECONDS = 2000;
/** A statement with a longer list is planned each time. One statement has fewer runs, and fewer queues of a flight. */
export const KEPT_PLAN_VALUES = 100;
/** Paths that one statement reads. */
export const PATHS_PER_STATEMENT = 5000;
/** How often a statement that lost against another one runs again. */
const DATABASE_CONFLICTS = 10;

export interface DatabaseOptions {
  /**
   * postgres://user:password@host:port,host:port/database?sslmode=verify-full. The hosts are tried in turn, the one that worked last first;
   * only one that accepts writes is used.
   */
  url: string;
  /** The most connections at a time, besides that of the watch. */
  connections: number;
  /** The path of a PEM file with the authorities that may have signed the certificate of the server. Null: those that Node trusts. */
  ca?: string | null;
  /** The path of a file with the password. It is read for each connection that is asked for one. Null: the URL has it, or there is none. */
  passwordFile?: string | null;
  /**
   * One more connection asks each second whether the database is there, and what time it has. With this, a statement may take as long as it
   * takes. Without it, the connection of a statement that took too long for its caller is cut.
   */
  isWatched?: boolean;
  bounds?: Partial<Bounds>;
  /** Called when a statement was answered. Its time does not include the wait for a connection. */
  statementEnded?: (kind: StatementKind, seconds: number) => void;
}

/** Numbers of statements, and milliseconds: see `limits`. */
interface Bounds {
  wait: number;
  waiting: number;
  connect: number;
  connection: number;
  watch: number;
  silence: number;
  close: number;
}

const BOUNDS: Bounds = {
  wait: DATABASE_WAIT_MILLISECONDS,
  waiting: DATABASE_WAITING,
  connect: DATABASE_CONNECT_MILLISECONDS,
  connection: DATABASE_CONNECTION_MILLISECONDS,
  watch: DATABASE_WATCH_MILLISECONDS,
  silence: DATABASE_SILENCE_MILLISECONDS,
  close: DATABASE_CLOSE_MILLISECONDS,
};

export type StatementKind = 'read' | 'change';

/** What a statement returned. */
export interface Result<Row> {
  rows: Row[];
  /** How many rows it changed, or returned. */
  count: number;
}

/** Milliseconds since 1970, on the clock of the database. */
export const NOW = 'floor(extract(epoch from clock_timestamp()) * 1000)::int8';

interface ServerRow {
  is_read_only: string;
  commit: string;
  /** Milliseconds since 1970. */
  time: number;
}

const WHAT_ARE_YOU = `select current_setting('transaction_read_only') as is_read_only,
  current_setting('synchronous_commit') as commit, (extract(epoch from clock_timestamp()) * 1000)::float8 as time`;

/** Writes the row of a process. */
const commitOf = (process: string) =>
  `insert into processes (id, seen_at) values (${process}, ${NOW})
  on conflict (id) do update set commits = processes.commits + 1, seen_at = excluded.seen_at`;

/**
 * A statement that always writes, namely the row of its process. Its commit then comes after the commits of all rows that the statement saw.
 * A statement that makes a table cannot do this: the change that follows it does. One that changes the row runs again as it is.
 */
function withCommit(text: string, values: readonly unknown[], process: string): [text: string, values: unknown[]] {
  if (/^(create|(insert into|delete from) processes) /.test(text)) return [text, [...values]];
  const rest = text.startsWith('with ') ? `, ${text.slice('with '.length)}` : ` ${text}`;
  return [`with committed as (${commitOf(`$${values.length + 1}`)})${rest}`, [...values, process]];
}

/**
 * Each text is prepared once on each connection, under its own name, and keeps its plan. With a long list it is planned each time: a plan that is
 * kept was made for lists of any length, and for tables as small as they were then.
 */
const names = new Map<string, string>();

function nameOf(text: string, values: readonly unknown[]): string | undefined {
  if (values.some(value => Array.isArray(value) && value.length > KEPT_PLAN_VALUES)) return undefined;
  let name = names.get(text);
  if (name === undefined) names.set(text, (name = `ballast_${names.size}`));
  return name;
}

/** A statement that somebody waits for. */
interface Call {
  kind: StatementKind;
  text: string;
  values: unknown[];
  /** It commits something in any case, also when it runs again and finds its changes. */
  hasCommit: boolean;
  /** Its plan is kept for the next time, unless it has a long list. */
  keepsPlan: boolean;
  tries: number;
  /** By `performance.now()`: the caller gets an error then. */
  until: number;
  /** The caller has its result, or an error. */
  isOver: boolean;
  /** What it runs on; null: it waits. */
  connection: Connection | null;
  resolve: (result: Result<any>) => void;
  reject: (error: unknown) => void;
}

/**
 * Runs statements on a few connections, one statement at a time on each. While there is no connection, statements wait for one. A caller waits
 * `DATABASE_WAIT_MILLISECONDS` at most, and then gets a 503; its statement goes on, and has its connection until it ends. Some of the
 * connections are for reads only, because the commits of changes may wait for a standby.
 */
export class Database {
  /** The key of this one in the table of processes. */
  readonly process = randomUUID();
  /**
   * The setting of the server that was connected to last; null: none was. `on` and `remote_apply` make an acknowledged change survive the
   * server. `off` and `local` do not, `remote_write` not the crash of the standby.
   */
  synchronousCommit: string | null = null;
  /** Another machine to which what is sent is not encrypted; null: there is none. */
  readonly plainHost: string | null;
  readonly #clock = new DatabaseClock();
  readonly #bounds: Bounds;
  readonly #addresses: readonly Address[];
  /** The address that worked last, or is to be tried next. */
  #address = 0;
  /** All connections, also those that are being made or ended, and that of the watch. */
  readonly #connections = new Set<Connection>();
  readonly #idle: Connection[] = [];
  /** Connections for statements, and those of them that are being made. */
  #size = 0;
  #opening = 0;
  /** Changes that have a connection, and the most that may. */
  #changing = 0;
  readonly #mostChanging: number;
  /** All whose callers wait, in the order in which they came. */
  readonly #calls = new Set<Call>();
  /** Of these, those that wait for a connection. */
  readonly #waiting = { read: new Set<Call>(), change: new Set<Call>() };
  /** Attempts to connect that failed one after another, and those of them whose reason will not pass. */
  #failures = 0;
  #finalFailures = 0;
  #lastFailure: { error: unknown; address: Address } | null = null;
  /** Until it is looked who has waited for too long. */
  #patience: NodeJS.Timeout | null = null;
  /** Until the next attempt. */
  #pause: NodeJS.Timeout | null = null;
  #hasOpened = false;
  readonly #closing = new AbortController();
  #watching: Promise<void> | null = null;
  /** Since when the watch cannot connect; null: it has an answer, or another connection was made. */
  #silentSince: number | null = null;
  readonly #away = { reasons: new Set<'pool' | 'watch'>(), since: 0, milliseconds: 0 };
  #repeated = 0;

  /** Throws a sentence when the URL is none. */
  constructor(readonly options: DatabaseOptions) {
    this.#bounds = { ...BOUNDS, ...options.bounds };
    const addresses = addressesOf(options.url);
    if (options.ca && /[?&]sslmode=disable/.test(options.url)) throw new Error('it says sslmode=disable, and a certificate is named');
    this.#addresses = addresses.map(address => ({
      ...address,
      isTls: address.isTls || (Boolean(options.ca) && !address.host.startsWith('/')),
    }));
    this.plainHost = this.#addresses.find(address => !address.isTls && !isLocal(address))?.host ?? null;
    const { connections } = options;
    this.#mostChanging = Math.max(1, connections - (connections > 4 ? 2 : 1));
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
    this.#hasOpened = true;
    if (this.options.isWatched) this.#watching = this.#watch();
  }

  /** An error with a sentence about why the database cannot be used. */
  explain(error: unknown): Error {
    return openingError(error, this.#lastFailure?.address ?? this.#addresses[this.#address]!);
  }

  /** Milliseconds since 1970, by the clock of the database. */
  now(): number {
    return this.#clock.now();
  }

  /** Runs a statement that changes nothing. */
  async read<Row>(text: string, values: unknown[] = []): Promise<Row[]> {
    return (await this.#run<Row>('read', text, values)).rows;
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
    return (await this.#run<Row>('change', ...withCommit(text, values, this.process), { hasCommit: true })).rows;
  }

  /**
   * Runs a statement that changes something, and resolves when the change survives what the database promises. The statement runs again when
   * its connection is lost before the answer, so it must return the same if its changes are there already.
   */
  change<Row>(text: string, values: unknown[] = []): Promise<Result<Row>> {
    return this.#run<Row>('change', text, values);
  }

  /**
   * The same for a statement that changes a growing table, which it joins with a list. It is planned each time: which plan is right depends on how
   * large the table is.
   */
  changeMany<Row>(text: string, values: unknown[]): Promise<Result<Row>> {
    return this.#run<Row>('change', text, values, { keepsPlan: false });
  }

  /** For how many milliseconds there has been no connection to be had, or no answer to the watch. */
  awayMilliseconds(): number {
    const { reasons, since } = this.#away;
    return reasons.size > 0 ? performance.now() - since : 0;
  }

  load(): DatabaseLoad {
    const open = this.#size - this.#opening;
    return {
      open,
      busy: open - this.#idle.length,
      waiting: this.#waitingCount(),
      awaySeconds: (this.#away.milliseconds + this.awayMilliseconds()) / 1000,
      clockOffsetSeconds: this.#clock.ahead(),
      repeated: this.#repeated,
    };
  }

  /** Refuses further statements, and ends the connections: one with a statement under way when that has ended, or a little later. */
  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    this.#closing.abort();
    clearTimeout(this.#pause!);
    for (const call of this.#calls) if (!call.connection) this.#refuse(call, closed());
    for (const connection of this.#idle.splice(0)) this.#drop(connection);
    const all = Promise.all([...this.#connections].map(({ ended }) => ended));
    await within(all, this.#bounds.close).catch(() => {});
    this.#cut(null, closed());
    clearTimeout(this.#patience!);
    await this.#watching;
  }

  #run<Row>(
    kind: StatementKind,
    text: string,
    values: unknown[],
    { hasCommit = false, keepsPlan = true }: Partial<Pick<Call, 'hasCommit' | 'keepsPlan'>> = {},
  ): Promise<Result<Row>> {
    return new Promise((resolve, reject) => {
      const until = performance.now() + this.#bounds.wait;
      const call: Call = { kind, text, values, hasCommit, keepsPlan, tries: 0, until, isOver: false, connection: null, resolve, reject };
      this.#calls.add(call);
      this.#bePatient();
      this.#start(call);
    });
  }

  /** Gives a statement a connection, or has it wait for one. */
  #start(call: Call): void {
    if (this.#isClosed) return void this.#refuse(call, closed());
    const { kind } = call;
    const isFree = kind === 'read' || this.#changing < this.#mostChanging;
    if (this.#idle.length > 0 && isFree && this.#waiting[kind].size === 0) return void this.#use(call);
    if (this.#waitingCount() >= this.#bounds.waiting)
      return void this.#refuse(call, refusals.databaseAway(new Error(`${this.#bounds.waiting} statements wait for a connection`)));
    this.#waiting[kind].add(call);
    this.#openMore();
  }

  /** Runs a statement on a free connection. */
  #use(call: Call): void {
    const { kind, text, values, keepsPlan } = call;
    const connection = this.#idle.pop()!;
    if (kind === 'change') this.#changing += 1;
    call.connection = connection;
    const { statementEnded } = this.options;
    const started = statementEnded ? performance.now() : 0;
    connection.run({ name: keepsPlan ? nameOf(text, values) : undefined, text, values }, (error, result) => {
      call.connection = null;
      if (!error) statementEnded?.(kind, (performance.now() - started) / 1000);
      // An operator may have ended the wait for a standby.
      const isCertain = !error && (kind === 'read' || !connection.hasWarned);
      if (!isCertain) return void this.#repeat(call, connection, error);
      this.#release(connection, kind);
      this.#end(call);
      call.resolve({ rows: result!.rows, count: result!.rowCount ?? 0 });
    });
  }

  /** Runs a statement again, unless the database refused it. */
  #repeat(call: Call, connection: Connection, error: unknown): void {
    const { kind, tries } = call;
    if (error && isReadOnly(error)) {
      this.#leave(connection.address);
      this.#cut(connection.address, error);
    } else if (error && mayPass(error)) connection.cut(error);
    const { isLost } = connection;
    this.#release(connection, kind);
    if (call.isOver) return;
    if (error && !isLost && (!isConflict(error) || tries >= DATABASE_CONFLICTS)) return void this.#refuse(call, error);
    if (this.#isClosed) return void this.#refuse(call, refusals.databaseAway(error));
    if (!error || isLost) {
      this.#repeated += 1;
      // It may have run, and what it did may have reached no standby. When it runs again it may find that, and commit nothing.
      if (kind === 'change' && !call.hasCommit) {
        [call.text, call.values] = withCommit(call.text, call.values, this.process);
        call.hasCommit = true;
      }
    }
    call.tries += 1;
    setTimeout(() => {
      if (!call.isOver) this.#start(call);
    }, pauseAfter(tries));
  }

  /** Tells callers, after some time, that their statements take too long. */
  #bePatient(): void {
    this.#patience ??= setTimeout(() => {
      // This process may have stood still: what has arrived meanwhile is read first.
      setImmediate(() => {
        this.#patience = null;
        const now = performance.now();
        for (const call of this.#calls) {
          if (call.until > now) break;
          const { connection } = call;
          const cause = connection ? noAnswer(this.#bounds.wait) : (this.#lastFailure?.error ?? new Error('all connections were in use'));
          this.#refuse(call, refusals.databaseAway(cause));
          if (!this.options.isWatched) connection?.cut(cause);
        }
        if (this.#calls.size > 0) this.#bePatient();
      });
    }, this.#bounds.wait / 24);
  }

  #refuse(call: Call, error: unknown): void {
    this.#waiting[call.kind].delete(call);
    this.#end(call);
    call.reject(refusalOf(error));
  }

  #end(call: Call): void {
    call.isOver = true;
    this.#calls.delete(call);
  }

  get #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }

  #waitingCount(): number {
    return this.#waiting.read.size + this.#waiting.change.size;
  }

  /** Gives free connections to those who wait, in their order. */
  #serve(): void {
    if (this.#waitingCount() === 0) return;
    while (this.#idle.length > 0) {
      const [read] = this.#waiting.read;
      const [change] = this.#changing < this.#mostChanging ? this.#waiting.change : [];
      const call = read && change ? (change.until < read.until ? change : read) : (read ?? change);
      if (!call) break;
      this.#waiting[call.kind].delete(call);
      this.#use(call);
    }
    this.#openMore();
  }

  #release(connection: Connection, kind: StatementKind): void {
    if (kind === 'change') this.#changing -= 1;
    if (connection.isLost || connection.isOld || this.#isClosed) this.#drop(connection);
    else this.#idle.push(connection);
    this.#serve();
  }

  #drop(connection: Connection): void {
    this.#size -= 1;
    connection.end(this.#bounds.connect);
  }

  /** Opens connections for those who wait: one at a time while that fails. */
  #openMore(): void {
    if (this.#pause || this.#isClosed) return;
    const { read, change } = this.#waiting;
    const wanted = read.size + Math.min(change.size, this.#mostChanging - this.#changing);
    while (this.#size < this.options.connections && this.#opening < (this.#failures > 0 ? Math.min(1, wanted) : wanted))
      void this.#openOne();
  }

  async #openOne(): Promise<void> {
    this.#size += 1;
    this.#opening += 1;
    let failure: { error: unknown } | null = null;
    try {
      const connection = await this.#connect();
      connection.retireAfter(this.#bounds.connection, () => this.#remove(connection));
      if (this.#isClosed) this.#drop(connection);
      else this.#idle.push(connection);
    } catch (error) {
      this.#size -= 1;
      failure = { error };
    }
    this.#opening -= 1;
    if (failure && !this.#isClosed) this.#couldNotOpen(failure.error);
    this.#serve();
  }

  #couldNotOpen(error: unknown): void {
    this.#failures += 1;
    const isFinal = !mayPass(error) || (!this.#hasOpened && codeOf(error) === 'ENOTFOUND');
    this.#finalFailures = isFinal ? this.#finalFailures + 1 : 0;
    if (this.#size === this.#opening) {
      this.#setAway('pool', true);
      // There is no connection that may become free, and each server refuses new ones.
      if (this.#finalFailures >= this.#addresses.length)
        for (const call of [...this.#waiting.read, ...this.#waiting.change]) this.#refuse(call, refusals.databaseFailed(error));
    }
    this.#pause ??= setTimeout(() => {
      this.#pause = null;
      this.#openMore();
    }, this.#pauseAfter(this.#failures)).unref();
  }

  /** How long to wait after so many attempts to connect: the others of several servers are tried at once. */
  #pauseAfter(failures: number): number {
    const rounds = failures / this.#addresses.length;
    return Number.isInteger(rounds) ? pauseAfter(rounds - 1) : 0;
  }

  /** Connects to a server that accepts writes. */
  async #connect(): Promise<Connection> {
    const { connect } = this.#bounds;
    const address = this.#addresses[this.#address]!;
    let connection: Connection | null = null;
    try {
      const { ca } = this.options;
      const authorities = address.isTls && ca ? await readFile(ca, 'utf8') : null;
      if (this.#isClosed) throw closed();
      const login = { password: () => this.#password(address), ca: authorities, keepAliveDelay: connect };
      const made = new Connection(address, login, () => this.#remove(made));
      connection = made;
      this.#connections.add(made);
      void made.ended.then(() => this.#connections.delete(made));
      await within(
        made.open().then(() => this.#ask(made)),
        connect,
      );
      this.#failures = 0;
      this.#finalFailures = 0;
      this.#lastFailure = null;
      this.#silentSince = null;
      this.#setAway('pool', false);
      return made;
    } catch (error) {
      this.#lastFailure = { error, address };
      connection?.cut(error);
      this.#leave(address);
      throw error;
    }
  }

  /** Asks a server whether it accepts writes, and for its time. */
  async #ask(connection: Connection): Promise<void> {
    const asked = performance.now();
    const [row] = await new Promise<ServerRow[]>((resolve, reject) =>
      connection.run({ text: WHAT_ARE_YOU }, (error, result) => (error ? reject(error) : resolve(result!.rows as ServerRow[]))),
    );
    const { is_read_only, commit, time } = row!;
    if (is_read_only === 'on') throw Object.assign(new Error('this server accepts no writes'), { code: '25006' });
    this.#clock.measured(time, asked, performance.now());
    this.synchronousCommit = commit;
  }

  async #password({ password }: Address): Promise<string> {
    const { passwordFile } = this.options;
    if (passwordFile) return (await readFile(passwordFile, 'utf8')).replace(/\r?\n$/, '');
    if (password !== null) return password;
    throw Object.assign(new Error('it asks for a password, and there is none'), { code: '28P01' });
  }

  /** Another server is tried next, unless somebody noticed before that this one does not work. */
  #leave(address: Address): void {
    if (this.#addresses[this.#address] === address) this.#address = (this.#address + 1) % this.#addresses.length;
  }

  /** Cuts all connections to a server, or all. */
  #cut(address: Address | null, error: unknown): void {
    // Those that are idle first: a statement that is cut must not get one of them.
    for (const connection of [...this.#idle, ...this.#connections])
      if (address === null || connection.address === address) connection.cut(error);
  }

  /** Removes a connection that is lost or old, unless a statement has it: then that removes it. */
  #remove(connection: Connection): void {
    const at = this.#idle.indexOf(connection);
    if (at === -1) return;
    this.#idle.splice(at, 1);
    this.#drop(connection);
  }

  /**
   * Asks each second whether the database is there. If it does not answer, or takes no more writes, all connections to it are cut: the
   * statements that are under way run again on others. An error is an answer, and so is a new connection.
   */
  async #watch(): Promise<void> {
    const { watch, silence, close } = this.#bounds;
    let connection: Connection | null = null;
    for (let failures = 0; !this.#isClosed; ) {
      const address: Address = connection?.address ?? this.#addresses[this.#address]!;
      try {
        if (connection) await within(this.#ask(connection), silence);
        else {
          connection = await this.#connect();
          // Those who wait for a connection of their own need not wait any longer.
          clearTimeout(this.#pause!);
          this.#pause = null;
          this.#openMore();
        }
        this.#silentSince = null;
        failures = 0;
        this.#setAway('watch', false);
      } catch (error) {
        if (this.#isClosed) break;
        const isGone = connection !== null && !connection.isLost && !isAnswer(error);
        if (isAnswer(error)) this.#silentSince = null;
        else this.#silentSince ??= performance.now();
        if (isGone || (this.#silentSince !== null && performance.now() - this.#silentSince >= silence)) {
          this.#setAway('watch', true);
          this.#leave(address);
          this.#cut(address, error);
        }
        connection?.cut(error);
        connection = null;
        failures += 1;
      }
      const pause = failures === 0 ? watch : this.#pauseAfter(failures);
      await sleep(pause, null, { signal: this.#closing.signal, ref: false }).catch(() => {});
    }
    connection?.end(close);
  }

  #setAway(reason: 'pool' | 'watch', isAway: boolean): void {
    const { reasons } = this.#away;
    const wasAway = reasons.size > 0;
    if (isAway) reasons.add(reason);
    else reasons.delete(reason);
    if (!wasAway && isAway) this.#away.since = performance.now();
    if (wasAway && reasons.size === 0) this.#away.milliseconds += performance.now() - this.#away.since;
  }
}

const closed = () => new Error('the store is closed');

/** 50 ms, doubling to half a second; less a part at random, because many wait. */
function pauseAfter(tries: number): number {
  return Math.min(500, 50 * 2 ** tries) * (0.5 + Math.random() / 2);
}

/**
 * Rejects when a promise is not settled within a time. A time during which this process stood still counts as a quarter of that: what arrived
 * meanwhile is read first.
 */
function within<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let quarters = 4;
    const timer = setInterval(() => {
      quarters -= 1;
      if (quarters > 0) return;
      clearInterval(timer);
      setImmediate(reject, noAnswer(milliseconds));
    }, milliseconds / 4);
    promise.then(resolve, reject).finally(() => clearInterval(timer));
  });
}
