import { randomUUID } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import Table from 'cli-table3';
import { Command } from 'commander';
import { number } from '../bench/flags.js';
import { startProgress } from '../src/cli/process/progress.js';
import { limits } from '../src/limits.js';
import { parseConfig } from '../src/server/config.js';
import { openLog } from '../src/server/log.js';
import { openService } from '../src/server/service.js';

/**
 * Replays a build with recorded times over HTTP: records the times, requests a regular split for all nodes, runs a queue
 * with simulated nodes in virtual time, and prints how evenly the nodes finish.
 */

interface Options {
  nodes: number;
  pullCost: number;
  url?: string;
  token?: string;
  json?: true;
}

interface Server {
  url: string;
  token: string;
}

interface SplitAnswer {
  code?: string;
  build_distribution_id?: string;
  test_files: TestFile[];
}

interface TestFile {
  path: string;
  time_execution: number | null;
}

interface NodeResult {
  files: number;
  batches: number;
  seconds: number;
}

const nodes = number(
  value => Number.isInteger(value) && value >= 1 && value <= limits.nodesPerBuild,
  `It must be a whole number from 1 to ${limits.nodesPerBuild}.`,
);
const notNegative = number(value => value >= 0, 'It must be a number of seconds, 0 or more.');

const program = new Command('npm run replay --')
  .description('Record times as a build, split its files in regular mode and in queue mode, and show how evenly the nodes finish.')
  .argument('<file>', 'JSON: {"timings": {path: seconds}} or {path: seconds}')
  .option('--nodes <number>', 'number of parallel CI nodes', nodes, 8)
  .option('--pull-cost <seconds>', 'seconds that each pull costs a simulated node', notNegative, 2)
  .option('--url <url>', 'URL of a running server, such as http://127.0.0.1:8080 (default: start one for this run)')
  .option('--token <token>', 'test-suite token of the server at --url')
  .option('--json', 'print one JSON object')
  .showHelpAfterError('(add --help for the usage)')
  .action(async (file: string, options: Options) => {
    if ((options.url === undefined) !== (options.token === undefined)) {
      throw new Error('--url and --token go together: the token tells the running server which project to use');
    }
    const timings = readTimings(file);
    // Simulated nodes run in virtual time, and so does a server that is started for them.
    const clock = { millis: Date.now() };
    const server = options.url ? { url: options.url, token: options.token! } : await startServer(options, clock);
    try {
      await replay(timings, options, server, clock);
    } finally {
      if ('close' in server) await server.close();
    }
  });

try {
  await program.parseAsync();
} catch (error) {
  process.stderr.write(`replay: ${(error as Error).message}\n`);
  process.exitCode = 1;
}

function readTimings(file: string): Map<string, number> {
  const parsed = readJson(file) as { timings?: unknown; unit?: unknown };
  if (typeof parsed !== 'object' || parsed === null || Array.isArray(parsed) || 'versions' in parsed) {
    throw new Error(`${file} is not one recording: expected {"timings": {path: seconds}} or {path: seconds}`);
  }
  const nested = typeof parsed.timings === 'object' && parsed.timings !== null;
  if (nested && parsed.unit !== undefined && parsed.unit !== 'seconds') {
    throw new Error(`${file} has the unit ${JSON.stringify(parsed.unit)}: only "seconds" can be replayed`);
  }
  const entries = Object.entries(nested ? (parsed.timings as object) : parsed) as [string, unknown][];
  const wrong = entries.find(([path, seconds]) => path.length < 3 || typeof seconds !== 'number' || !(seconds >= 0));
  if (wrong) throw new Error(`${file}: ${JSON.stringify(wrong[0])} has ${JSON.stringify(wrong[1])}, not seconds`);
  if (entries.length === 0) throw new Error(`${file} has no timings`);
  return new Map(entries as [string, number][]);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`cannot read ${file} as JSON: ${(error as Error).message.split('\n')[0]}`);
  }
}

