import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { exitOnSignals } from '../../test/testbed/cleanup.js';
import { requestJson } from '../../test/testbed/client.js';
import { positiveInteger } from '../../test/testbed/option-parsers.js';
import { showStatus } from '../../test/testbed/progress.js';
import { pick, type Random, seededRandom } from '../../test/testbed/random.js';
import type { Server } from '../../test/testbed/server.js';
import { AnswerLog } from './answer-log.js';
import { type Build, drawBuild, expectComplete, play } from './builds.js';
import { reportViolations } from './invariants.js';
import { databaseStore, folderStore, type KilledStore } from './kills/stores.js';
import { expectSound } from './store-check.js';

/**
 * Kills servers with SIGKILL, repeatedly, while nodes pull, split and record, and some are cancelled. It checks their invariants:
 * acknowledged data is in the store, every file of every queue is handed out (exactly once if requests have uuids), splits do not change,
 * and the store is sound after each kill. The seed determines when which server is killed and what the nodes do, but not the order of
 * their requests.
 */

interface Options {
  times: number;
  seed: number;
  builds: number;
  processes: number;
}

const SHORTEST_LIFE_MILLISECONDS = 20;
const LONGEST_LIFE_MILLISECONDS = 600;
/** Share of the kills that hit all processes, where there are more than one. */
const ALL_KILLED = 0.2;

/** Runs servers on one store, and sends each request to one of them until it is answered: each time to any of them. */
class RestartingServers {
  readonly #servers: Promise<Server>[];
  readonly #running = new Set<Server>();
  /** Resolves when the store was checked after the last kill. */
  checked: Promise<void> = Promise.resolve();
  answers = 0;
  slowestStart = 0;

  constructor(
    readonly store: KilledStore,
    processes: number,
    readonly random: Random,
  ) {
    this.#servers = Array.from({ length: processes }, () => this.#start());
  }

  /** Kills one server or all, checks the store, and starts new servers on it. */
  async kill(): Promise<void> {
    const all = [...this.#servers.keys()];
    const killed = this.random() < ALL_KILLED ? all : [pick(this.random, all)];
    const exited = killed.map(async i => this.#kill(await this.#servers[i]!));
    this.checked = Promise.all(exited).then(() => this.#expectSound());
    for (const i of killed) this.#servers[i] = this.checked.then(() => this.#start());
    await Promise.all(this.#servers);
  }

  async ready(): Promise<void> {
    await Promise.all(this.#servers);
  }

  async stop(): Promise<void> {
    for (const server of this.#servers) await (await server).stop();
    await this.#expectSound();
  }

  async send(path: string, body?: object): Promise<any> {
    for (let attempt = 0; ; attempt++) {
      const running = [...this.#running];
      const { url } = running.length > 0 ? pick(this.random, running) : await Promise.any(this.#servers);
      try {
        const answer: unknown = await requestJson(url, path, body, attempt);
        this.answers += 1;
        return answer;
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        // The server was killed: the next one answers, or another.
        await sleep(1);
      }
    }
  }

  async #start(): Promise<Server> {
    const server = await this.store.serve();
    this.#running.add(server);
    this.slowestStart = Math.max(this.slowestStart, server.startMilliseconds);
    return server;
  }

  async #kill(server: Server): Promise<void> {
    await server.stop('SIGKILL');
    this.#running.delete(server);
  }

  async #expectSound(): Promise<void> {
    expectSound(await this.store.check());
  }
}

async function kills({ times, seed, builds, processes }: Options): Promise<void> {
  const random = seededRandom(seed);
  const store = processes === 1 ? folderStore() : await databaseStore();
  const ci = new RestartingServers(store, processes, seededRandom(seed + 1));
  await ci.ready();
  const log = new AnswerLog();
  let hasEnded = false;
  const played: Build[] = [];
  const playing = Array.from({ length: builds }, async (_, stream) => {
    for (let i = 0; !hasEnded; i++) {
      // Else the other processes add builds meanwhile, and each check takes longer than the one before.
      await ci.checked;
      const build = drawBuild(random, `build-${stream}-${i}`);
      await play(
        log.record((path, body) => ci.send(path, body)),
        build,
      );
      played.push(build);
    }
  });
  const allPlayed = Promise.all(playing);
  allPlayed.catch(() => {});
  for (let kill = 1; kill <= times; kill++) {
    const life = SHORTEST_LIFE_MILLISECONDS + random() * (LONGEST_LIFE_MILLISECONDS - SHORTEST_LIFE_MILLISECONDS);
    // A violated invariant ends the run at once.
    await Promise.race([sleep(life), allPlayed]);
    await ci.kill();
    showStatus(`${kill} of ${times} kills, ${ci.answers} answers, ${played.length} builds`);
  }
  hasEnded = true;
  await allPlayed;
  for (const build of played) await expectComplete(path => ci.send(path), build);
  await store.expectStored(log);
  await ci.stop();
  await store.close();
  showStatus('');
  process.stdout.write(
    `${times} kills (seed ${seed}${processes === 1 ? '' : `, ${processes} processes`}), ${ci.answers} answers: every file of ${played.length} builds was handed out and recorded; ` +
      `store sound after each kill; slowest start ${Math.round(ci.slowestStart)} ms\n`,
  );
}

exitOnSignals();
const program = new Command('npm run kills --')
  .description('Kill servers repeatedly while CI nodes use them, and check that nothing is lost.')
  .option('--times <number>', 'number of kills', positiveInteger, 200)
  .option('--seed <number>', 'seed of the times of the kills and of what the nodes do', positiveInteger, 1)
  .option('--builds <number>', 'number of concurrent builds', positiveInteger, 6)
  .option('--processes <number>', 'number of servers: one on a folder, or more on a PostgreSQL database', positiveInteger, 1)
  .action(reportViolations('kills', kills));
await program.parseAsync();
