import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command, InvalidArgumentError } from 'commander';
import { exitOnSignals, temporaryFolder } from '../bench/belongings.js';
import { headers, type Server, startServer } from '../bench/requests/processes.js';
import { randomOf } from '../bench/suites.js';
import { problemsIn } from './problems.js';

/**
 * Kills a server (-9) again and again while nodes pull, split and record through it, and holds it to its promises: what was
 * acknowledged is there, every file of every queue was handed out, to nodes with uuids once, splits stay as they were, the
 * store is sound after each kill. The seed decides when it is killed and what the nodes do, not who comes first.
 */

interface Options {
  times: number;
  seed: number;
  builds: number;
}

const whole = (text: string) => {
  const value = Number(text);
  if (!Number.isInteger(value) || value < 1 || value > 100_000) throw new InvalidArgumentError('It must be a whole number above 0.');
  return value;
};

const NODES = 3;
const LARGE_SUITE = 1500;
const SHORTEST_LIFE_MILLISECONDS = 20;
const LONGEST_LIFE_MILLISECONDS = 600;

type TestFile = { path: string };

/** What goes wrong is thrown with this. */
class Broken extends Error {}

function must(holds: boolean, promise: string): void {
  if (!holds) throw new Broken(promise);
}

/** The server in force, and requests that are sent until they are answered. */
class Ci {
  #server: Promise<Server>;
  answers = 0;
  slowestStart = 0;

  constructor(readonly dataDir: string) {
    this.#server = this.#start();
  }

  /** kill -9, a look at the store, and a new server on it. */
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

  async post(path: string, body: object): Promise<any> {
    return this.#send(path, attempt => ({ method: 'POST', body: JSON.stringify(body), headers: { ...headers, 'X-Retry-Count': String(attempt) } }));
  }

  async get(path: string): Promise<any> {
    return this.#send(path, () => ({ headers }));
  }

  async #send(path: string, init: (attempt: number) => RequestInit): Promise<unknown> {
    for (let attempt = 0; ; attempt++) {
      const { url } = await this.#server;
      let status: number;
      let text: string;
      try {
        const response = await fetch(url + path, init(attempt));
        status = response.status;
        text = await response.text();
      } catch {
        // Killed meanwhile: the next server answers.
        await sleep(1);
        continue;
      }
      must(status < 300, `${path} was answered with ${status}: ${text}`);
      this.answers += 1;
      return text === '' ? null : JSON.parse(text);
    }
  }

  async #start(): Promise<Server> {
    const server = await startServer({ dataDir: this.dataDir });
    this.slowestStart = Math.max(this.slowestStart, server.startMilliseconds);
    return server;
  }

  async #expectSound(): Promise<void> {
    const problems = await problemsIn(this.dataDir);
    must(problems.length === 0, `after a kill the store is not sound: ${problems.slice(0, 5).join('; ')}`);
  }
}

const suite = (name: string, files: number): TestFile[] => Array.from({ length: files }, (_, i) => ({ path: `spec/${name}/${i}_spec.rb` }));
const sorted = (files: readonly TestFile[]) => files.map(({ path }) => path).sort().join();

/** A build in queue mode, from the first request of its nodes to their records. */
async function playQueue(ci: Ci, name: string, files: TestFile[], uuids: boolean): Promise<void> {
  const build = { commit_hash: name, branch: 'main', node_total: NODES, node_build_id: '1' };
  const nodes = Array.from({ length: NODES }, async (_, node_index) => {
    const ask = (phase: object) => ci.post('/v1/queues/queue', { ...build, node_index, ...phase, ...(uuids && { batch_uuid: randomUUID() }) });
    const ran: TestFile[] = [];
    let reply = await ask({ can_initialize_queue: true, attempt_connect_to_queue: false, test_files: files });
    while (reply.test_files.length > 0) {
      ran.push(...reply.test_files);
      reply = await ask({ can_initialize_queue: false, attempt_connect_to_queue: false });
    }
    const test_files = [...new Set(ran.map(({ path }) => path))].map(path => ({ path, time_execution: 1 }));
    await ci.post('/v1/build_subsets', { ...build, node_index, test_files });
    return ran;
  });
  const handed = (await Promise.all(nodes)).flat();
  must(new Set(handed.map(({ path }) => path)).size === files.length, `of the queue ${name} a file was never handed out`);
  if (uuids) must(sorted(handed) === sorted(files), `of the queue ${name} a file was handed out twice`);
}

