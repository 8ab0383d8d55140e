import { readFile } from 'node:fs/promises';
import { type Address, addressesOf, isLocal } from './address.js';
import { Connection } from './connection.js';
import { DatabaseClock } from './database-clock.js';
import { closed } from './errors.js';
import type { Settings } from './options.js';
import { pauseAfter, within } from './pause.js';

interface ServerRow {
  is_read_only: string;
  commit: string;
  /** Milliseconds since 1970. */
  time: number;
}

const WHAT_ARE_YOU = `select current_setting('transaction_read_only') as is_read_only,
  current_setting('synchronous_commit') as commit, (extract(epoch from clock_timestamp()) * 1000)::float8 as time`;

/** The servers of a database, of which one at a time accepts writes, and all connections to them. */
export class Servers {
  readonly clock = new DatabaseClock();
  /** The setting of the server that was connected to last; null: none was. */
  synchronousCommit: string | null = null;
  /** Another machine to which what is sent is not encrypted; null: there is none. */
  readonly plainHost: string | null;
  /** Also those that are being made or ended, and that of the watch. */
  readonly connections = new Set<Connection>();
  /** Why the last attempt to connect failed; null: it did not. */
  lastFailure: { error: unknown; address: Address } | null = null;
  /** By `performance.now()`: when a connection was made. */
  connectedAt = Number.NEGATIVE_INFINITY;
  readonly #addresses: readonly Address[];
  /** The address that worked last, or is to be tried next. */
  #at = 0;
  /** Why no statement can run, since when, and for how long before. */
  readonly #away = { reasons: new Set<'pool' | 'watch'>(), since: 0, milliseconds: 0 };

  /** Throws a sentence when the URL is none. */
  constructor(readonly settings: Settings) {
    const { url, ca } = settings;
    const addresses = addressesOf(url);
    if (ca && /[?&]sslmode=disable/.test(url)) throw new Error('it says sslmode=disable, and a certificate is named');
    this.#addresses = addresses.map(address => ({ ...address, isTls: address.isTls || (Boolean(ca) && !address.host.startsWith('/')) }));
    this.plainHost = this.#addresses.find(address => !address.isTls && !isLocal(address))?.host ?? null;
  }

  get count(): number {
    return this.#addresses.length;
  }

  /** The address that is tried next. */
  get address(): Address {
    return this.#addresses[this.#at]!;
  }

  /**
   * Connects to a server that accepts writes.
   *
   * @param onLost called when the connection is lost, perhaps more than once
   */
  async connect(onLost: (connection: Connection) => void): Promise<Connection> {
    const { ca, bounds, closing } = this.settings;
    const { address } = this;
    let connection: Connection | null = null;
    try {
      const authorities = address.isTls && ca ? await readFile(ca, 'utf8') : null;
      if (closing.aborted) throw closed();
      const login = { password: () => this.#password(address), ca: authorities, keepAliveDelay: bounds.connect };
      const made = new Connection(address, login, () => onLost(made));
      connection = made;
      this.connections.add(made);
      void made.ended.then(() => this.connections.delete(made));
      await within(
        made.open().then(() => this.ask(made)),
        bounds.connect,
      );
      this.lastFailure = null;
      this.connectedAt = performance.now();
      this.setAway('pool', false);
      return made;
    } catch (error) {
      this.lastFailure = { error, address };
      connection?.cut(error);
      this.leave(address);
      throw error;
    }
  }

  /** Asks a server whether it accepts writes, and for its time. */
  async ask(connection: Connection): Promise<void> {
    const asked = performance.now();
    const [row] = await new Promise<ServerRow[]>((resolve, reject) =>
      connection.run({ text: WHAT_ARE_YOU }, (error, result) => (error ? reject(error) : resolve(result!.rows as ServerRow[]))),
    );
    const { is_read_only, commit, time } = row!;
    if (is_read_only === 'on') throw Object.assign(new Error('this server accepts no writes'), { code: '25006' });
    this.clock.measured(time, asked, performance.now());
    this.synchronousCommit = commit;
  }

  /** Another server is tried next, unless somebody noticed before that this one does not work. */
  leave(address: Address): void {
    if (this.address === address) this.#at = (this.#at + 1) % this.count;
  }

  /** Pause after so many attempts to connect: the other servers are tried at once. */
  pauseAfter(failures: number): number {
    const rounds = failures / this.count;
    return Number.isInteger(rounds) ? pauseAfter(rounds - 1) : 0;
  }

  /** Notes whether there is no connection to be had, or no answer to the watch. */
  setAway(reason: 'pool' | 'watch', isAway: boolean): void {
    const { reasons } = this.#away;
    const wasAway = reasons.size > 0;
    if (isAway) reasons.add(reason);
    else reasons.delete(reason);
    if (!wasAway && isAway) this.#away.since = performance.now();
    if (wasAway && reasons.size === 0) this.#away.milliseconds += performance.now() - this.#away.since;
  }

  /** For how many milliseconds they have been away: now, and since this process started. */
  away(): { now: number; ever: number } {
    const { reasons, since, milliseconds } = this.#away;
    const now = reasons.size > 0 ? performance.now() - since : 0;
    return { now, ever: milliseconds + now };
  }

  async #password({ password }: Address): Promise<string> {
    const { passwordFile } = this.settings;
    if (passwordFile) return (await readFile(passwordFile, 'utf8')).replace(/\r?\n$/, '');
    if (password !== null) return password;
    throw Object.assign(new Error('it asks for a password, and there is none'), { code: '28P01' });
  }
}
