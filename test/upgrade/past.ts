import { digestOfList } from '../../src/protocol/list-digest.js';
import { hashPassword } from '../../src/server/engine/sign-in/password.js';
import { Browser, signedInOperator } from '../harness/browser.js';
import { Client } from '../harness/client.js';
import type { Clock } from '../harness/clock.js';
import type { Fields } from '../harness/messages.js';
import { CANCEL, QUEUE, RECORDING, SPLIT, TEST_QUEUE } from '../testbed/node-process.js';
import {
  type CiRun,
  LONG_FILE,
  pathsOf,
  play,
  post,
  pull,
  type QueueNode,
  type RanFile,
  recordNode,
  reportOf,
  runFile,
  startNode,
} from './ci-run.js';
import { type Served, TOKEN } from './served.js';

/** What a fixture keeps beside the store: what its people and nodes know. */
export interface Past {
  /** The time at which it ends. */
  at: number;
  tokens: { default: string; named: string; public: string; api: string; revoked: string; deleted: string };
  password: string;
  /** The secret of a reader's link. */
  link: string;
  /** Cookies of the sessions of an operator and a reader. */
  cookies: { operator: string; reader: string };
  /** Trees and lists of which there are proofs, as queries. */
  proofs: string[];
  open: OpenQueue[];
}

/** A queue in whose middle the past ends. */
export interface OpenQueue {
  run: CiRun;
  nodes: QueueNode[];
  /** What each node ran before its last batch, without retries. */
  ran: RanFile[][];
}

export const PASSWORD = 'a password of the upgrade fixtures';
/** Cheaper than that of people. */
const COST = { N: 1024, r: 8, p: 1 };
/** Nothing listens there: what is sent waits. */
const NOWHERE = 'http://127.0.0.1:9/hook';

export const SUITE = [LONG_FILE, ...Array.from({ length: 13 }, (_, i) => `tests/test_${String(i + 1).padStart(2, '0')}.py`)];
const [, GROWN, FAILING, FLAKY, MUTED, SKIPPED] = SUITE as [string, string, string, string, string, string];

const CHECKOUT = { proof_keys: ['1'.repeat(64)], command_digest: 'c'.repeat(64) };
const LINKS = { job_url: 'https://ci.example.com/jobs/7', commit_url: 'https://git.example.com/{commit}' };
/** What a client says that does all that it can. */
const ABLE = { sends_heartbeats: true, retry_failed: true, wants_times: true, pieces: 'pytest', ...LINKS };
const DAY = 86_400;

/** Plays some days on a new store, and stops in the middle of some queues. */
export async function playPast(served: Served, clock: Clock): Promise<Past> {
  const { client } = served;
  const access = await makeAccess(served, clock);
  await record(client, { commit_hash: 'import-0123456789ab', node_total: 1 }, [...SUITE, 'spec/cart_spec.rb[1:2]']);
  const proofs = await playDays(served, clock);
  await record(new Client(client.url, access.tokens.api), { commit_hash: 'a1', node_total: 1 }, ['src/a.test.ts', 'src/b.test.ts']);
  await record(new Client(client.url, access.tokens.public), { commit_hash: 'f1', node_total: 1 }, SUITE);
  await served.settle();
  clock.advance({ seconds: DAY / 24 });
  // Uses are noted, to the hour: who opens the store at this time changes none of them.
  for (const Cookie of Object.values(access.cookies)) await new Client(client.url, '').get('/dashboard/session', { Cookie });
  // The last requests: the folder keeps what they changed in its journal.
  const open = await openQueues(client, clock);
  return { at: clock.millis, ...access, proofs, open };
}

