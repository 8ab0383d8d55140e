import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { connect } from 'node:net';
import { Command } from 'commander';
import { exitOnSignals, temporaryFolder } from '../../bench/load/cleanup.js';
import { headers, startServer, TOKEN } from '../../bench/load/server.js';
import { positiveInteger } from '../../bench/option-parsers.js';
import { pick, type Random, seededRandom } from '../../bench/random.js';
import { type Build, expectComplete, play, suite } from './builds.js';
import { invariant, reportViolations, Violation } from './invariants.js';
import { requestJson } from './request.js';
import { checkStore, expectSound } from './store-check.js';

/**
 * Sends a server malformed requests (bytes, JSON, headers, order of calls) while valid builds run. The server must answer every
 * request, never with a 5xx, and the builds must succeed. The seed determines what is sent.
 */

interface Options {
  requests: number;
  seed: number;
  connections: number;
}

const ANSWER_MILLISECONDS = 20_000;
/** Probabilities that the JSON, the bytes and the head of a request are mutated. */
const MUTATED_JSON = 0.7;
const MUTATED_BYTES = 0.1;
const MUTATED_HEAD = 0.3;

/** Values that replace valid ones. */
const VALUES: readonly unknown[] = [
  null,
  true,
  false,
  0,
  -0,
  1,
  -1,
  2,
  7.5,
  1e308,
  -1e308,
  5e-324,
  2 ** 31,
  2 ** 53,
  2 ** 53 + 2,
  10_000,
  10_001,
  '',
  ' ',
  '0',
  '1',
  '-1',
  '1e3',
  ' 2 ',
  'true',
  'false',
  'null',
  'main',
  'a_spec.rb',
  '\u0000',
  '\ud800',
  '\udfff\ud800',
  '漢字',
  '../../etc/passwd',
  '__proto__',
  'constructor',
  'x'.repeat(4096),
  'x'.repeat(4097),
  [],
  {},
  [[]],
  [{}],
  [null],
  { path: 'a_spec.rb' },
  [{ path: 'a_spec.rb', time_execution: 1 }],
  [{ path: 'ab' }],
  { toString: 1 },
];
const BRANCHES = ['main', 'next', 'größe'];
const FILES = Array.from({ length: 12 }, (_, i) => `spec/${i}_spec.rb${i % 4 === 3 ? '[1:1]' : ''}`);

/** A valid request. There are few builds, so that requests conflict. */
function drawValidRequest(random: Random): { path: string; body: Record<string, unknown> | null } {
  const node_total = 1 + Math.floor(3 * random());
  const build = {
    commit_hash: pick(random, ['a', 'b']),
    branch: pick(random, BRANCHES),
    node_total,
    node_index: Math.floor(node_total * random()),
  };
  const listed = FILES.filter(() => random() < 0.5).map(path => ({ path }));
  const uuid = random() < 0.5 ? { batch_uuid: pick(random, ['u1', 'u2', randomUUID()]) } : {};
  switch (Math.floor(9 * random())) {
    case 0:
      return {
        path: '/v1/build_subsets',
        body: { ...build, test_files: listed.map(file => ({ ...file, time_execution: 10 * random() })) },
      };
    case 1:
      return {
        path: '/v1/build_distributions/subset',
        body: {
          ...build,
          ci_build_id: pick(random, ['1', '2']),
          fixed_test_suite_split: random() < 0.5,
          cache_read_attempt: random() < 0.5,
          test_files: listed,
        },
      };
    case 2:
    case 3:
      return {
        path: '/v1/queues/queue',
        body: {
          ...build,
          ...uuid,
          node_build_id: pick(random, ['1', '2', '3']),
          can_initialize_queue: random() < 0.6,
          attempt_connect_to_queue: random() < 0.3,
          fixed_queue_split: random() < 0.3,
          skip_pull: random() < 0.1,
          test_files: listed,
        },
      };
    case 4:
    case 5:
      return {
        path: '/v2/queues/queue',
        body: {
          ...build,
          test_queue_id: pick(random, ['1', '2', '3']),
          node_uuid: pick(random, ['n1', 'n2', randomUUID()]),
          batch_index: Math.floor(4 * random()),
          batch_id: pick(random, [null, 0, 1, 2, 3]),
          failed_paths: FILES.filter(() => random() < 0.2).map(path => (random() < 0.5 ? path : `${path}:7`)),
          can_initialize_queue: random() < 0.6,
          attempt_connect_to_queue: random() < 0.3,
          skip_pull: random() < 0.1,
          wants_times: random() < 0.3,
          paths: listed.map(({ path }) => path),
        },
      };
    case 6:
      return {
        path: `/v1/builds/completeness?${new URLSearchParams({ ...build, node_total: String(node_total), node_index: '0' }).toString()}`,
        body: null,
      };
    case 7:
      return { path: `/v1/builds?page=${Math.floor(3 * random())}&branch=${encodeURIComponent(build.branch)}`, body: null };
    default:
      return {
        path: pick(random, [
          `/v1/builds/${randomUUID()}`,
          '/v2/test_paths?branch=main',
          '/v1/build_distributions/last?commit_hash=a&branch=main&node_total=2&node_index=0',
        ]),
        body: null,
      };
  }
}

