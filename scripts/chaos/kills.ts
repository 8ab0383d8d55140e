import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { exitOnSignals, temporaryFolder } from '../../bench/load/cleanup.js';
import { type Server, startServer } from '../../bench/load/server.js';
import { positiveInteger } from '../../bench/option-parsers.js';
import { showStatus } from '../../bench/progress.js';
import { seededRandom } from '../../bench/random.js';
import { type Build, drawBuild, expectComplete, play } from './builds.js';
import { reportViolations } from './invariants.js';
import { requestJson } from './request.js';
import { checkStore, expectSound } from './store-check.js';

/**
 * Kills a server with SIGKILL, repeatedly, while nodes pull, split and record, and checks its invariants: acknowledged data is in the
 * store, every file of every queue is handed out (exactly once if requests have uuids), splits do not change, and the store is sound after
 * each kill. The seed determines when the server is killed and what the nodes do, but not the order of their requests.
 */

interface Options {
  times: number;
  seed: number;
  builds: number;
}

const SHORTEST_LIFE_MILLISECONDS = 20;
const LONGEST_LIFE_MILLISECONDS = 600;

/** Runs the current server, and sends each request until it is answered. */
class RestartingServer {
  #server: Promise<Server>;
  answers = 0;
  slowestStart = 0;

  constructor(readonly dataDir: string) {
    this.#server = this.#start();
  }

  /** Kills the server, checks the store, and starts a new server on it. */
  async kill(): Promise<void> {
    const old = await this.#server;
    const next = (async () => {
      const exited = once(old.child, 'exit');
      old.child.kill('SIGKILL');
      await exited;
      await this.#expectSound();
      return this.#start();
    })();
    this.#server = next;
    await next;
  }

  async ready(): Promise<void> {
    await this.#server;
  }

  async stop(): Promise<void> {
    await (await this.#server).stop();
    await this.#expectSound();
  }

  async send(path: string, body?: object): Promise<any> {
    for (let attempt = 0; ; attempt++) {
      const { url } = await this.#server;
      try {
        const answer: unknown = await requestJson(url, path, body, attempt);
        this.answers += 1;
        return answer;
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
        // The server was killed: the next one answers.
        await sleep(1);
      }
    }
  }

  async #start(): Promise<Server> {
    const server = await startServer({ dataDir: this.dataDir });
    this.slowestStart = Math.max(this.slowestStart, server.startMilliseconds);
    return server;
  }

  async #expectSound(): Promise<void> {
    expectSound(await checkStore(this.dataDir));
  }
}

async function kills({ times, seed, builds }: Options): Promise<void> {
  const random = seededRandom(seed);
  const ci = new RestartingServer(temporaryFolder());
  await ci.ready();
  let hasEnded = false;
  const played: Build[] = [];
  const playing = Array.from({ length: builds }, async (_, stream) => {
    for (let i = 0; !hasEnded; i++) {
      const build = drawBuild(random, `build-${stream}-${i}`);
      await play((path, body) => ci.send(path, body), build);
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
  await ci.stop();
  showStatus('');
  process.stdout.write(
    `${times} kills (seed ${seed}), ${ci.answers} answers: every file of ${played.length} builds was handed out and recorded; ` +
      `store sound after each kill; slowest start ${Math.round(ci.slowestStart)} ms\n`,
  );
}

exitOnSignals();
const program = new Command('npm run kills --')
  .description('Kill a server repeatedly while CI nodes use it, and check that nothing is lost.')
  .option('--times <number>', 'number of kills', positiveInteger, 200)
  .option('--seed <number>', 'seed of the times of the kills and of what the nodes do', positiveInteger, 1)
  .option('--builds <number>', 'number of concurrent builds', positiveInteger, 6)
  .action(reportViolations('kills', kills));
await program.parseAsync();