async function makeAccess({ client, store }: Served, clock: Clock) {
  const operator = await signedInOperator(client.url, store, clock.millis);
  const change = async (path: string, message: object) => {
    const { status, text, json } = await operator.post(`/dashboard/${path}`, message);
    if (status >= 300) throw new Error(`${path} was answered with ${status}: ${text}`);
    return json;
  };
  const settings = {
    ...{ price: '0.008 USD', setup: '40s', billing_step: '60s', target: '8m' },
    ...{ diff_url: 'https://git.example.com/{before}..{commit}', webhook_url: NOWHERE, webhook_secret: 'a-secret-of-the-fixtures' },
    ...{ webhook_events: 'gate_failed,file_grew,became_flaky', webhook_template: '{"text": "{text}"}' },
  };
  await change('projects/settings', { project: 1, settings });
  const { token: named } = await change('tokens', { project: 1, name: 'GitHub Actions' });
  const anyone = await change('tokens', { project: 1, name: 'forks', is_public: true });
  const revoked = await change('tokens', { project: 1, name: 'old' });
  await change('tokens/revoke', { id: revoked.id });
  const api = await change('projects', { name: 'api' });
  await store.access.setDefaultBranch(api.id, 'trunk');
  const deleted = await change('projects', { name: 'deleted' });
  await record(new Client(client.url, deleted.token), { commit_hash: 'd1', node_total: 1 }, SUITE);
  await change('projects/delete', { project: deleted.id, name: 'deleted' });
  await store.values.put('password', await hashPassword(PASSWORD, clock.millis, COST));
  const link = ((await change('links', { project: 1, days: 300 })).url as string).split('#')[1]!;
  const reader = new Browser(client.url);
  await reader.signIn(link);
  return {
    tokens: { default: TOKEN, named, public: anyone.token, api: api.token, revoked: revoked.token, deleted: deleted.token },
    ...{ password: PASSWORD, link, cookies: { operator: operator.cookie, reader: reader.cookie } },
  };
}

async function record(client: Client, build: { commit_hash: string; node_total: number }, paths: readonly string[]): Promise<void> {
  const test_files = paths.map((path, i) => ({ path, time_execution: path === LONG_FILE ? 90 : 5 + i }));
  await post(client, RECORDING, { branch: 'main', node_index: 0, ...build, test_files });
}

/** Plays CI runs of all kinds. Returns the queries of proofs. */
async function playDays({ client, settle }: Served, clock: Clock): Promise<string[]> {
  let number = 100;
  const next = async (commit_hash: string, more: Partial<CiRun> & { branch?: string; nodes?: number } = {}): Promise<CiRun> => {
    const { branch = 'main', nodes = 2, ...rest } = more;
    const build = { commit_hash, branch, node_total: nodes };
    const run = { route: TEST_QUEUE, build, ci_run: String(++number), suite: SUITE, ...rest } as CiRun;
    // It grows in later CI runs, of which a webhook tells.
    const seconds = { [LONG_FILE]: 90, ...(number > 109 && { [GROWN]: 60 }), ...run.seconds };
    await play(client, clock, { ...run, seconds });
    await settle();
    clock.advance({ seconds: DAY / 3 });
    return run;
  };
  await next('c01', { route: SPLIT, told: { ...LINKS, ...CHECKOUT } });
  await next('c02', { route: SPLIT, told: { fixed_test_suite_split: false }, outcomes: { [FAILING]: 'failed' } });
  await next('c03', { route: QUEUE });
  await next('c03', { route: QUEUE, told: { fixed_queue_split: true } });
  await next('c04', { told: ABLE, outcomes: { [MUTED]: 'muted', [SKIPPED]: 'skipped' } });
  await next('c05', { told: ABLE, outcomes: { [FLAKY]: 'flaky' } });
  await next('c06', { nodes: 3, dies: true });
  for (const commit of ['c07', 'c08', 'c09', 'c10', 'c11', 'c12', 'c13', 'c14', 'c15'])
    await next(commit, {
      told: ABLE,
      nodes: 3,
      outcomes: Number(commit.slice(1)) % 3 === 0 ? { [FLAKY]: 'flaky' } : {},
    });
  // The store draws its key for receipts when the first one is asked for.
  await client.get('/v1/receipt_keys');
  // Proofs: of a branch, whose merge runs nothing, and of all files but one.
  const proved = { ...CHECKOUT, tree: 'a'.repeat(40) };
  await next('f01', { branch: 'feature', told: proved });
  const asked = {
    tree: proved.tree,
    test_files_digest: digestOfList(SUITE),
    proof_keys: CHECKOUT.proof_keys[0]!,
    max_age: String(30 * DAY),
  };
  const spared = new URLSearchParams({ ...asked, commit_hash: 'm01', branch: 'main', ci_run: '900' });
  await client.get(`/v1/proofs?${spared}`);
  const partly = { ...CHECKOUT, tree: 'b'.repeat(40) };
  await next('f02', { branch: 'feature', told: partly, outcomes: { [FAILING]: 'failed' } });
  await next('f02', { branch: 'feature', told: { ...partly, proved_max_age: 7 * DAY, wants_times: true } });
  await next('f01', { branch: 'feature', told: { ...proved, proved_max_age: 30 * DAY, wants_times: true } });
  await cancelAll(client, {
    route: TEST_QUEUE,
    build: { commit_hash: 'x01', branch: 'other', node_total: 2 },
    ci_run: '901',
    suite: SUITE,
  });
  await settle();
  return [proved.tree, partly.tree].map(tree => String(new URLSearchParams({ ...asked, tree })));
}

