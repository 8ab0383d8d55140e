import { once } from 'node:events';
import { createServer } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { initialise, manyPaths, record, timedTestFiles } from '../harness/messages.js';
import { runInProcess } from '../harness/run-in-process.js';
import { startServer, type TestServer } from '../harness/server.js';

const BUILD = { commit_hash: 'abc', branch: 'main', node_total: 1 };
const TOOLS = ['builds', 'minutes', 'comparison', 'why', 'files', 'flaky', 'what_if', 'completeness', 'proved'];

/** Sends messages, and ends stdin. Returns the answers by id. */
async function talk({ url, token }: Pick<TestServer, 'url' | 'token'>, ...messages: (object | string)[]) {
  const stdin = messages.map(each => (typeof each === 'string' ? each : JSON.stringify({ jsonrpc: '2.0', ...each }))).join('\n');
  const run = await runInProcess(['mcp', '--retries', '0'], { BALLAST_URL: url, BALLAST_TOKEN: token }, { stdin });
  expect(run).toMatchObject({ code: 0, stderr: '' });
  expect(run.stdout).not.toContain(token);
  const answers = run.stdout
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));
  return new Map<unknown, any>(answers.map(answer => [answer.id, answer]));
}

const call = (name: string, input: object = {}, id: number | string = 1) => ({
  id,
  method: 'tools/call',
  params: { name, arguments: input },
});

async function told(server: Pick<TestServer, 'url' | 'token'>, name: string, input: object = {}) {
  const { result } = (await talk(server, call(name, input))).get(1);
  const [{ text }] = result.content;
  return { isError: result.isError === true, text: text as string, json: result.isError ? null : JSON.parse(text) };
}

async function serverWith(paths: readonly string[]): Promise<TestServer> {
  const server = await startServer();
  await initialise(server, paths, { ...BUILD, node_build_id: '7' });
  await record(server, { ...BUILD, ci_build_id: '7', test_files: timedTestFiles(Object.fromEntries(paths.map(path => [path, 2]))) });
  await server.service.summarize();
  return server;
}

const AWAY = { url: 'http://127.0.0.1:1', token: 'a-token-of-tests' };