/** Mutates one place in a JSON value, at any depth. */
function mutateJson(random: Random, value: unknown): unknown {
  if (Array.isArray(value) && value.length > 0 && random() < 0.7) {
    const at = Math.floor(random() * value.length);
    if (random() < 0.2) return [...value, ...value];
    return value.map((inner: unknown, i) => (i === at ? mutateJson(random, inner) : inner));
  }
  if (typeof value === 'object' && value !== null && Object.keys(value).length > 0 && random() < 0.9) {
    const name = pick(random, Object.keys(value));
    const { [name]: inner, ...rest } = value as Record<string, unknown>;
    const kind = random();
    if (kind < 0.2) return rest;
    if (kind < 0.3) return { ...rest, [pick(random, ['__proto__', 'x', name.toUpperCase()])]: inner };
    return { ...value, [name]: mutateJson(random, inner) };
  }
  return pick(random, VALUES);
}

/** Removes, repeats or overwrites some bytes. */
function mutateBytes(random: Random, bytes: Buffer): Buffer {
  if (bytes.length === 0) return Buffer.from([Math.floor(256 * random())]);
  const [from, to] = [Math.floor(random() * bytes.length), Math.floor(random() * bytes.length)].sort((a, b) => a - b) as [number, number];
  const kind = random();
  if (kind < 0.3) return Buffer.concat([bytes.subarray(0, from), bytes.subarray(to)]);
  if (kind < 0.5) return Buffer.concat([bytes.subarray(0, to), bytes.subarray(from)]);
  const changed = Buffer.from(bytes);
  for (let i = 0; i <= 4 * random(); i++) changed[Math.floor(random() * changed.length)] = Math.floor(256 * random());
  return changed;
}

/** Mutations of the head. The head stays parseable. */
const HEAD_MUTATIONS: readonly ((head: Map<string, string>, random: Random) => void)[] = [
  head => void head.delete('KNAPSACK-PRO-TEST-SUITE-TOKEN'),
  head => void head.set('KNAPSACK-PRO-TEST-SUITE-TOKEN', 'x'.repeat(64)),
  (head, random) =>
    void head.set(
      'KNAPSACK-PRO-TEST-SUITE-TOKEN',
      mutateBytes(random, Buffer.from(TOKEN))
        .toString('latin1')
        .replace(/[^\x21-\x7e]/g, '?'),
    ),
  (head, random) => void head.set('X-Retry-Count', pick(random, ['1', '0', '-1', '1e9', 'x', ''])),
  (head, random) =>
    void head.set('Content-Type', pick(random, ['text/plain', 'text/html', 'multipart/form-data', '', 'application/json; charset=latin1'])),
  (head, random) => void head.set('X-Request-Id', pick(random, ['x', 'y'.repeat(500), '"'])),
  (head, random) => void head.set('Expect', pick(random, ['100-continue', 'x'])),
  (head, random) => void head.set(pick(random, ['Accept', 'Cookie', 'Range', 'Upgrade', 'Accept-Encoding']), 'x'),
  head => void head.set('Connection', 'close'),
];

interface RawRequest {
  method: string;
  target: string;
  bytes: Buffer;
}