async function startServer({ pullCost }: Options, clock: { millis: number }) {
  const dataDir = mkdtempSync(join(tmpdir(), 'ballast-replay-'));
  const pullCostSeconds = String(Math.max(0.01, pullCost));
  const config = parseConfig({ port: '0', dataDir, pullCostSeconds, logLevel: 'error' });
  const service = await openService(config, openLog(config.logLevel), { now: () => clock.millis });
  return {
    url: service.url,
    token: service.firstToken!,
    close: async () => {
      await service.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

async function post({ url, token }: Server, path: string, body: object): Promise<SplitAnswer> {
  const address = `${url.replace(/\/+$/, '').replace(/\/v1$/, '')}/v1${path}`;
  const response = await fetch(address, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'SERVICE-TEST-SUITE-TOKEN': token },
    body: JSON.stringify(body),
  }).catch((error: unknown) => {
    throw new Error(`POST ${address} was not answered: ${String((error as Error).cause ?? error)}`);
  });
  const text = await response.text();
  if (!response.ok) throw new Error(`POST ${path} was answered with ${response.status}: ${text}`);
  return text === '' ? { test_files: [] } : (JSON.parse(text) as SplitAnswer);
}

async function replay(timings: Map<string, number>, options: Options, server: Server, clock: { millis: number }) {
  const total = [...timings.values()].reduce((sum, seconds) => sum + seconds, 0);
  const longest = [...timings].reduce((a, b) => (b[1] > a[1] ? b : a));
  const lowerBound = Math.max(total / options.nodes, longest[1]);
  // A commit of its own each time, so that a running server plans it afresh.
  const build = { commit_hash: `replay-${randomUUID()}`, branch: 'replay', node_total: options.nodes };

  await record(timings, build, server);
  const regular = await splitRegular(timings, build, server);
  const queue = await runQueue(timings, build, options, server, clock);
  const makespan = (nodes: readonly NodeResult[]) => Math.max(...nodes.map(({ seconds }) => seconds));
  if (options.json) {
    const summary = (nodes: readonly NodeResult[]) => ({ makespan: makespan(nodes), nodes });
    print(
      JSON.stringify({
        files: timings.size,
        seconds: total,
        lower_bound: lowerBound,
        regular: { ...summary(regular.nodes), milliseconds: regular.milliseconds },
        queue: summary(queue.nodes),
      }),
    );
    return;
  }

  const table = new Table({
    head: ['node', 'regular files', 'seconds', 'queue files', 'batches', 'seconds'],
    colAligns: ['right', 'right', 'right', 'right', 'right', 'right'],
    style: { head: [], border: [] },
    chars: { mid: '', 'left-mid': '', 'mid-mid': '', 'right-mid': '' },
  });
  for (let node = 0; node < options.nodes; node++) {
    const a = regular.nodes[node]!;
    const b = queue.nodes[node]!;
    table.push([node, a.files, a.seconds.toFixed(1), b.files, b.batches, b.seconds.toFixed(1)]);
  }
  const line = (name: string, nodes: readonly NodeResult[], more: string) => {
    const seconds = makespan(nodes);
    print(`${name}  makespan ${seconds.toFixed(1)} s = ${(seconds / lowerBound).toFixed(4)} x the lower bound${more}`);
  };
  print(table.toString());
  print(`${timings.size} files, ${total.toFixed(1)} s, longest ${longest[1].toFixed(1)} s (${longest[0]})`);
  print(`lower bound  ${lowerBound.toFixed(1)} s: ${lowerBound === longest[1] ? 'the longest file' : `total / ${options.nodes} nodes`}`);
  line('regular', regular.nodes, `; answered in ${regular.milliseconds.toFixed(0)} ms`);
  line('queue  ', queue.nodes, `; each pull costs a node ${options.pullCost} s`);
}

/** Records the times as a build. The files go to the nodes in rotation. */
async function record(timings: Map<string, number>, build: object & { node_total: number }, server: Server): Promise<void> {
  const files = [...timings].map(([path, time_execution]) => ({ path, time_execution }));
  await eachNode(build.node_total, node_index => {
    const test_files = files.filter((_, i) => i % build.node_total === node_index);
    return post(server, '/build_subsets', { ...build, node_index, test_files });
  });
}

/** The files of every node in regular mode. All nodes send their requests at the same time. */
async function splitRegular(timings: Map<string, number>, build: object & { node_total: number }, server: Server) {
  const ask = { ...build, ci_build_id: 'replay', user_seat: 'replay', fixed_test_suite_split: true };
  const test_files = [...timings.keys()].map(path => ({ path }));
  const start = performance.now();
  const answers = await eachNode(build.node_total, async node_index => {
    const cached = await post(server, '/build_distributions/subset', { ...ask, node_index, cache_read_attempt: true });
    if (cached.code !== 'TEST_SUITE_SPLIT_CACHE_MISS') return cached;
    return post(server, '/build_distributions/subset', { ...ask, node_index, cache_read_attempt: false, test_files });
  });
  const milliseconds = performance.now() - start;
  if (new Set(answers.map(answer => answer.build_distribution_id)).size !== 1)
    throw new Error('the nodes got different splits of one build');
  expectEachOnce(
    timings,
    answers.flatMap(answer => answer.test_files),
    'regular mode',
  );
  const nodes = answers.map(answer => ({
    files: answer.test_files.length,
    batches: 1,
    seconds: secondsOf(timings, answer.test_files),
  }));
  return { nodes, milliseconds };
}

/** Runs the queue in virtual time: the node that is free first pulls next. */
async function runQueue(
  timings: Map<string, number>,
  build: object & { node_total: number },
  { pullCost }: Options,
  server: Server,
  clock: { millis: number },
) {
  const nodes: NodeResult[] = Array.from({ length: build.node_total }, () => ({ files: 0, batches: 0, seconds: 0 }));
  const ran: TestFile[] = [];
  const began = clock.millis;
  const running = new Set(nodes.keys());
  const progress = startProgress();
  while (running.size > 0) {
    const node_index = [...running].reduce((a, b) => (nodes[b]!.seconds < nodes[a]!.seconds ? b : a));
    const node = nodes[node_index]!;
    clock.millis = began + Math.round(node.seconds * 1000);
    const ask = { ...build, node_index, node_build_id: 'replay', user_seat: 'replay' };
    const first = node.batches === 0;
    let answer = await post(server, '/queues/queue', {
      ...ask,
      can_initialize_queue: first,
      attempt_connect_to_queue: first,
    });
    if (answer.code === 'ATTEMPT_CONNECT_TO_QUEUE_FAILED') {
      const test_files = [...timings.keys()].map(path => ({ path }));
      answer = await post(server, '/queues/queue', {
        ...ask,
        can_initialize_queue: true,
        attempt_connect_to_queue: false,
        test_files,
      });
    }
    if (answer.test_files.length === 0) {
      running.delete(node_index);
      continue;
    }
    for (const file of answer.test_files) ran.push(file);
    progress.show(() => `queue mode: ${ran.length.toLocaleString('en')} of ${timings.size.toLocaleString('en')} files run`);
    node.batches += 1;
    node.files += answer.test_files.length;
    node.seconds += pullCost + secondsOf(timings, answer.test_files);
  }
  progress.end();
  expectEachOnce(timings, ran, 'queue mode');
  return { nodes };
}

function eachNode<T>(nodes: number, ask: (node_index: number) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: nodes }, (_, node_index) => ask(node_index)));
}

function secondsOf(timings: Map<string, number>, files: readonly TestFile[]): number {
  return files.reduce((sum, { path }) => sum + timings.get(path)!, 0);
}

function expectEachOnce(timings: Map<string, number>, files: readonly TestFile[], mode: string): void {
  const paths = new Set(files.map(({ path }) => path));
  const lost = [...timings.keys()].filter(path => !paths.has(path));
  if (lost.length > 0) throw new Error(`${mode} lost ${lost.length} files, the first is ${lost[0]}`);
  if (files.length > paths.size) throw new Error(`${mode} handed out ${files.length - paths.size} files twice`);
}

function print(line: string): void {
  process.stdout.write(`${line}\n`);
}
