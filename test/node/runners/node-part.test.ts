import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { NodePart } from '../../../src/node/runners/node-part.js';
import { digestOfList } from '../../../src/protocol/list-digest.js';
import { getCompleteness } from '../../harness/completeness.js';
import { record, timedTestFiles } from '../../harness/messages.js';
import { SharedServer } from '../../harness/server.js';

const shared = new SharedServer();

const FILES = ['test/a.test.ts', 'test/b.test.ts', 'test/c.test.ts', 'test/d.test.ts'];
const BUILD = { commit_hash: 'c0ffee9', branch: 'main' };
const ran = { seconds: 2, isFailed: false, hasRun: true };

function environmentOf({ url, token }: { url: string; token: string }, more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  const server = { BALLAST_URL: url, BALLAST_TOKEN: token, BALLAST_RETRIES: '0' };
  return { ...server, BALLAST_BUILD_ID: '7', BALLAST_BRANCH: BUILD.branch, BALLAST_COMMIT_HASH: BUILD.commit_hash, ...more };
}
const unreachable = environmentOf({ url: 'http://127.0.0.1:1', token: 't' });

/** A server that has another split each time, and records everything. @param onAsked gets each message that asks for a part */
async function startFakeServer(onAsked: (message: object) => void = () => {}): Promise<string> {
  let splits = 0;
  const server = createServer((request, response) => {
    void text(request).then(body => {
      if (request.url !== '/v1/build_distributions/subset') return response.writeHead(201).end();
      splits += 1;
      onAsked(JSON.parse(body) as object);
      const test_files = FILES.map(path => ({ path, time_execution: null }));
      const split = { build_distribution_id: `split ${splits}`, node_index: 0, test_files, test_files_digest: digestOfList(FILES) };
      return response.end(JSON.stringify(split));
    });
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const sha256 = (value: string) => createHash('sha256').update(value).digest('hex');
const pathsOf = (part: NodePart) => part.state.files.map(({ path }) => path);
const resultsOf = (paths: readonly string[], result = ran) => new Map(paths.map(path => [path, result]));

describe('the part of a node', () => {
  it('has each file on one node, the slowest first, however often the test runner names it', async () => {
    const server = await shared.project();
    const test_files = timedTestFiles({ [FILES[0]!]: 1, [FILES[1]!]: 4, [FILES[2]!]: 3, [FILES[3]!]: 2 });
    await record(server, { ...BUILD, commit_hash: 'before', node_total: 1, test_files });
    const twice = [...FILES, ...FILES];
    const parts = await Promise.all([1, 2].map(index => NodePart.request('jest', { index, count: 2 }, twice, environmentOf(server))));
    const selected = parts.map(part => part.select(twice, path => path));
    expect(selected.map(paths => [...new Set(paths)]).sort()).toEqual([
      [FILES[1], FILES[0]],
      [FILES[2], FILES[3]],
    ]);
    expect(selected.flat()).toHaveLength(twice.length);
  });

  it('is the same when the node is run again, and another one in another CI run with another list', async () => {
    const environment = environmentOf(await shared.project());
    const [shard, ask] = [
      { index: 2, count: 2 },
      (list: readonly string[], env = environment) => NodePart.request('jest', shard, list, env),
    ];
    const first = await ask(FILES);
    expect(pathsOf(await ask(FILES.toReversed()))).toEqual(pathsOf(first));
    await expect(ask(FILES.slice(1))).rejects.toThrow('"test/a.test.ts" only in the split');
    const other = await ask(FILES.slice(1), { ...environment, BALLAST_BUILD_ID: '8' });
    expect(FILES.slice(1)).toEqual(expect.arrayContaining(pathsOf(other)));
  });

  it('is asked for with the tree that the node tests, and hashes of what else the tests depend on', async () => {
    const asked: object[] = [];
    const url = await startFakeServer(message => asked.push(message));
    const ask = (BALLAST_PROOF_KEYS: string) =>
      NodePart.request('jest', { index: 1, count: 2 }, FILES, environmentOf({ url, token: 't' }, { BALLAST_PROOF_KEYS, PATH: '/nowhere' }));
    await ask('node 22\n');
    const [message] = asked;
    expect(message).toMatchObject({ tree_doubt: 'spawn git ENOENT', proof_keys: [sha256('node 22')] });
    expect(message).not.toHaveProperty('tree');
    await expect(ask('x'.repeat(1001))).rejects.toThrow(/^Ballast: the proof key "x+…x+" has 1001 characters/);
    expect(asked).toEqual([message]);
  });

  it('is empty when there are more nodes than files', async () => {
    const environment = environmentOf(await shared.project());
    const parts = await Promise.all([1, 2, 3].map(index => NodePart.request('jest', { index, count: 3 }, FILES.slice(2), environment)));
    expect(parts.filter(({ isEmpty }) => isEmpty)).toHaveLength(1);
    for (const part of parts) await part.record(resultsOf(pathsOf(part)));
  });

  it('is everything, in the order of the test runner, when the server is away and that is wanted', async () => {
    const part = await NodePart.request('jest', { index: 2, count: 2 }, FILES, { ...unreachable, BALLAST_FALLBACK: 'true' });
    const order = FILES.toReversed();
    expect(part.select(order, path => path)).toEqual(order);
    // The tests ran: that their times are lost is only a warning.
    await part.record(resultsOf(FILES));
  });

  it('records nothing that did not run, and fails then', async () => {
    const server = await shared.project();
    const part = await NodePart.request('jest', { index: 1, count: 1 }, FILES, environmentOf(server));
    const failed = { seconds: 0, isFailed: true, hasRun: false };
    const results = new Map([...resultsOf([FILES[0]!]), ...resultsOf([FILES[1]!], failed), ...resultsOf(['test/other.test.ts'])]);
    await expect(part.record(results)).rejects.toThrow(
      '2 of 4 test files of this node did not run to the end: test/c.test.ts, test/d.test.ts; no time is recorded for them, and this node fails',
    );
    const { json } = await getCompleteness(server, { ...BUILD, node_total: 1, ci_build_id: '7' });
    expect(json).toMatchObject({
      is_complete: false,
      recorded: 1,
      recorded_without_time: [{ path: FILES[1] }],
      handed_out_not_recorded: [{ path: FILES[2] }, { path: FILES[3] }],
    });
  });

  it('is recorded by another process, and completes the CI run', async () => {
    const server = await shared.project();
    const environment = environmentOf(server);
    const part = await NodePart.request('jest', { index: 1, count: 1 }, FILES, environment);
    await new NodePart(JSON.parse(JSON.stringify(part.state)), environment).record(resultsOf(FILES));
    expect((await getCompleteness(server, { ...BUILD, node_total: 1, ci_build_id: '7' })).json).toMatchObject({ is_complete: true });
  });

  it('is not run when the server lost the split in the meantime', async () => {
    const url = await startFakeServer();
    const part = await NodePart.request('jest', { index: 1, count: 1 }, FILES, environmentOf({ url, token: 't' }));
    await expect(part.record(resultsOf(FILES))).rejects.toThrow(
      'the server no longer has the split that this node ran a part of (split 1)',
    );
  });
});

describe('a node without a part', () => {
  it.each([
    [{ BALLAST_URL: '', BALLAST_TOKEN: ' ' }, /^Ballast: with --shard, .* but BALLAST_URL and BALLAST_TOKEN are not set: set /],
    [{ BALLAST_TOKEN: '' }, / BALLAST_TOKEN is not set: /],
    [{ BALLAST_RETRIES: 'x' }, /BALLAST_RETRIES is "x": it must be a whole number/],
    [{ BALLAST_FALLBACK: 'yes' }, /BALLAST_FALLBACK is "yes": it must be true or false/],
    [{ BALLAST_BUILD_ID: '' }, /^Ballast: the id of the CI run \(the same for all its nodes\) is not known: set BALLAST_BUILD_ID$/],
    [{ BALLAST_NODE_INDEX: '1' }, /^Ballast: --shard=1\/2 is node 0 of 2, counted from 0, but BALLAST_NODE_INDEX is 1: /],
    [{ BALLAST_NODE_TOTAL: '3' }, /but BALLAST_NODE_TOTAL is 3: leave it out, or set it to 2/],
    [{ CI_NODE_INDEX: '1', CI_NODE_TOTAL: '2' }, /but CI_NODE_INDEX is 1, job 2 of 2: give --shard=2\/2, or set BALLAST_NODE_INDEX=0/],
    [{}, /^Ballast: no answer from POST .*; no test is run\. Run this node again .*, or set BALLAST_FALLBACK=true to run every test file /],
  ])('says what to do: %j', async (more, message) => {
    await expect(NodePart.request('jest', { index: 1, count: 2 }, FILES, { ...unreachable, ...more })).rejects.toThrow(message);
  });

  it.each([
    { CI_NODE_INDEX: '1', CI_NODE_TOTAL: '4' },
    { CI_NODE_INDEX: '0', CI_NODE_TOTAL: '2' },
    { CI_NODE_INDEX: '1', CI_NODE_TOTAL: '2', BALLAST_NODE_INDEX: '0' },
  ])('is not one whose CI system numbers its jobs so: %j', async more => {
    const part = await NodePart.request('jest', { index: 1, count: 2 }, FILES, environmentOf(await shared.project(), more));
    expect(part.state.identity).toMatchObject({ node_index: 0, node_total: 2 });
  });
});