function drawFuzzedRequest(random: Random, host: string): RawRequest {
  const { path, body } = drawValidRequest(random);
  let method = body ? 'POST' : 'GET';
  let target = path;
  const head = new Map<string, string>(Object.entries({ ...headers, Host: host }));
  let content: Buffer = body ? Buffer.from(JSON.stringify(random() < MUTATED_JSON ? mutateJson(random, body) : body)) : Buffer.alloc(0);
  if (content.length > 0 && random() < MUTATED_BYTES) content = mutateBytes(random, content);
  if (random() < MUTATED_HEAD) {
    pick(random, HEAD_MUTATIONS)(head, random);
    if (random() < 0.2) method = pick(random, ['GET', 'POST', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH']);
    if (random() < 0.2)
      target = mutateBytes(random, Buffer.from(path))
        .toString('latin1')
        .replace(/[^\x21-\x7e]/g, '%');
    if (!target.startsWith('/')) target = `/${target}`;
  }
  if (content.length > 0 || method !== 'GET') head.set('Content-Length', String(content.length));
  const lines = [`${method} ${target} HTTP/1.1`, ...[...head].map(([name, value]) => `${name}: ${value}`), '', ''];
  return { method, target, bytes: Buffer.concat([Buffer.from(lines.join('\r\n'), 'latin1'), content]) };
}

/** Sends one request on a connection of its own. Returns the status of the answer; null: the server closed the connection without one. */
async function send(port: number, { method, target, bytes }: RawRequest): Promise<number | null> {
  const socket = connect(port, '127.0.0.1');
  try {
    const received = new Promise<string>((resolve, reject) => {
      let text = '';
      const timer = setTimeout(
        () => reject(new Violation(`${method} ${target} was not answered in ${ANSWER_MILLISECONDS} ms: ${text.slice(0, 200)}`)),
        ANSWER_MILLISECONDS,
      );
      const end = () => {
        clearTimeout(timer);
        resolve(text);
      };
      socket.setEncoding('latin1').on('data', (part: string) => {
        // "100 Continue" comes before the answer.
        text = (text + part).replace(/^HTTP\/1\.1 100 .*\r\n\r\n/, '');
        if (isWhole(text, method)) end();
      });
      socket.on('close', end).on('error', end);
    });
    await once(socket, 'connect');
    socket.write(bytes);
    const text = await received;
    const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(text)?.[1] ?? 0);
    if (status >= 500)
      throw new Violation(
        `${method} ${target} was answered with ${text.slice(0, 500)}\nThe request was ${bytes.toString('latin1').slice(0, 2000)}`,
      );
    return status === 0 ? null : status;
  } finally {
    socket.destroy();
  }
}

function isWhole(text: string, method: string): boolean {
  const end = text.indexOf('\r\n\r\n');
  if (end < 0) return false;
  const length = /^content-length: (\d+)/im.exec(text.slice(0, end))?.[1];
  return method === 'HEAD' || (length !== undefined && text.length >= end + 4 + Number(length));
}

/** Plays a valid build. */
async function playValidBuild(url: string, number: number): Promise<void> {
  const mode = number % 2 === 0 ? 'queue' : 'test queue';
  const build: Build = { key: { commit_hash: `sane-${number}`, branch: 'sane', node_total: 2 }, mode, files: suite('sane', 40) };
  await play((path, body) => requestJson(url, path, body), build);
  await expectComplete(path => requestJson(url, path), build);
}

async function fuzz({ requests, seed, connections }: Options): Promise<void> {
  const server = await startServer({ dataDir: temporaryFolder() });
  const { host, port } = new URL(server.url);
  const statuses = new Map<string, number>();
  let sent = 0;
  const senders = Array.from({ length: connections }, async (_, sender) => {
    const random = seededRandom(seed * 1000 + sender);
    while (sent < requests) {
      sent += 1;
      const status = await send(Number(port), drawFuzzedRequest(random, host));
      statuses.set(String(status ?? 'closed'), (statuses.get(String(status ?? 'closed')) ?? 0) + 1);
      if (process.stderr.isTTY && sent % 500 === 0) process.stderr.write(`\r${sent} of ${requests} requests`);
    }
  });
  let builds = 0;
  const playing = (async () => {
    do await playValidBuild(server.url, builds++);
    while (sent < requests);
  })();
  await Promise.all([...senders, playing]);
  invariant(server.child.exitCode === null && server.child.signalCode === null, 'the server exited during the test');
  await server.stop();
  expectSound(await checkStore(server.dataDir));
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  const answers = [...statuses].sort().map(([status, count]) => `${count} x ${status}`);
  process.stdout.write(`${sent} requests (seed ${seed}): ${answers.join(', ')}; ${builds} valid builds succeeded; store sound\n`);
}

exitOnSignals();
const program = new Command('npm run fuzz --')
  .description('Send malformed requests to a server while valid builds run, and check its answers, the builds and the store.')
  .option('--requests <number>', 'number of requests', positiveInteger, 100_000)
  .option('--seed <number>', 'seed of the requests', positiveInteger, 1)
  .option('--connections <number>', 'number of concurrent connections', positiveInteger, 16)
  .action(reportViolations('fuzz', fuzz));
await program.parseAsync();