/** A build in regular mode. */
async function playSplit(ci: Ci, name: string, files: TestFile[]): Promise<void> {
  const build = { commit_hash: name, branch: 'main', node_total: NODES, ci_build_id: '1' };
  const ask = () =>
    Promise.all(
      Array.from({ length: NODES }, (_, node_index) =>
        ci.post('/v1/build_distributions/subset', { ...build, node_index, cache_read_attempt: false, test_files: files }),
      ),
    );
  const first = await ask();
  must(sorted(first.flatMap(({ test_files }) => test_files as TestFile[])) === sorted(files), `the split ${name} has not every file once`);
  for (const [node_index, { test_files }] of first.entries()) {
    const recorded = (test_files as TestFile[]).map(({ path }) => ({ path, time_execution: 1 }));
    await ci.post('/v1/build_subsets', { ...build, node_index, test_files: recorded });
  }
  must(JSON.stringify(await ask()) === JSON.stringify(first), `the split ${name} is another one after a kill`);
}

async function kills({ times, seed, builds }: Options): Promise<void> {
  const random = randomOf(seed);
  const ci = new Ci(temporaryFolder());
  await ci.ready();
  let isOver = false;
  const played: string[] = [];
  const playing = Array.from({ length: builds }, async (_, stream) => {
    for (let i = 0; !isOver; i++) {
      const name = `build-${stream}-${i}`;
      const files = suite(name, random() < 0.1 ? LARGE_SUITE : 10 + Math.floor(90 * random()));
      const kind = random();
      if (kind < 0.3) await playSplit(ci, name, files);
      else await playQueue(ci, name, files, kind < 0.8);
      played.push(name);
    }
  });
  const playedAll = Promise.all(playing);
  playedAll.catch(() => {});
  for (let kill = 1; kill <= times; kill++) {
    const life = SHORTEST_LIFE_MILLISECONDS + random() * (LONGEST_LIFE_MILLISECONDS - SHORTEST_LIFE_MILLISECONDS);
    // A promise that is broken ends it at once.
    await Promise.race([sleep(life), playedAll]);
    await ci.kill();
    if (process.stderr.isTTY) process.stderr.write(`\r${kill} of ${times} kills, ${ci.answers} answers, ${played.length} builds`);
  }
  isOver = true;
  await playedAll;
  for (const commit_hash of played) {
    await ci.get(`/v1/builds/completeness?commit_hash=${commit_hash}&branch=main&node_total=${NODES}`);
  }
  await ci.stop();
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  process.stdout.write(
    `${times} kills (seed ${seed}), ${ci.answers} answers: ${played.length} builds, each of their files handed out and recorded; ` +
      `store sound after each kill; slowest start ${Math.round(ci.slowestStart)} ms\n`,
  );
}

exitOnSignals();
const program = new Command('npm run kills --')
  .description('Kill a server again and again while nodes work with it, and see whether anything is lost.')
  .option('--times <number>', 'how often', whole, 200)
  .option('--seed <number>', 'of when, and of what the nodes do', whole, 1)
  .option('--builds <number>', 'that run at the same time', whole, 6)
  .action(async (options: Options) => {
    try {
      await kills(options);
    } catch (error) {
      process.stderr.write(`\nkills: ${error instanceof Broken ? error.message : String((error as Error).stack)}\n`);
      process.exit(1);
    }
  });
await program.parseAsync();
