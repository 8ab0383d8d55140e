import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Command } from 'commander';
import { exitOnSignals, temporaryFolder } from '../../test/testbed/cleanup.js';
import { headers, requestJson, sendJson } from '../../test/testbed/client.js';
import { positiveInteger } from '../../test/testbed/option-parsers.js';
import { showStatus } from '../../test/testbed/progress.js';
import { seededRandom } from '../../test/testbed/random.js';
import { MAIN, type Server, startServer } from '../../test/testbed/server.js';
import { type Build, type Post, play, suite } from './builds.js';
import { send } from './fuzz/send.js';
import { FILES } from './fuzz/valid-request.js';
import { invariant, reportViolations } from './invariants.js';
import { checkStore, expectSound } from './store-check.js';
import { drawHostileRequest, type Known } from './strangers/hostile-request.js';
import { recordsOf } from './strangers/records.js';

/**
 * Strangers with a public token send a server all that they can think of, while the CI runs of another project go on. Afterwards no record of
 * the project may have changed, no answer about it may be another one, and no answer to a stranger may have had its secret names.
 */

interface Options {
  calls: number;
  seed: number;
  connections: number;
}

/** Summaries are written 5 s after the last recording. */
const SUMMARY_MILLISECONDS = 60_000;
/** A part of the names that no stranger knows. */
const SECRET = 'SECRET';
/** The number of the project "default". */
const PROJECT = 1;

/** Runs a command on the store of a running server. Returns what it prints. */
function ballast(dataDir: string, ...args: string[]): string {
  const { stdout, stderr, status } = spawnSync(process.execPath, [MAIN, ...args, '--data-dir', dataDir], { encoding: 'utf8' });
  invariant(status === 0, `ballast ${args.join(' ')} failed: ${stderr}`);
  return stdout.trim();
}

/** Records what the project has: builds of both modes, on two branches, of files that strangers know and others. Returns how many builds. */
async function seedProject(url: string): Promise<number> {
  const post: Post = (path, body) => requestJson(url, path, body);
  const known = FILES.filter(path => !path.includes('[')).map(path => ({ path }));
  const hidden = suite(SECRET, 40);
  const builds: Build[] = (['queue', 'test queue', 'split', 'queue'] as const).map((mode, i) => ({
    key: { commit_hash: `seed-${i}`, branch: i === 3 ? `${SECRET}-branch` : 'main', node_total: 2 },
    mode,
    files: i % 2 === 0 ? [...known, ...hidden] : hidden,
  }));
  for (const build of builds) await play(post, build);
  const cases = [{ name: `${SECRET} case`, seconds: 20, outcome: 'passed' }];
  const files = [{ path: hidden[0]!.path, seconds: 40, cases }];
  await post('/v2/test_cases', { ...builds[0]!.key, node_index: 0, ci_build_id: '1', runner: 'rspec', files });
  return builds.length;
}

/** Resolves when the server has written the summaries of all builds. */
async function untilSummarized(url: string, count: number): Promise<void> {
  for (const until = performance.now() + SUMMARY_MILLISECONDS; ; await sleep(500)) {
    const { builds } = (await requestJson(url, '/v1/build_summaries')) as { builds: { summary: object | null; is_running: boolean }[] };
    if (builds.length === count && builds.every(({ summary, is_running }) => summary && !is_running)) return;
    invariant(performance.now() < until, `the server did not write the summaries of ${count} builds in ${SUMMARY_MILLISECONDS} ms`);
  }
}

/** What the project is answered, as text. */
async function ownAnswers(url: string): Promise<string> {
  const gets = ['/v1/builds', '/v1/build_summaries', '/v1/trends/files?branch=main', '/v1/trends/builds', '/v1/trends/nodes', '/v1/flaky'];
  const answers = [];
  for (const path of [...gets, '/v2/test_paths?branch=main', '/v1/metrics']) {
    const response = await fetch(url + path, { headers });
    answers.push(path, (await response.text()).replaceAll(url, ''));
  }
  const test_files = [...FILES, ...suite(SECRET, 40).map(({ path }) => path)].map(path => ({ path }));
  const plan = await requestJson(url, '/v1/plan', { branch: 'main', mode: 'queue', nodes: '1..8', test_files });
  return JSON.stringify([...answers, plan], null, 1);
}