/** All nodes of a CI run are cancelled with their first batch. */
async function cancelAll(client: Client, run: CiRun): Promise<void> {
  for (let i = 0; i < run.build.node_total; i++) {
    const node = startNode(run, i);
    await pull(client, node, run.suite);
    const failed_paths: unknown = node.answer.paths;
    await post(client, CANCEL, { ...node.fields, batch_id: node.answer.batch_id, failed_paths } as Fields);
  }
}

/** Begins queues of both versions of the protocol, and a split of which one node has recorded. */
async function openQueues(client: Client, clock: Clock): Promise<OpenQueue[]> {
  const split: CiRun = { route: SPLIT, build: { commit_hash: 'o00', branch: 'main', node_total: 2 }, ci_run: '800', suite: SUITE };
  const share = await post(client, SPLIT, {
    ...split.build,
    node_index: 0,
    ci_build_id: split.ci_run,
    cache_read_attempt: false,
    test_files: SUITE.map(path => ({ path })),
  });
  await recordNode(
    client,
    split,
    0,
    share.test_files.map(({ path }: { path: string }) => runFile(split, path, false)),
  );
  const runs: CiRun[] = [
    { route: QUEUE, build: { commit_hash: 'o01', branch: 'main', node_total: 2 }, ci_run: '801', suite: SUITE },
    {
      route: TEST_QUEUE,
      build: { commit_hash: 'o02', branch: 'main', node_total: 3 },
      ci_run: '802',
      suite: SUITE,
      told: ABLE,
      outcomes: { [FAILING]: 'failed' },
    },
    {
      route: TEST_QUEUE,
      build: { commit_hash: 'o03', branch: 'main', node_total: 2 },
      ci_run: '803',
      suite: SUITE,
      told: { wants_times: true },
    },
  ];
  const open = runs.map((run): OpenQueue => {
    const nodes = Array.from({ length: run.build.node_total }, (_, i) => startNode(run, i));
    return { run, nodes, ran: nodes.map(() => []) };
  });
  for (const queue of open) for (const node of queue.nodes) await advance(client, queue, node);
  clock.advance({ seconds: 20 });
  for (const queue of open) await advance(client, queue, queue.nodes[0]!);
  return open;
}

/** Has a node run its batch, and take the next one. Returns whether it got one, or has to ask again. */
export async function advance(client: Client, { run, nodes, ran }: OpenQueue, node: QueueNode): Promise<boolean> {
  const isRetry = node.answer?.is_retry === true;
  const batch = node.pulls === 0 ? [] : pathsOf(node).map(path => runFile(run, path, isRetry));
  if (!isRetry) ran[nodes.indexOf(node)]!.push(...batch);
  const paths = await pull(client, node, run.suite, reportOf(run, batch));
  return paths.length > 0 || node.answer.pull_again_in !== undefined;
}
