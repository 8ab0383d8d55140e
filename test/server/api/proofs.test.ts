import { createPublicKey, generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { openEnvelope } from '../../../src/base/dsse.js';
import { digestOfList } from '../../../src/protocol/list-digest.js';
import { STATEMENT_PAYLOAD, type Statement } from '../../../src/protocol/receipt.js';
import { createProject } from '../../../src/server/engine/access.js';
import { rotateReceiptKey } from '../../../src/server/engine/proof/receipt-keys.js';
import { Client } from '../../harness/client.js';
import { Clock } from '../../harness/clock.js';
import { type Fields, manyPaths, record, startSplit } from '../../harness/messages.js';
import { QueueNode } from '../../harness/queue-node.js';
import { startServer, type TestServer } from '../../harness/server.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { seededRandom } from '../../testbed/random.js';

const SUITE = manyPaths(6);
const TREE = 'a'.repeat(40);
const OTHER_TREE = 'b'.repeat(40);
const KEYS = ['1'.repeat(64), '2'.repeat(64)];
const CHECKOUT: Fields = { tree: TREE, proof_keys: KEYS };
const DAY = 86_400;

interface Played {
  server: TestServer;
  clock: Clock;
  nodes: QueueNode[];
}

interface Node {
  /** Of its first requests. */
  checkout?: Fields;
  /** Files that it reports as failed. */
  failed?: readonly string[];
  /** Instead of what it ran. */
  recorded?: (paths: string[]) => Fields[];
  tells?: boolean;
  /** It records nothing. */
  dies?: boolean;
}

const timed = (paths: readonly string[], outcomes: Record<string, string> = {}) =>
  paths.map(path => ({ path, time_execution: 1, ...(outcomes[path] && { outcome: outcomes[path] }) }));

/** A CI run with two nodes, of which each runs half of the files. */
async function played(own: Node[] = [], { ci_run = '100', suite = SUITE }: { ci_run?: string; suite?: string[] } = {}): Promise<Played> {
  const clock = new Clock();
  const server = await startServer({}, clock.now);
  return { server, clock, nodes: await play(server, own, ci_run, suite) };
}

async function play(server: Client, own: Node[] = [], ci_run = '100', suite = SUITE): Promise<QueueNode[]> {
  const nodes = [0, 1].map(index => new QueueNode(server, index, { ...(own[index]?.checkout ?? CHECKOUT), test_queue_id: ci_run }));
  const ran: string[][] = [];
  for (const node of nodes) ran.push(await node.start(suite));
  for (let isDone = false; !isDone; ) {
    isDone = true;
    for (const [i, node] of nodes.entries()) {
      const batch = await node.next(node.paths.filter(path => own[i]?.failed?.includes(path)));
      ran[i]!.push(...batch);
      isDone &&= batch.length === 0;
    }
  }
  for (const [i, node] of nodes.entries()) {
    const { recorded = (paths: string[]) => timed(paths), tells = true, dies = false } = own[i] ?? {};
    if (dies) continue;
    await record(server, { node_index: node.node_index, ci_build_id: ci_run, tells_outcomes: tells, test_files: recorded(ran[i]!) });
  }
  return nodes;
}

async function ask(server: Client, more: Record<string, string | number> = {}) {
  const query = new URLSearchParams({
    tree: TREE,
    test_files_digest: digestOfList(SUITE),
    proof_keys: KEYS.join(),
    max_age: String(7 * DAY),
  });
  for (const [name, value] of Object.entries(more)) query.set(name, String(value));
  const { status, json } = await server.get(`/v1/proofs?${query.toString()}`);
  expect(status).toBe(200);
  expect(json.is_proved).toBe(json.reason === null);
  return json;
}

const reasonOf = async (server: Client, more: Record<string, string | number> = {}) => (await ask(server, more)).reason as string | null;

it('does not prove a file that failed on a node in fallback before there was a queue, and passed in the queue', async () => {
  const clock = new Clock();
  const server = await startServer({}, clock.now);
  await record(server, { node_index: 0, ci_build_id: '100', tells_outcomes: true, test_files: timed(SUITE, { [SUITE[1]!]: 'failed' }) });
  clock.advance({ seconds: 5 });
  await play(server);
  expect(await reasonOf(server)).toBe(`${SUITE[1]} passed only when it was tried again`);
  expect(await reasonOf(server, { flaky_passes: 'true' })).toBeNull();
});

it('proves a complete CI run of the tree, the list and the keys in which each file passed, and names it', async () => {
  const { server, clock } = await played();
  clock.advance({ seconds: 60 });
  const answer = await ask(server, { request_id: 'x', proof_keys: [...KEYS].reverse().join() });
  const [ciRun] = await server.store.ciRuns.list(1, Infinity, 1);
  expect(answer).toEqual({
    about: {
      ...{ project: 'default', tree: TREE, test_files_digest: digestOfList(SUITE), proof_keys: [...KEYS].reverse().join() },
      ...{ max_age: 7 * DAY, flaky_passes: false, commit_hash: null, branch: null, ci_run: null, request_id: 'x' },
    },
    is_proved: true,
    reason: null,
    ci_run: {
      ...{ ci_run_id: ciRun!.id, ci_run: '100', commit_hash: 'c0ffee1', branch: 'main', started_at: expect.any(String) as string },
      url: `${server.url}/p/default/builds/${ciRun!.id}`,
      ...{ nodes: 2, node_seconds: 6, test_files: 6, skipped: 0, flaky: [] },
    },
    missing_keys: [],
  });
});

it.each<[situation: string, nodes: Node[], reason: string]>([
  ['a file failed', [{ failed: [SUITE[0]!], recorded: paths => timed(paths, { [SUITE[0]!]: 'failed' }) }], `${SUITE[0]} failed`],
  [
    'a file failed, and the repository mutes that',
    [{ failed: [SUITE[0]!], recorded: paths => timed(paths, { [SUITE[0]!]: 'muted' }) }],
    `${SUITE[0]} failed`,
  ],
  [
    'a file failed, as only its pull told',
    [{ failed: [SUITE[0]!], recorded: paths => timed(paths) }],
    `${SUITE[0]} passed only when it was tried again`,
  ],
  [
    'a file passed when the runner tried it again',
    [{ recorded: paths => timed(paths, { [SUITE[0]!]: 'flaky' }) }],
    `${SUITE[0]} passed only when it was tried again`,
  ],
  ['a client tells no outcomes', [{}, { tells: false }], 'nobody told how'],
  ['a file was not recorded', [{ recorded: paths => timed(paths.slice(1)) }], `nobody told how ${SUITE[0]} ended`],
  [
    'a file was recorded without a time',
    [{ recorded: paths => timed(paths).map(file => ({ ...file, time_execution: 0 })) }],
    'it is not complete: ',
  ],
  ['a node recorded nothing', [{}, { dies: true }], 'it is not complete: '],
  ['a node told no tree', [{}, { checkout: {} }], 'node 1 did not tell its tree'],
  [
    'the tree of a node is not known',
    [{}, { checkout: { tree_doubt: 'git took too long' } }],
    'the tree of node 1 is not known: git took too long',
  ],
  ['a node ran on another tree', [{}, { checkout: { ...CHECKOUT, tree: OTHER_TREE } }], `node 1 ran on another tree, ${OTHER_TREE}`],
  [
    'the files of a node were changed',
    [{}, { checkout: { ...CHECKOUT, tree_doubt: 'a.js is changed' } }],
    'the files of node 1 may differ from the tree: a.js is changed',
  ],
  ['a node ran with another key', [{}, { checkout: { ...CHECKOUT, proof_keys: [KEYS[1]] } }], 'node 1 ran with another key'],
])('proves nothing if %s', async (_, nodes, reason) => {
  const { server } = await played(nodes);
  const answer = await ask(server);
  expect(answer.reason).toMatch(new RegExp(`^${reason.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}`));
  expect(answer.ci_run.ci_run).toBe('100');
});

it('proves nothing for another tree, list, key, age or project', async () => {
  const { server, clock } = await played();
  const other = new Client(server.url, (await createProject(server.store.access, 'other', clock.now())).token);
  clock.advance({ seconds: 100 });
  expect(await reasonOf(server)).toBeNull();
  expect(await ask(server, { tree: OTHER_TREE })).toMatchObject({ reason: 'no CI run of this tree is known', ci_run: null });
  expect(await reasonOf(server, { test_files_digest: digestOfList(SUITE.slice(1)) })).toBe('its nodes had another list of test files');
  const key = await ask(server, { proof_keys: [KEYS[0]!, '3'.repeat(64)].join() });
  expect([key.reason, key.missing_keys]).toEqual(['node 0 ran with another key', ['3'.repeat(64)]]);
  expect(await reasonOf(server, { proof_keys: '' })).toBe('node 0 ran with another key');
  expect([await reasonOf(server, { max_age: 100 }), await reasonOf(server, { max_age: 101 })]).toEqual(['it began too long ago', null]);
  expect(await reasonOf(other)).toBe('no CI run of this tree is known');
});

describe('a file that passed only when it was tried again', () => {
  it('is proved if that is asked for, and named', async () => {
    const { server } = await played([{ recorded: paths => timed(paths, { [SUITE[0]!]: 'flaky' }) }]);
    expect(await ask(server, { flaky_passes: 'true' })).toMatchObject({ reason: null, ci_run: { flaky: [SUITE[0]], test_files: 6 } });
  });

  it('is one that failed in a CI run, and passed when its node was retried', async () => {
    const { server } = await played([{ failed: [SUITE[0]!], recorded: paths => timed(paths, { [SUITE[0]!]: 'failed' }) }]);
    const again = new QueueNode(server, 0, { ...CHECKOUT, test_queue_id: '100' });
    expect(await again.start(SUITE)).toEqual([SUITE[0]]);
    expect(await reasonOf(server)).not.toBeNull();
    await again.next();
    await record(server, { ci_build_id: '100', tells_outcomes: true, test_files: timed([SUITE[0]!]) });
    expect(await reasonOf(server)).toBe(`${SUITE[0]} passed only when it was tried again`);
    expect(await reasonOf(server, { flaky_passes: 'true' })).toBeNull();
  });
});

describe('a node whose processes did not all tell the tree', () => {
  const silent: Fields = { tree: undefined, proof_keys: undefined, test_files_digest: digestOfList(SUITE) };

  it('proves nothing, whichever of them tells none', async () => {
    const { server, nodes } = await played([{ failed: [SUITE[0]!], recorded: paths => timed(paths, { [SUITE[0]!]: 'failed' }) }]);
    const again = new QueueNode(server, 0, { ...nodes[0]!.build, ...silent });
    expect(await again.start(SUITE)).toEqual([SUITE[0]]);
    await again.next();
    await record(server, { ci_build_id: '100', tells_outcomes: true, test_files: timed([SUITE[0]!]) });
    await server.service.nodesNoted();
    expect(await reasonOf(server, { flaky_passes: 'true' })).toBe(
      'the tree of node 0 is not known: its processes told different trees, keys or changes',
    );

    const later = await startServer();
    const first = new QueueNode(later, 0, { ...silent, test_queue_id: '100' });
    const ran = await first.start(SUITE);
    await later.service.nodesNoted();
    // The process dies with its second batch.
    await first.next();
    const second = new QueueNode(later, 0, { ...CHECKOUT, test_queue_id: '100' });
    const rest = [...(await second.start(SUITE)), ...(await second.pullAll())];
    for (const paths of [ran, rest]) await record(later, { ci_build_id: '100', tells_outcomes: true, test_files: timed(paths) });
    await later.service.nodesNoted();
    expect(await reasonOf(later)).toMatch(/^the tree of node 0 is not known: /);
  });

  it('proves nothing if they pulled from the queue of a CI run that has a split, too', async () => {
    const { server } = await played([{ failed: [SUITE[0]!], recorded: paths => timed(paths, { [SUITE[0]!]: 'failed' }) }]);
    await startSplit(server, SUITE, { ...CHECKOUT, fixed_test_suite_split: false });
    const again = new QueueNode(server, 0, { ...CHECKOUT, tree: OTHER_TREE, test_queue_id: '100' });
    await again.start(SUITE);
    await again.next();
    await record(server, { ci_build_id: '100', tells_outcomes: true, test_files: timed([SUITE[0]!]) });
    await server.service.nodesNoted();
    expect((await ask(server, { flaky_passes: 'true' })).is_proved).toBe(false);
  });
});

it('takes no file that failed after it had passed', async () => {
  const { server } = await played();
  await record(server, { ci_build_id: '100', tells_outcomes: true, test_files: timed([SUITE[0]!], { [SUITE[0]!]: 'failed' }) });
  expect(await reasonOf(server, { flaky_passes: 'true' })).toBe(`${SUITE[0]} failed`);
});

describe('a CI run whose build is summed up', () => {
  const summedUp = async (nodes: Node[] = []) => {
    const all = await played(nodes);
    await all.server.service.nodesNoted();
    await all.server.service.summarize();
    return all;
  };

  it('is not compared file by file', async () => {
    const { server } = await summedUp([{ recorded: paths => timed(paths, { [SUITE[0]!]: 'flaky' }) }]);
    const files = vi.spyOn(server.store.plans, 'files');
    const { reason, ci_run } = await ask(server, { flaky_passes: 'true' });
    expect([reason, ci_run.nodes, ci_run.test_files, ci_run.flaky]).toEqual([null, 2, 6, [SUITE[0]]]);
    expect(files).not.toHaveBeenCalled();
    await play(server, [], '101');
    // Until then no CI run of this tree is newer.
    await server.service.nodesNoted();
    // Of two servers, either may answer.
    const asked = async () => {
      await ask(server, { flaky_passes: 'true' });
      return files.mock.calls.length;
    };
    await expect.poll(asked).toBeGreaterThan(0);
  });

  it('proves nothing any more if a file fails, as only its pull tells', async () => {
    const { server } = await summedUp();
    const again = new QueueNode(server, 0, { ...CHECKOUT, test_queue_id: '100', sends_heartbeats: true });
    const late = new QueueNode(server, 1, { ...CHECKOUT, test_queue_id: '100' });
    await again.start(SUITE);
    await late.start(SUITE);
    expect(await reasonOf(server)).toBeNull();
    const { server: other } = await summedUp([{ failed: [SUITE[0]!] }]);
    expect(await reasonOf(other)).toBe(`${SUITE[0]} passed only when it was tried again`);
    const retry = new QueueNode(other, 0, { ...CHECKOUT, test_queue_id: '100' });
    expect(await retry.start(SUITE)).toEqual([SUITE[0]]);
    expect(await reasonOf(other, { flaky_passes: 'true' })).toMatch(/^it is not complete: /);
  });

  it('proves nothing any more if a node of its split comes with another list', async () => {
    const server = await startServer();
    for (const node_index of [0, 1]) {
      const reply = await startSplit(server, SUITE, { node_index, ...CHECKOUT, fixed_test_suite_split: false });
      const paths = reply.json.test_files.map(({ path }: { path: string }) => path);
      await record(server, { node_index, ci_build_id: '100', tells_outcomes: true, test_files: timed(paths) });
    }
    await server.service.nodesNoted();
    await server.service.summarize();
    expect(await reasonOf(server)).toBeNull();
    const other = SUITE.slice(1);
    await startSplit(server, other, { ...CHECKOUT, fixed_test_suite_split: false, test_files_digest: digestOfList(other) });
    expect(await reasonOf(server)).toMatch(/^it is not complete: a node sent another list/);
  });
});

it('takes no file that its node only scheduled, and that ran where nobody told how it ended', async () => {
  const { server } = await played([
    { recorded: paths => timed(paths).map((file, i) => (i === 0 ? { ...file, time_execution: 0 } : file)) },
  ]);
  await record(server, { node_index: 1, test_files: timed([SUITE[0]!]) });
  expect(await reasonOf(server)).toMatch(new RegExp(`^nobody told how ${SUITE[0]} ended`));
});

it('proves nothing while a node of a proved CI run runs again, and on a changed tree', async () => {
  const { server } = await played();
  const again = new QueueNode(server, 0, { ...CHECKOUT, tree_doubt: 'a.js is changed', test_queue_id: '100' });
  expect(await reasonOf(server)).toBeNull();
  await again.start(SUITE);
  await server.service.nodesNoted();
  expect(await reasonOf(server)).toBe('the tree of node 0 is not known: its processes told different trees, keys or changes');
});

it('counts a file whose tests are all skipped as one that did not fail', async () => {
  const skipped = { time_execution: 0, ran: true, no_test: true, outcome: 'skipped' };
  const { server } = await played([{ recorded: paths => paths.map((path, i) => (i === 0 ? { path, ...skipped } : timed([path])[0]!)) }]);
  expect(await ask(server)).toMatchObject({ reason: null, ci_run: { test_files: 6, skipped: 1 } });
});

it('takes no file that only a run without the id of the CI run recorded', async () => {
  const { server, nodes } = await played([{}, { dies: true }]);
  expect(nodes).toHaveLength(2);
  const other = (await server.store.ciRuns.list(1, Infinity, 1))[0]!;
  const hidden = await reasonOf(server);
  expect(hidden).toMatch(/^it is not complete/);
  await record(server, { node_index: 1, tells_outcomes: true, test_files: timed(SUITE) });
  expect(other.ci_run).toBe('100');
  expect(await reasonOf(server)).toMatch(/^nobody told how /);
});

it('finds a proof behind newer CI runs of the tree that prove nothing', async () => {
  const { server, clock } = await played();
  for (const [i, node] of [
    { failed: [SUITE[0]!], recorded: (paths: string[]) => timed(paths, { [SUITE[0]!]: 'failed' }) },
    { tells: false },
  ].entries()) {
    clock.advance({ seconds: 60 });
    await play(server, [node], String(200 + i));
  }
  expect(await ask(server)).toMatchObject({ reason: null, ci_run: { ci_run: '100' } });
  expect(await ask(server, { max_age: 100 })).toMatchObject({
    reason: expect.stringMatching(/^nobody told how /) as string,
    ci_run: { ci_run: '201' },
  });
});

it('proves a split, whose nodes asked for their parts with the tree', async () => {
  const server = await startServer();
  const parts: string[][] = [];
  for (const node_index of [0, 1]) {
    const reply = await startSplit(server, SUITE, { node_index, ...CHECKOUT, fixed_test_suite_split: false });
    parts.push(reply.json.test_files.map(({ path }: { path: string }) => path));
  }
  await record(server, { ci_build_id: '100', tells_outcomes: true, test_files: timed(parts[0]!) });
  expect(await reasonOf(server)).toMatch(/^it is not complete/);
  await record(server, { node_index: 1, ci_build_id: '100', tells_outcomes: true, test_files: timed(parts[1]!) });
  expect(await ask(server)).toMatchObject({ reason: null, ci_run: { nodes: 2, test_files: 6 } });
});

describe('a receipt', () => {
  const receiptOf = async (server: Client, id: string, ci_run = '100') => server.get(`/v1/builds/${id}/receipt?ci_run=${ci_run}`);
  const publicKeys = async (server: Client) =>
    ((await server.get('/v1/receipt_keys')).json.public_keys as string[]).map(pem => createPublicKey(pem));

  it('says how each file ended, and is signed with a key that the server lists, also after it took another one', async () => {
    const told = { [SUITE[0]!]: 'flaky', [SUITE[1]!]: 'muted', [SUITE[2]!]: 'failed' };
    const { server } = await played([1, 2].map(() => ({ failed: [SUITE[2]!], recorded: paths => timed(paths, told) })));
    const [build] = (await server.get('/v1/builds')).json.data;
    const { status, text } = await receiptOf(server, build.id);
    expect(status).toBe(200);
    const [key] = await publicKeys(server);
    const { payload } = openEnvelope(text, STATEMENT_PAYLOAD, [key!]);
    const { subject, predicate } = JSON.parse(payload.toString());
    expect(subject).toEqual([{ digest: { gitTree: TREE } }]);
    expect(predicate).toEqual({
      result: 'FAILED',
      configuration: [
        { name: 'test-files', digest: { sha256: digestOfList(SUITE) } },
        ...KEYS.map(sha256 => ({ name: 'key', digest: { sha256 } })),
      ],
      url: expect.stringMatching(/^http.*\/p\/default\/builds\/[0-9a-f-]+$/) as string,
      passedTests: expect.arrayContaining(SUITE.filter(path => !(path in told))) as string[],
      warnedTests: [SUITE[0]],
      failedTests: [SUITE[2], SUITE[1]],
    });
    await rotateReceiptKey(server.store.values);
    const keys = await publicKeys(server);
    expect(keys).toHaveLength(2);
    expect(openEnvelope(text, STATEMENT_PAYLOAD, keys).key).toBe(keys[1]);
    expect(openEnvelope((await receiptOf(server, build.id)).text, STATEMENT_PAYLOAD, keys).key).toBe(keys[0]);
  });

  it('is signed with the key of a file, if there is one; all keys before stay listed, whoever signs', async () => {
    const folder = temporaryFolder();
    const given = ['one', 'two'].map(name => {
      const { privateKey, publicKey } = generateKeyPairSync('ed25519');
      const receiptKeyFile = join(folder, name);
      writeFileSync(receiptKeyFile, privateKey.export({ type: 'pkcs8', format: 'pem' }));
      return { receiptKeyFile, pem: publicKey.export({ type: 'spki', format: 'pem' }) };
    });
    const [one, two] = given as [(typeof given)[0], (typeof given)[0]];
    const dataDir = temporaryFolder();
    const serve = async (receiptKeyFile: string, ci_run: string) => {
      const server = await startServer({ dataDir, receiptKeyFile });
      await play(server, [], ci_run);
      const [build] = (await server.get('/v1/builds')).json.data;
      const listed = (await server.get('/v1/receipt_keys')).json.public_keys as string[];
      const { text } = await receiptOf(server, build.id, ci_run);
      const { key } = openEnvelope(text, STATEMENT_PAYLOAD, listed.map(createPublicKey));
      await server.close();
      return { listed, signer: key.export({ type: 'spki', format: 'pem' }) };
    };
    const first = await serve(one.receiptKeyFile, '1');
    expect(first).toEqual({ listed: [one.pem], signer: one.pem });
    const ofStore = await serve('', '2');
    expect(ofStore.listed).toEqual([ofStore.signer, one.pem]);
    expect(await serve(two.receiptKeyFile, '3')).toEqual({ listed: [two.pem, ofStore.signer, one.pem], signer: two.pem });
    expect(await serve(one.receiptKeyFile, '4')).toEqual({ listed: [one.pem, ofStore.signer, two.pem], signer: one.pem });
  });

  const commandOf = (digit: string): Node => ({ checkout: { ...CHECKOUT, command_digest: digit.repeat(64) } });

  it.each<[situation: string, nodes: Node[], command: string | undefined]>([
    ['if all nodes told the same one', [commandOf('5'), commandOf('5')], '5'.repeat(64)],
    ['of none if nodes told different ones', [commandOf('5'), commandOf('6')], undefined],
    ['of none if a node told none', [commandOf('5'), {}], undefined],
  ])('has the digest of the command %s, and the proof is the same', async (_, nodes, command) => {
    const { server } = await played(nodes);
    const [build] = (await server.get('/v1/builds')).json.data;
    const { payload } = openEnvelope((await receiptOf(server, build.id)).text, STATEMENT_PAYLOAD, await publicKeys(server));
    const { predicate } = JSON.parse(payload.toString()) as Statement;
    expect(predicate.configuration.find(({ name }) => name === 'command')?.digest?.sha256).toBe(command);
    expect(await reasonOf(server)).toBeNull();
  });

  it.each<[situation: string, nodes: Node[], reason: string]>([
    ['a client tells no outcomes', [{}, { tells: false }], 'nobody told how'],
    ['a node recorded nothing', [{}, { dies: true }], 'it is not complete: '],
    ['no node told a tree', [{ checkout: {} }, { checkout: {} }], 'its nodes told no tree'],
    ['the nodes ran with different keys', [{}, { checkout: { tree: TREE } }], 'its nodes ran with different keys'],
  ])('is refused if %s', async (_, nodes, reason) => {
    const { server } = await played(nodes);
    const [build] = (await server.get('/v1/builds')).json.data;
    const { status, json } = await receiptOf(server, build.id);
    expect([status, json.errors[0]]).toEqual([422, expect.stringContaining(`no receipt of this CI run: ${reason}`)]);
    expect((await receiptOf(server, build.id, 'unknown')).status).toBe(404);
  });
});

it('counts the doubts of the nodes of a split, if it has the id of the CI run of a queue', async () => {
  const { server, clock } = await played();
  clock.advance({ seconds: 1 });
  for (const node_index of [0, 1])
    await startSplit(server, SUITE, { node_index, ...CHECKOUT, tree_doubt: 'a.js is changed', fixed_test_suite_split: false });
  await server.service.nodesNoted();
  expect(await reasonOf(server)).toBe('the files of node 0 may differ from the tree: a.js is changed');
});

describe('a CI run that asks', () => {
  const ASKING = { commit_hash: 'beef', branch: 'main', ci_run: '900' };
  const savedIn = async (server: Client, query = 'branch=main') => {
    const { proved_runs, proved_seconds, days } = (await server.get(`/v1/trends/builds?${query}`)).json;
    expect(days.every(({ builds }: { builds: number }) => builds > 0)).toBe(true);
    return [proved_runs, proved_seconds] as [number, number];
  };

  it('is noted with the one that proves it, once, and is repeated in the answer', async () => {
    const { server, clock } = await played();
    clock.advance({ seconds: 60 });
    const [by] = await server.store.ciRuns.list(1, Infinity, 1);
    const spared = { ...ASKING, asked_at: clock.now(), seconds: 6 };
    for (let times = 0; times < 2; times++) {
      expect(await ask(server, ASKING)).toMatchObject({ reason: null, about: ASKING, ci_run: { node_seconds: 6 } });
      clock.advance({ seconds: 5 });
    }
    expect(await server.store.ciRuns.spared(by!.id)).toEqual([spared]);
    const minutes = (await server.get(`/v1/builds/${by!.id}/minutes`)).json;
    const named = { ...ASKING, asked_at: new Date(spared.asked_at).toISOString() };
    expect(minutes.spared).toEqual({ count: 1, node_seconds: 6, newest: [named] });
    expect([await savedIn(server), await savedIn(server, 'branch=next'), await savedIn(server, '')]).toEqual([
      [1, 6],
      [0, 0],
      [1, 6],
    ]);
  });

  it.each<[situation: string, more: Record<string, string | number>]>([
    ['is not proved', { ...ASKING, proof_keys: '' }],
    ['does not name its branch', { commit_hash: 'beef', ci_run: '900' }],
    ['is the one that proves it, whose last job asks', { commit_hash: 'c0ffee1', branch: 'main', ci_run: '100' }],
  ])('is not noted if it %s', async (_, more) => {
    const { server } = await played();
    await ask(server, more);
    expect(await savedIn(server, '')).toEqual([0, 0]);
  });

  it('is not noted if its nodes have begun to run the tests', async () => {
    const { server } = await played();
    const node = new QueueNode(server, 0, { ...CHECKOUT, commit_hash: 'beef', test_queue_id: '900' });
    await node.start(SUITE);
    await server.service.nodesNoted();
    expect(await reasonOf(server, ASKING)).toBeNull();
    expect(await savedIn(server, '')).toEqual([0, 0]);
  });

  it('gets its answer also if it cannot be noted', async () => {
    const { server } = await played();
    Object.assign(server.store.ciRuns, { noteSpared: () => Promise.reject(new Error('the disk is full')) });
    expect(await reasonOf(server, ASKING)).toBeNull();
  });

  it('counts in the trends of its branch and its day exactly as the questions say', async () => {
    const { server, clock } = await played();
    clock.advance({ seconds: 60 });
    const other = new Client(server.url, (await createProject(server.store.access, 'other', clock.now())).token);
    const random = seededRandom(20_261_130);
    const pick = (count: number) => Math.floor(random() * count);
    /** The first question of each CI run that was proved: its branch, and how many days ago. */
    const first = new Map<string, { branch: string; at: number }>();
    for (let i = 0; i < 60; i++) {
      const asking = { commit_hash: `c${pick(3)}`, branch: ['main', 'fix'][pick(2)]!, ci_run: String(pick(12)) };
      const max_age = pick(4) === 0 ? 1 : 7 * DAY;
      const client = pick(5) === 0 ? other : server;
      const { is_proved } = await ask(client, { ...asking, max_age });
      const key = Object.values(asking).join();
      if (is_proved && !first.has(key)) first.set(key, { branch: asking.branch, at: clock.now() });
      clock.advance({ seconds: 3600 * pick(5) });
    }
    const today = Math.floor(clock.now() / (1000 * DAY));
    const expected = (branch: string | null, days: number) => {
      const counted = [...first.values()].filter(
        run => (branch ?? run.branch) === run.branch && Math.floor(run.at / (1000 * DAY)) > today - days,
      );
      return [counted.length, 6 * counted.length];
    };
    expect(first.size).toBeGreaterThan(20);
    for (const days of [1, 2, 30])
      for (const branch of ['main', 'fix', null])
        expect(await savedIn(server, `days=${days}${branch === null ? '' : `&branch=${branch}`}`)).toEqual(expected(branch, days));
    expect(await savedIn(other, '')).toEqual([0, 0]);
  });
});

it('refuses a question that names no tree, list or age', async () => {
  const server = await startServer();
  const status = async (query: string) => (await server.get(`/v1/proofs?${query}`)).status;
  const whole = `tree=${TREE}&test_files_digest=${digestOfList(SUITE)}&max_age=9`;
  expect(await status(whole)).toBe(200);
  for (const [from, to] of [
    [TREE, 'HEAD'],
    ['max_age=9', 'max_age=0'],
    ['max_age=9', 'proof_keys=x'],
    [/test_files_digest=\w+/, ''],
  ] as const)
    expect(await status(whole.replace(from, to))).toBe(422);
});