/** Plays builds of another project until it is told to stop. Returns the milliseconds of its requests, sorted. */
async function playNeighbour(url: string, token: string, isOver: () => boolean): Promise<number[]> {
  const took: number[] = [];
  const fields = { ...headers, 'KNAPSACK-PRO-TEST-SUITE-TOKEN': token };
  const post: Post = async (path, body) => {
    const from = performance.now();
    const answer: unknown = await sendJson(url + path, fields, body, `${path} was answered with`);
    took.push(performance.now() - from);
    return answer;
  };
  for (let i = 0; !isOver(); i++) {
    const mode = i % 2 === 0 ? 'queue' : 'test queue';
    await play(post, { key: { commit_hash: `n-${i}`, branch: 'main', node_total: 2 }, mode, files: suite('neighbour', 40) });
  }
  return took.sort((a, b) => a - b);
}

function firstDifference(before: string, after: string): string {
  let at = 0;
  while (at < before.length && before[at] === after[at]) at++;
  const shown = (text: string) => text.slice(Math.max(0, at - 200), at + 100);
  return `${shown(before)} became ${shown(after)}`;
}

const bytesOf = (folder: string) => readdirSync(folder).reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
const mib = (bytes: number) => `${Math.round(bytes / 2 ** 20)} MiB`;

/** The memory that a server has; 0: this system does not tell. */
function residentBytes({ pid }: Server): number {
  try {
    return 1024 * Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}

async function strangers({ calls, seed, connections }: Options): Promise<void> {
  const dataDir = temporaryFolder();
  let server = await startServer({ dataDir });
  const builds = await seedProject(server.url);
  const neighbour = ballast(dataDir, 'project', 'create', 'neighbour');
  const token = ballast(dataDir, 'token', 'create', 'default', '--public');
  await untilSummarized(server.url, builds);
  const { data } = (await requestJson(server.url, '/v1/builds')) as { data: { id: string }[] };
  const known: Known = { token, ids: data.map(({ id }) => id), tree: 'a'.repeat(40), digest: 'b'.repeat(22) };
  const answersBefore = await ownAnswers(server.url);
  await server.stop();
  const before = await recordsOf(PROJECT, dataDir);
  const bytesBefore = bytesOf(dataDir);

  server = await startServer({ dataDir });
  const residentBefore = residentBytes(server);
  const statuses = new Map<string, number>();
  let sent = 0;
  let isOver = false;
  const playing = playNeighbour(server.url, neighbour, () => isOver);
  const { host, port } = new URL(server.url);
  const senders = Array.from({ length: connections }, async (_, sender) => {
    const random = seededRandom(seed * 1000 + sender);
    while (sent < calls) {
      sent += 1;
      const request = drawHostileRequest(random, host, known);
      const { status, text } = await send(Number(port), request);
      invariant(
        !text.includes(SECRET),
        `${request.method} ${request.target} was answered with a name of the project: ${text.slice(0, 500)}`,
      );
      const name = String(status ?? 'closed');
      statuses.set(name, (statuses.get(name) ?? 0) + 1);
      if (sent % 500 === 0) showStatus(`${sent} of ${calls} calls`);
    }
  });
  const sending = Promise.all(senders).finally(() => (isOver = true));
  const [took] = await Promise.all([playing, sending]);
  invariant(server.child.exitCode === null && server.child.signalCode === null, 'the server exited during the test');
  const answersAfter = await ownAnswers(server.url);
  invariant(answersAfter === answersBefore, `an answer to the project changed: ${firstDifference(answersBefore, answersAfter)}`);
  const resident = residentBytes(server);
  await server.stop();

  const after = await recordsOf(PROJECT, dataDir);
  for (const [record, bytes] of before) invariant(after.get(record) === bytes, `the record ${record} of the project changed`);
  for (const record of after.keys()) invariant(before.has(record), `the project has a new record: ${record}`);
  expectSound(await checkStore(dataDir));
  showStatus('');
  const answers = [...statuses].sort().map(([status, count]) => `${count} x ${status}`);
  const at = (share: number) => took[Math.floor(share * took.length)]!.toFixed(1);
  process.stdout.write(
    `${sent} calls (seed ${seed}): ${answers.join(', ')}; ${before.size} records of the project and its answers are the same, store sound\n` +
      `memory ${mib(residentBefore)} to ${mib(resident)}, folder ${mib(bytesBefore)} to ${mib(bytesOf(dataDir))}; ` +
      `${took.length} requests of a neighbour: half within ${at(0.5)} ms, 99 % within ${at(0.99)} ms\n`,
  );
}

exitOnSignals();
const program = new Command('npm run strangers --')
  .description('Send a server hostile calls with a public token, and check that nothing of the project has changed or was told.')
  .option('--calls <number>', 'number of calls', positiveInteger, 100_000)
  .option('--seed <number>', 'seed of the calls', positiveInteger, 1)
  .option('--connections <number>', 'number of concurrent connections', positiveInteger, 16)
  .action(reportViolations('strangers', strangers));
await program.parseAsync();
