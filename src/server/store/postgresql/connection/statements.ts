import { randomUUID } from 'node:crypto';
import { refusals } from '../../../engine/refusal.js';
import type { Connection } from './connection.js';
import { closed, isConflict, isReadOnly, mayPass, noAnswer, refusalOf } from './errors.js';
import type { Settings, StatementKind } from './options.js';
import { pauseAfter } from './pause.js';
import { type Demand, Pool } from './pool.js';
import type { Servers } from './servers.js';
import { nameOf, withCommit } from './sql.js';

/** Times that a statement which lost against another one runs again. */
const DATABASE_CONFLICTS = 10;

/** Result of a statement. */
export interface Result<Row> {
  rows: Row[];
  /** Number of rows that it changed, or returned. */
  count: number;
}

/** A statement that somebody waits for. */
interface Call {
  kind: StatementKind;
  text: string;
  values: unknown[];
  /** True if the statement commits something in any case, also when it runs again and finds its changes. */
  hasCommit: boolean;
  /** Its plan is kept for the next time, unless it has a long list. */
  keepsPlan: boolean;
  tries: number;
  /** By `performance.now()`: the caller gets an error then. */
  until: number;
  /** The caller has its result, or an error. */
  isOver: boolean;
  /** Connection that it runs on; null: it waits. */
  connection: Connection | null;
  resolve: (result: Result<any>) => void;
  reject: (error: unknown) => void;
}

/**
 * Runs statements on the connections of a pool, one statement at a time on each. While there is no connection, statements wait for one. A caller
 * waits `BOUNDS.wait` at most, and then gets a 503; its statement goes on, and has its connection until it ends.
 */
export class Statements implements Demand {
  /** The key of this process in the table of processes. */
  readonly process = randomUUID();
  /** Number of statements that ran again because their connection was lost, or their commit is uncertain. */
  repeated = 0;
  readonly pool: Pool;
  /** All whose callers wait, in the order in which they came. */
  readonly #calls = new Set<Call>();
  /** Of these, those that wait for a connection. */
  readonly #waiting = { read: new Set<Call>(), change: new Set<Call>() };
  /** Until it is looked who has waited for too long. */
  #patience: NodeJS.Timeout | null = null;

  constructor(
    readonly servers: Servers,
    readonly settings: Settings,
  ) {
    this.pool = new Pool(servers, settings, this);
  }

  waiting(kind: StatementKind): number {
    return this.#waiting[kind].size;
  }

  run<Row>(
    kind: StatementKind,
    text: string,
    values: unknown[],
    { hasCommit = false, keepsPlan = true }: Partial<Pick<Call, 'hasCommit' | 'keepsPlan'>> = {},
  ): Promise<Result<Row>> {
    return new Promise((resolve, reject) => {
      const until = performance.now() + this.settings.bounds.wait;
      const call: Call = { kind, text, values, hasCommit, keepsPlan, tries: 0, until, isOver: false, connection: null, resolve, reject };
      this.#calls.add(call);
      this.#bePatient();
      this.#start(call);
    });
  }

  /** Gives free connections to those who wait, in their order. */
  serve(): void {
    if (this.#waitingCount() === 0) return;
    while (this.pool.hasFree('read')) {
      const [read] = this.#waiting.read;
      const [change] = this.pool.hasFree('change') ? this.#waiting.change : [];
      const call = read && change ? (change.until < read.until ? change : read) : (read ?? change);
      if (!call) break;
      this.#waiting[call.kind].delete(call);
      this.#use(call);
    }
    this.pool.openMore();
  }

  refuseWaiting(error: unknown): void {
    for (const call of [...this.#waiting.read, ...this.#waiting.change]) this.#refuse(call, refusals.databaseFailed(error));
  }

  /** Refuses the statements that wait. */
  close(): void {
    for (const call of this.#calls) if (!call.connection) this.#refuse(call, closed());
    this.pool.close();
  }

  /** No statement is left. */
  ended(): void {
    clearTimeout(this.#patience!);
  }

  /** Gives a statement a connection, or has it wait for one. */
  #start(call: Call): void {
    const { bounds, closing } = this.settings;
    if (closing.aborted) return void this.#refuse(call, closed());
    const { kind } = call;
    if (this.pool.hasFree(kind) && this.waiting(kind) === 0) return void this.#use(call);
    if (this.#waitingCount() >= bounds.waiting)
      return void this.#refuse(call, refusals.databaseAway(new Error(`${bounds.waiting} statements wait for a connection`)));
    this.#waiting[kind].add(call);
    this.pool.openMore();
  }

  /** Runs a statement on a free connection. */
  #use(call: Call): void {
    const { kind, text, values, keepsPlan } = call;
    const connection = this.pool.take(kind);
    call.connection = connection;
    const { statementEnded } = this.settings;
    const started = statementEnded ? performance.now() : 0;
    connection.run({ name: keepsPlan ? nameOf(text, values) : undefined, text, values }, (error, result) => {
      call.connection = null;
      if (!error) statementEnded?.(kind, (performance.now() - started) / 1000);
      // An operator may have ended the wait for a standby.
      const isCertain = !error && (kind === 'read' || !connection.hasWarned);
      if (!isCertain) return void this.#repeat(call, connection, error);
      this.pool.release(connection, kind);
      this.#end(call);
      call.resolve({ rows: result!.rows, count: result!.rowCount ?? 0 });
    });
  }

  /** Runs a statement again, unless the database refused it. */
  #repeat(call: Call, connection: Connection, error: unknown): void {
    const { kind, tries } = call;
    if (error && isReadOnly(error)) {
      this.servers.leave(connection.address);
      this.pool.cut(connection.address, error);
    } else if (error && mayPass(error)) connection.cut(error);
    const { isLost } = connection;
    this.pool.release(connection, kind);
    if (call.isOver) return;
    if (error && !isLost && (!isConflict(error) || tries >= DATABASE_CONFLICTS)) return void this.#refuse(call, error);
    if (this.settings.closing.aborted) return void this.#refuse(call, refusals.databaseAway(error));
    if (!error || isLost) {
      this.repeated += 1;
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
    const { bounds, isWatched } = this.settings;
    this.#patience ??= setTimeout(() => {
      // This process may have stood still: what has arrived meanwhile is read first.
      setImmediate(() => {
        this.#patience = null;
        const now = performance.now();
        for (const call of this.#calls) {
          if (call.until > now) break;
          const { connection } = call;
          const cause = connection ? noAnswer(bounds.wait) : (this.servers.lastFailure?.error ?? new Error('all connections were in use'));
          this.#refuse(call, refusals.databaseAway(cause));
          if (!isWatched) connection?.cut(cause);
        }
        if (this.#calls.size > 0) this.#bePatient();
      });
    }, bounds.wait / 24);
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

  #waitingCount(): number {
    return this.#waiting.read.size + this.#waiting.change.size;
  }
}
