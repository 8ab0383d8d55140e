import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { removeFolder, temporaryFolder } from '../../../test/testbed/cleanup.js';
import { pick, type Random, seededRandom } from '../../../test/testbed/random.js';
import { type Server, startServer } from '../../../test/testbed/server.js';
import { clockImport } from './clock-import.js';
import { databasePlace, folderPlace, type Place } from './places.js';
import type { Operation, Scenario } from './scenario.js';

/** The servers of a scenario: one on a folder, or some on a database of a cluster, whose URL this is. */
export type Processes = { number: 1 } | { number: number; cluster: string };

/** The parts of a scenario that its servers depend on. */
type ServerScenario = Pick<Scenario, 'leases' | 'speed' | 'clockHours' | 'number' | 'pieces'>;

/** Runs the servers of a scenario, and performs what operators and machine failures do to them. */
export class Operator {
  readonly #clocks: string[];
  readonly #flags: string[];
  readonly #servers: (Server | null)[];
  readonly #random: Random;
  readonly #speed: number;
  /** The operations in progress. */
  #work: Promise<void> = Promise.resolve();
  /** The interruptions that all requests may have to wait for. */
  #interruption: Promise<void> = Promise.resolve();
  #holdsRequests = true;
  #interruptions = 0;
  /** Finished operations, for reports. */
  readonly done: string[] = [];

  private constructor(
    { leases, speed, clockHours, number, pieces }: ServerScenario,
    processes: number,
    readonly since: number,
    readonly folder: string,
    readonly place: Place,
  ) {
    const leaseFlags = leases ? ['--lease-factor', '1', '--lease-grace-seconds', '0'] : [];
    // Pieces of files that are short enough for leases to expire pay only if they cost little.
    const pieceFlags = leases && pieces ? ['--pull-cost-seconds', '0.01'] : [];
    this.#flags = ['--log-level', 'silent', '--workers', '1', ...leaseFlags, ...pieceFlags];
    this.#servers = Array.from({ length: processes }, () => null);
    this.#clocks = this.#servers.map((_, i) => join(this.folder, `clock-${i}`));
    this.#random = seededRandom(number);
    this.#speed = speed;
    this.#setClock(clockHours);
  }

  static async start(scenario: ServerScenario, processes: Processes): Promise<Operator> {
    const folder = temporaryFolder();
    const since = Date.now();
    const place = 'cluster' in processes ? await databasePlace(processes.cluster, scenario.speed, since) : folderPlace(folder);
    const operator = new Operator(scenario, processes.number, since, folder, place);
    await operator.#start();
    return operator;
  }

  /** Resolves with the URL of a server, any of them, once one is up; or with null if the request must be dropped. */
  async url(): Promise<string | null> {
    if (this.#interruptions > 0 && !this.#holdsRequests) return null;
    await this.#interruption;
    const dealt = pick(this.#random, this.#servers);
    if (dealt || !this.#holdsRequests) return dealt?.url ?? null;
    const running = this.#servers.filter(server => server !== null);
    if (running.length === 0) await this.#work;
    return pick(this.#random, running.length > 0 ? running : this.#servers)?.url ?? null;
  }

  /** Runs an operation after all earlier ones. */
  perform(operation: Operation): void {
    // While one of several servers is killed, others answer.
    const interrupts = this.#servers.length === 1 || !operation.kind.endsWith('kill');
    if (interrupts) this.#interruptions += 1;
    this.#holdsRequests = operation.holdsRequests;
    this.#work = this.#work.then(async () => {
      await this.#perform(operation);
      this.done.push(
        `${operation.kind}${operation.kind.startsWith('set clock') ? ` to ${operation.hours} h` : ''} before request ${operation.at}`,
      );
      if (interrupts) this.#interruptions -= 1;
    });
    if (interrupts) this.#interruption = this.#work;
  }

  async stop(): Promise<void> {
    await this.#work;
    await this.#stopAll('SIGKILL');
    await this.place.close();
    removeFolder(this.folder);
  }

  async #perform({ kind, hours }: Operation): Promise<void> {
    const { place } = this;
    switch (kind) {
      case 'kill':
        await this.#stopServer(this.#draw(), 'SIGKILL');
        return this.#start();
      case 'empty':
        await this.#stopAll('SIGKILL');
        await place.empty();
        return this.#start();
      case 'back up':
      case 'copy':
        if (kind === 'back up' && place.backUp) return place.backUp();
        await this.#stopAll('SIGTERM');
        await place.copy();
        return this.#start();
      case 'restore':
        await this.#stopAll('SIGKILL');
        await place.empty();
        await place.restore();
        return this.#start();
      case 'set clock':
        this.#setClock(hours);
        return;
      case 'set clock and kill':
        await this.#stopServer(this.#setClock(hours), 'SIGKILL');
        return this.#start();
    }
  }

  #draw(): number {
    return pick(this.#random, [...this.#servers.keys()]);
  }

  /** Sets the clock of one server, which it returns. Those of the others are right. */
  #setClock(hours: number): number {
    const drawn = this.#draw();
    for (const [i, clock] of this.#clocks.entries()) writeFileSync(clock, String(i === drawn ? hours : 0));
    return drawn;
  }

  /** Starts the servers that do not run. */
  async #start(): Promise<void> {
    const starts = this.#servers.map(async (server, i) => {
      // Its timeouts are bounds of its disk and its database, which are not faster.
      const clock = clockImport({ file: this.#clocks[i]!, speed: this.#speed, since: this.since, timers: 'intervals' });
      return server ?? startServer({ ...this.place.server, flags: this.#flags, nodeArgs: [clock] });
    });
    for (const [i, server] of (await Promise.all(starts)).entries()) this.#servers[i] = server;
  }

  async #stopAll(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    await Promise.all(this.#servers.map((_, i) => this.#stopServer(i, signal)));
  }

  async #stopServer(i: number, signal: 'SIGKILL' | 'SIGTERM'): Promise<void> {
    const server = this.#servers[i];
    this.#servers[i] = null;
    await server?.stop(signal);
  }
}