describe('ballast mcp', () => {
  it.each(['2025-11-25', '2025-06-18', '2024-11-05'])('shakes hands in version %s, and lists tools that only read', async version => {
    const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'test', version: '1' } };
    const answers = await talk(
      AWAY,
      { id: 0, method: 'initialize', params },
      { method: 'notifications/initialized' },
      { id: 'list', method: 'tools/list' },
      { id: 2, method: 'ping' },
    );
    expect(answers.size).toBe(3);
    expect(answers.get(0).result).toMatchObject({ protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: 'ballast' } });
    const { tools } = answers.get('list').result;
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(TOOLS);
    for (const { annotations, inputSchema, description } of tools) {
      expect(annotations.readOnlyHint).toBe(true);
      expect(inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(Object.keys(inputSchema.properties)).toEqual(expect.arrayContaining(inputSchema.required ?? []));
      expect(description.length).toBeGreaterThan(100);
    }
    expect(answers.get(2).result).toEqual({});
  });

  it('offers its newest version to a client of an unknown one', async () => {
    const answers = await talk(AWAY, { id: 0, method: 'initialize', params: { protocolVersion: '1999-01-01' } });
    expect(answers.get(0).result.protocolVersion).toBe('2025-11-25');
  });

  it('answers clients that shake no hands', async () => {
    const meta = (version: string) => ({ _meta: { 'io.modelcontextprotocol/protocolVersion': version } });
    const answers = await talk(
      AWAY,
      { id: 1, method: 'server/discover', params: meta('2026-07-28') },
      { id: 2, method: 'tools/list', params: meta('2026-07-28') },
      { id: 3, method: 'tools/list', params: meta('2099-01-01') },
    );
    expect(answers.get(1).result).toMatchObject({ resultType: 'complete', capabilities: { tools: {} }, cacheScope: 'public' });
    expect(answers.get(1).result.supportedVersions).toContain('2026-07-28');
    expect(answers.get(2).result).toMatchObject({ resultType: 'complete', ttlMs: 3_600_000 });
    expect(answers.get(3).error).toMatchObject({ code: -32022, data: { requested: '2099-01-01' } });
  });

  it('refuses what is no request, and goes on', async () => {
    const answers = await talk(
      AWAY,
      'no JSON',
      { id: 1, method: 'resources/list' },
      { id: 2, method: 'tools/call', params: { name: 'delete_project' } },
      { id: 3, result: {} },
      { id: 4, method: 'ping' },
    );
    expect(answers.get(null).error.code).toBe(-32700);
    expect(answers.get(1).error.code).toBe(-32601);
    expect(answers.get(2).error).toEqual({
      code: -32602,
      message: `there is no tool "delete_project": the tools are ${TOOLS.join(', ')}`,
    });
    expect(answers.has(3)).toBe(false);
    expect(answers.get(4).result).toEqual({});
  });

  it('answers questions about a build', async () => {
    const paths = ['a_spec.rb', 'b_spec.rb'];
    const server = await serverWith(paths);
    const { builds } = (await told(server, 'builds')).json;
    expect(builds).toMatchObject([{ ...BUILD, summary: { files: 2, missing: 0 } }]);
    const build = builds[0].build_id;
    const comparison = (await told(server, 'comparison', { build, with: build })).json;
    expect(comparison).toMatchObject({ build_id: build, verdict: expect.stringMatching(/^As long as the build of /), causes: [] });
    const minutes = (await told(server, 'minutes', { build })).json;
    expect(minutes).toMatchObject({ build_id: build, files: 2, verdict: expect.any(String) });
    const why = (await told(server, 'why', { build, node_index: 0, path: 'b_' })).json;
    expect(why.batches.flatMap(({ files }: any) => files.map(({ path }: any) => path))).toEqual(['b_spec.rb']);
    expect((await told(server, 'files', { sort: 'path', path: 'A_' })).json.files).toMatchObject([{ path: 'a_spec.rb', median: 2 }]);
    expect((await told(server, 'flaky')).json).toMatchObject({ tells_outcomes: false, files: [], outages: [] });
    expect((await told(server, 'what_if', { build, nodes: '1,2', cut: ['a_spec.rb'] })).json.variants).toHaveLength(2);
    expect((await told(server, 'completeness', BUILD)).json).toMatchObject({ is_complete: true, test_files: 2 });
    expect((await told(server, 'completeness', { ...BUILD, commit_hash: 'other' })).json).toMatchObject({ is_complete: false });
  });

  it('shortens a long answer, and says how to ask for less', async () => {
    const server = await serverWith(manyPaths(2000));
    const { text, json } = await told(server, 'files', { limit: 1000 });
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(16_000);
    expect(json.file_count).toBe(2000);
    expect(json.cut).toEqual([`files: the first ${json.files.length} of 1000`, 'give path, or a smaller limit with offset']);
  });

  it.each([
    ['an unknown argument', 'builds', { project: 'x' }, 'it has no argument "project": its arguments are branch, commit_hash'],
    ['a missing argument', 'minutes', {}, 'the argument build is missing: Id of a build'],
    ['an argument of another type', 'builds', { branch: { name: 'main' } }, 'the argument branch must be of type string'],
    [
      'a value that the server refuses',
      'builds',
      { limit: 100_000 },
      /refused with 422: limit: must be less than or equal to \d+; correct/,
    ],
    ['an unknown build', 'minutes', { build: 'x/../y' }, 'Could not find Build; builds lists the ids'],
  ])('tells the model of %s', async (_, name, input, message) => {
    const { isError, text } = await told(await startServer(), name, input);
    expect(isError).toBe(true);
    expect(text).toEqual(message instanceof RegExp ? expect.stringMatching(message) : expect.stringContaining(message));
  });

  it('tells the model of a wrong token, without the token', async () => {
    const { url } = await startServer();
    const { isError, text } = await told({ url, token: 'a-token-of-nobody' }, 'builds');
    expect([isError, text]).toEqual([true, expect.stringContaining('BALLAST_TOKEN of this MCP server must be a test-suite token')]);
  });

  it('tells the model that the server is away', async () => {
    const { isError, text } = await told(AWAY, 'builds');
    expect([isError, text]).toEqual([true, expect.stringContaining('BALLAST_URL is its address, or call the tool again later')]);
  });

  it('ends a cancelled call without an answer, and the request with it', async () => {
    const silent = createServer(socket => socket.on('error', () => {})).listen(0, '127.0.0.1');
    onTestFinished(() => void silent.close());
    await once(silent, 'listening');
    const { port } = silent.address() as { port: number };
    const cancelled = { method: 'notifications/cancelled', params: { requestId: 'slow' } };
    const answers = await talk({ ...AWAY, url: `http://127.0.0.1:${port}` }, call('builds', {}, 'slow'), cancelled, {
      id: 2,
      method: 'ping',
    });
    expect([...answers.keys()]).toEqual([2]);
  });

  it('needs an address and a token', async () => {
    expect(await runInProcess(['mcp'])).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining('BALLAST_URL') });
  });
});
