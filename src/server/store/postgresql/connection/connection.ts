import pg from 'pg';
import type { Address } from './address.js';
import { noAnswer } from './errors.js';

/** The parts of a login besides the address. */
interface Login {
  /** Asked when the server wants one. */
  password: () => Promise<string>;
  /** The authorities that may have signed the certificate of the server, in PEM; null: those that Node trusts. */
  ca: string | null;
  /** Milliseconds without traffic after which TCP asks whether the server is there. */
  keepAliveDelay: number;
}

const INT8 = 20;
/** Integers of 64 bits are times and counters, which a double has exactly. */
const types = { getTypeParser: (oid: number, format?: 'text' | 'binary') => (oid === INT8 ? Number : pg.types.getTypeParser(oid, format)) };

/** Gets what a statement returned, or an error. */
type Done = (error: Error | null, result?: pg.QueryResult) => void;

/** A connection to a server, which runs one statement at a time. */
export class Connection {
  /** Why it is of no use any more; null: it is of use. */
  lostBy: { error: unknown } | null = null;
  /** True if the connection is to be replaced by a new one. */
  isOld = false;
  /** The database warned during the last statement: an operator may have ended the wait of its commit for a standby. */
  hasWarned = false;
  readonly ended: Promise<void>;
  readonly #client: pg.Client;
  /** Of the statement that runs. */
  #done: Done | null = null;
  readonly #answered: Done = (error, result) => {
    const done = this.#done;
    this.#done = null;
    done?.(error, result);
  };
  #retiring: NodeJS.Timeout | null = null;
  #ending: NodeJS.Timeout | null = null;

  /** @param onLost called when it is lost, perhaps more than once */
  constructor(
    readonly address: Address,
    { password, ca, keepAliveDelay }: Login,
    readonly onLost: () => void,
  ) {
    const { host, port, user, database, isTls } = address;
    const client = new pg.Client({
      ...{ host, port, database, types, application_name: 'ballast', ...(user === null ? {} : { user }), password },
      ssl: isTls && { rejectUnauthorized: true, ...(ca === null ? {} : { ca }) },
      ...{ keepAlive: true, keepAliveInitialDelayMillis: keepAliveDelay },
    });
    this.#client = client;
    // Without a listener, the end of a connection that waits ends the process.
    client.on('error', error => this.cut(error));
    // Class 01. The severity is in the language of the database.
    client.on('notice', ({ code }) => (this.hasWarned ||= code?.startsWith('01') === true));
    this.ended = new Promise(resolve => client.once('end', resolve));
    void this.ended.then(() => {
      clearTimeout(this.#retiring!);
      clearTimeout(this.#ending!);
    });
  }

  get isLost(): boolean {
    return this.lostBy !== null;
  }

  /** Connects. Called once. */
  async open(): Promise<void> {
    await this.#client.connect();
  }

  /** @param done called once */
  run(statement: pg.QueryConfig, done: Done): void {
    this.hasWarned = false;
    this.#done = done;
    // The server may have ended it in the moment when it was made. The client would give no reason, and without one nobody tries again.
    const { lostBy } = this;
    if (lostBy) setImmediate(this.#answered, lostBy.error as Error);
    else this.#client.query(statement, this.#answered);
  }

  /** Calls a function after a time, when the connection is old. */
  retireAfter(milliseconds: number, onOld: () => void): void {
    // Not all at once.
    this.#retiring = setTimeout(
      () => {
        this.isOld = true;
        onOld();
      },
      milliseconds * (1 - Math.random() / 10),
    ).unref();
  }

  /** Ends it at once. What runs on it fails with the error. */
  cut(error: unknown): void {
    this.lostBy ??= { error };
    this.#client.connection.stream.destroy();
    this.onLost();
    this.#answered(error as Error);
  }

  /** Ends it. The server may not answer any more, so it is cut after a time. */
  end(milliseconds: number): void {
    if (this.isLost) return;
    this.#ending ??= setTimeout(() => this.cut(noAnswer(milliseconds)), milliseconds).unref();
    this.#client.end().catch(() => {});
  }
}
