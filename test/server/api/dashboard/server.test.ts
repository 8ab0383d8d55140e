import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { signedInOperator, signedInReader } from '../../../harness/browser.js';
import { Client } from '../../../harness/client.js';
import { Clock } from '../../../harness/clock.js';
import { readSplit, record, subsetMessage } from '../../../harness/messages.js';
import { isOnDisk, startServer } from '../../../harness/server.js';

const CLIENT = { 'SERVICE-CLIENT-NAME': 'knapsack_pro', 'SERVICE-CLIENT-VERSION': '7.0.0' };

async function start(clock = new Clock()) {
  const server = await startServer({}, clock.now);
  const operator = await signedInOperator(server.url, server.store, clock.millis);
  return { server, clock, operator, status: async () => (await operator.get('/dashboard/server')).json };
}

describe('the page of the server', () => {
  it('has its state', async () => {
    const { server, clock, status } = await start();
    const startedAt = new Date(clock.millis).toISOString();
    await server.service.sweep();
    await server.store.values.put('backup', clock.millis);
    await record(server);
    await server.store.maintenance.publish('runs');
    expect(await status()).toMatchObject({
      processes: [
        {
          name: `${hostname()}:${new URL(server.url).port}`,
          version: expect.stringMatching(/^\d+\./) as string,
          node: process.version,
          http_server: expect.stringMatching(/^(uwebsockets|node)$/) as string,
          started_at: startedAt,
          seen_at: null,
          health: [
            { name: 'store', is_ok: true, text: isOnDisk ? 'a write reaches the disk' : 'the database answers' },
            ...(isOnDisk ? [{ name: 'disk', is_ok: true, text: 'enough free space' }] : []),
            { name: 'expiry', is_ok: true, text: 'old records are deleted' },
          ],
          memory: { resident_bytes: expect.any(Number) as number },
          requests_in_flight: 1,
          jobs: { waiting: 0, running: 0, threads: expect.any(Number) as number },
          queues: { in_memory: 0, open: 0, bytes: 0 },
        },
      ],
      store: { records: { build: 1, subset: 1 } },
      sweep: { retention_days: 90, deleted: { subset: 0 } },
      backup: { last_at: startedAt },
      clients: [],
      refused: [],
    });
  });

  it('says when sweeps have stopped', async () => {
    const { clock, status } = await start();
    // The sweep of the start ends at its own time.
    await expect.poll(async () => (await status()).sweep.last_at).not.toBeNull();
    clock.advance({ seconds: 1260 });
    expect((await status()).processes[0].health.at(-1)).toEqual({
      name: 'expiry',
      is_ok: false,
      text: 'no sweep has ended for 21 minutes; see the log',
    });
  });

  it('counts the clients by name and version', async () => {
    const { server, clock, status } = await start();
    for (let i = 0; i < 3; i++) await server.post('/v1/build_subsets', subsetMessage(), CLIENT);
    clock.advance({ seconds: 1 });
    await server.get('/v1/builds', { ...CLIENT, 'SERVICE-CLIENT-VERSION': '' });
    const last_at = new Date(clock.millis).toISOString();
    expect((await status()).clients).toEqual([
      { name: 'knapsack_pro', version: '', requests: 1, last_at },
      { name: 'knapsack_pro', version: '7.0.0', requests: 3, last_at: new Date(clock.millis - 1000).toISOString() },
    ]);
  });

  it('counts what clients sent that could not be used, by reason, without secrets', async () => {
    const { server, clock, status } = await start();
    const bad = () => server.post('/v1/build_subsets', subsetMessage({ node_index: 9 }), CLIENT);
    await bad();
    clock.advance({ seconds: 1 });
    await bad();
    clock.advance({ seconds: 1 });
    await new Client(server.url, 'wrong-token-'.repeat(4)).get('/v1/builds?test_suite_token=in-a-query');
    const at = (seconds: number) => new Date(clock.millis - 1000 * seconds).toISOString();
    const { refused } = await status();
    expect(refused).toEqual([
      { status: 403, path: 'GET /v1/builds', reason: 'invalid test suite token', count: 1, last_at: at(0), project: null, client: '' },
      {
        status: 422,
        path: 'POST /v1/build_subsets',
        reason: 'node_index: must be less than or equal to 1',
        count: 2,
        last_at: at(1),
        project: 'default',
        client: 'knapsack_pro 7.0.0',
      },
    ]);
    expect(JSON.stringify(refused)).not.toMatch(/wrong-token|in-a-query/);
  });

  it('names the entry and the field of a list that could not be used', async () => {
    const { server, status } = await start();
    await server.post('/v1/build_subsets', subsetMessage({ test_files: [{ path: 'a_spec.rb', time_execution: 'x' }] }));
    expect((await status()).refused[0].reason).toBe('test_files.0.time_execution: is not a number');
  });

  it('cuts hostile texts and makes them harmless', async () => {
    const { server, status } = await start();
    await server.get(`/v1/${'<img onerror=x>'.replaceAll(' ', '%20')}${'x'.repeat(4000)}`, {
      'SERVICE-CLIENT-NAME': Buffer.from('e\u202evil').toString('latin1'),
    });
    const [line] = (await status()).refused;
    expect(line.path.length).toBeLessThan(320);
    expect(line.reason.length).toBeLessThan(320);
    expect(line.client).toBe('e\\u202evil');
  });

  it('leaves out the pages, other paths and errors of the server', async () => {
    const { server, operator, status } = await start();
    await operator.get('/v1/builds', { 'Ballast-Project': '99' });
    await server.get('/favicon.ico');
    await server.get('/dashboard/access');
    await readSplit(server);
    expect((await status()).refused).toEqual([]);
  });

  it('is for operators', async () => {
    const { server, clock } = await start();
    const reader = await signedInReader(server.url, server.store, 1, clock.millis);
    expect((await reader.get('/dashboard/server')).status).toBe(403);
  });
});
