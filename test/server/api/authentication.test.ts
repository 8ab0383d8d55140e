import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { clientFileNames } from '../../../src/server/api/client-files.js';
import { endpoints } from '../../../src/server/api/table.js';
import { Client, refusal } from '../../harness/client.js';
import { getCompleteness } from '../../harness/completeness.js';
import { manyPaths, pathsIn, readSplit, record, splitMessage, startSplit, testFiles } from '../../harness/messages.js';
import { SharedServer, startServer } from '../../harness/server.js';

const CACHE_MISS = { code: 'TEST_SUITE_SPLIT_CACHE_MISS' };
const INVALID = { errors: ['invalid test suite token'] };
const missing = (prefix: string) =>
  `invalid test suite token: none was sent; send the header ${prefix}-TEST-SUITE-TOKEN, or test_suite_token in the body of a POST`;
const MISSING = { errors: [missing('SERVICE')] };

const OPEN = [
  ...['/v1/openapi.json', '/metrics', '/healthz', '/readyz', '/llms.txt', '/docs/:name.md'],
  ...[...clientFileNames.values()].flatMap(name => [`/${name}`, `/${name}.sha256`]),
];

const server = new SharedServer();

describe('the test-suite token', () => {
  it.each(endpoints.filter(path => !OPEN.includes(path)))('is required at %s', async path => {
    const { headers } = await server.send(path, { method: 'DELETE' });
    const init = headers.get('allow') === 'POST' ? { method: 'POST', body: '{}' } : {};
    expect(await server.send(path, init)).toMatchObject({ status: 403, json: MISSING });
    const unknown = { 'SERVICE-TEST-SUITE-TOKEN': 'f'.repeat(64) };
    expect(await server.send(path, { ...init, headers: unknown })).toMatchObject({ status: 403, json: INVALID });
  });

  it('is needed everywhere but where the guides of security and of the API say', () => {
    const guide = (name: string) => readFileSync(new URL(`../../../../src/docs/${name}.md`, import.meta.url), 'utf8');
    const [, exceptions] = /gets a 403, except (.*?), which name no\s+project/s.exec(guide('operate/security'))!;
    const open = OPEN.filter(path => !path.endsWith('.sha256') && path !== '/docs/:name.md').sort();
    expect([...exceptions!.matchAll(/`(.+?)`/g)].map(([, path]) => path).sort()).toEqual(open);
    const withoutToken = guide('reference/api')
      .match(/^\|.*no token\).*/gm)!
      .join('\n');
    for (const path of open) expect(withoutToken).toContain(`\`GET ${path.replace('/v1', '')}\``);
  });

  it('may be in a header with any configured prefix, in upper or lower case', async () => {
    const body = JSON.stringify(splitMessage());
    for (const name of ['SERVICE-TEST-SUITE-TOKEN', 'knapsack-pro-test-suite-token', 'KNAPSACK-PRO-TEST-SUITE-TOKEN']) {
      const headers = { [name]: server.token };
      const reply = await server.send('/v1/build_distributions/subset', { method: 'POST', body, headers });
      expect(reply).toMatchObject({ status: 200, json: CACHE_MISS });
    }
  });

  it('is not accepted under another prefix, and the message names the first configured one', async () => {
    const server = await startServer({ headerPrefixes: 'acme, Split-It' });
    const ask = (headers: Record<string, string>) => server.send('/v1/builds', { headers });
    expect((await ask({ 'ACME-TEST-SUITE-TOKEN': server.token })).status).toBe(200);
    expect((await ask({ 'SPLIT-IT-TEST-SUITE-TOKEN': server.token })).status).toBe(200);
    expect(await ask({ 'SERVICE-TEST-SUITE-TOKEN': server.token })).toMatchObject(refusal(403, missing('ACME')));
  });

  it.each([
    ['a few', 2],
    ['thousands of', 2000],
  ])('may be in the body of a POST with %s test files', async (_, count) => {
    const test_files = testFiles(manyPaths(count));
    const post = (test_suite_token: unknown) => {
      const more = { cache_read_attempt: false, test_files, branch: `of-${count}`, node_total: 1 };
      const body = JSON.stringify(splitMessage({ ...more, test_suite_token }));
      return server.send('/v1/build_distributions/subset', { method: 'POST', body });
    };
    expect(await post('g'.repeat(64))).toMatchObject({ status: 403, json: INVALID });
    for (const none of ['', null, 5, [server.token], { toString: 'x' }]) {
      expect(await post(none)).toMatchObject({ status: 403, json: MISSING });
    }
    const reply = await post(server.token);
    expect(reply.status).toBe(200);
    expect(pathsIn(reply)).toHaveLength(count);
  });

  it('is taken from the header if the body has one too', async () => {
    const message = splitMessage({ test_suite_token: server.token });
    const wrong = { 'SERVICE-TEST-SUITE-TOKEN': 'f'.repeat(64) };
    expect(await server.post('/v1/build_distributions/subset', message, wrong)).toMatchObject({ status: 403, json: INVALID });
    const other = splitMessage({ test_suite_token: 'f'.repeat(64) });
    expect(await server.post('/v1/build_distributions/subset', other)).toMatchObject({ status: 200, json: CACHE_MISS });
  });

  it('is not accepted in a query, which would be logged', async () => {
    expect(await server.send(`/v1/builds?test_suite_token=${server.token}`, {})).toMatchObject({ status: 403, json: MISSING });
  });

  it('is never logged', async () => {
    const server = await startServer();
    await readSplit(server);
    await new Client(server.url, 'wrong-'.repeat(8)).get('/v1/builds');
    expect(server.log).not.toEqual([]);
    expect(server.log.join('')).not.toContain(server.token);
    expect(server.log.join('')).not.toContain('wrong-wrong');
  });

  it('separates projects', async () => {
    const [one, other] = [await server.project(), await server.project()];
    const list = (client: Client) => client.get('/v1/builds').then(reply => reply.json.data as { id: string }[]);

    await record(one, { test_files: [{ path: 'a_spec.rb', time_execution: 7 }] });
    const split = await startSplit(one, ['a_spec.rb', 'b_spec.rb']);
    expect(await list(other)).toEqual([]);
    const [build] = await list(one);
    expect((await other.get(`/v1/builds/${build!.id}`)).status).toBe(404);
    expect((await other.get('/v1/build_summaries')).json).toMatchObject({ builds: [], total: 0 });
    expect((await getCompleteness(other)).json.kind).toBeNull();
    expect((await readSplit(other)).json).toEqual(CACHE_MISS);
    const otherSplit = await startSplit(other, ['a_spec.rb'], { node_total: 1 });
    expect(otherSplit.json.test_files).toEqual([{ path: 'a_spec.rb', time_execution: null }]);
    expect(otherSplit.json.build_distribution_id).not.toBe(split.json.build_distribution_id);
    const query = 'commit_hash=c&branch=main&node_total=2&node_index=0';
    expect((await other.get(`/v1/build_distributions/last?${query}`)).json).toMatchObject({ build_distribution_id: null, test_files: [] });
  });
});
