import { describe, expect, it } from 'vitest';
import { initialise, manyPaths } from '../harness/messages.js';
import { startServer, type TestServer } from '../harness/server.js';

/** Values by name and labels, as they are written. */
async function metricsAt(url: string): Promise<Map<string, number>> {
  const response = await fetch(`${url}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = (await response.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'));
  return new Map(lines.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

const count = (endpoint: string, status: number) => `ballast_request_duration_seconds_count{endpoint="${endpoint}",status="${status}"}`;

describe('GET /metrics', () => {
  it('counts requests by endpoint and status, and tells no ids', async () => {
    const server = await startServer();
    await initialise(server, manyPaths(30));
    await server.post('/v1/queues/queue', {});
    for (const id of ['5', '6']) await server.get(`/v1/builds/${id}`);
    await server.get('/v1/nothing');
    const metrics = await metricsAt(server.url);
    expect(metrics.get(count('/v1/queues/queue', 200))).toBe(1);
    expect(metrics.get(count('/v1/queues/queue', 422))).toBe(1);
    expect(metrics.get(count('/v1/builds/:id', 404))).toBe(2);
    expect(metrics.get(count('unknown', 404))).toBe(1);
    expect(metrics.get('ballast_request_duration_seconds_bucket{le="+Inf",endpoint="/v1/queues/queue",status="200"}')).toBe(1);
  });

  it('tells what queues, store, disk and process are like', async () => {
    const server = await startServer();
    const { test_files } = (await initialise(server, manyPaths(30))).json;
    const metrics = await metricsAt(server.url);
    expect(metrics.get('ballast_queues_in_memory')).toBe(1);
    expect(metrics.get('ballast_queues_in_memory_test_files_left')).toBe(30 - test_files.length);
    expect(metrics.get('ballast_jobs_waiting')).toBe(0);
    for (const name of ['ballast_queues_in_memory_bytes', 'ballast_store_bytes', 'ballast_disk_free_bytes', 'process_resident_memory_bytes']) {
      expect(metrics.get(name)).toBeGreaterThan(0);
    }
    for (const name of ['ballast_held_bytes', 'ballast_journal_turns', 'ballast_swept_timestamp_seconds', 'nodejs_eventloop_lag_p99_seconds']) {
      expect(metrics.has(name)).toBe(true);
    }
  });
});

describe('an admin port', () => {
  const startBoth = (): Promise<TestServer> => startServer({ adminPort: '0' });

  it('has the metrics, and the other port none', async () => {
    const server = await startBoth();
    await server.get('/v1/builds');
    expect((await metricsAt(server.service.adminUrl!)).get(count('/v1/builds', 200))).toBe(1);
    expect((await server.get('/metrics')).status).toBe(404);
  });

  it('tells of health, and nothing of a project', async () => {
    const server = await startBoth();
    const admin = (path: string, method = 'GET') => fetch(server.service.adminUrl! + path, { method }).then(({ status }) => status);
    expect([await admin('/healthz'), await admin('/readyz'), await admin('/v1/builds'), await admin('/metrics', 'POST')]).toEqual([200, 200, 404, 405]);
    expect((await server.get('/healthz')).status).toBe(200);
  });
});
