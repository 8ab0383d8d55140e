import { describe, expect, it } from 'vitest';
import { version } from '../../../src/base/version.js';
import { Metrics } from '../../../src/server/process/metrics.js';
import { Clock } from '../../harness/clock.js';
import { initialise, manyPaths, record } from '../../harness/messages.js';
import { isOnDisk, startServer, startServerOnDisk } from '../../harness/server.js';

/** Reads metrics: their values by name and labels. */
async function metricsAt(url: string): Promise<Record<string, number>> {
  const response = await fetch(`${url}/metrics`);
  expect(response.status).toBe(200);
  expect(response.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  const lines = (await response.text()).split('\n').filter(line => line !== '' && !line.startsWith('#'));
  return Object.fromEntries(lines.map(line => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]));
}

const count = (endpoint: string, status: number) => `ballast_request_duration_seconds_count{endpoint="${endpoint}",status="${status}"}`;

describe('GET /metrics', () => {
  it('counts requests by endpoint and status, without ids', async () => {
    const server = await startServer();
    await initialise(server, manyPaths(30));
    await server.post('/v1/queues/queue', {});
    for (const id of ['5', '6']) await server.get(`/v1/builds/${id}`);
    await server.get('/v1/nothing');
    expect(await metricsAt(server.url)).toMatchObject({
      [count('/v1/queues/queue', 200)]: 1,
      [count('/v1/queues/queue', 422)]: 1,
      [count('/v1/builds/:id', 404)]: 2,
      [count('unknown', 404)]: 1,
      'ballast_request_duration_seconds_bucket{le="+Inf",endpoint="/v1/queues/queue",status="200"}': 1,
    });
  });

  it('counts the questions whether a tree is proved, by answer', async () => {
    const server = await startServer();
    await server.get(`/v1/proofs?tree=${'a'.repeat(40)}&test_files_digest=${'b'.repeat(64)}&max_age=9`);
    expect(await metricsAt(server.url)).toMatchObject({ 'ballast_proofs_total{answer="not_proved"}': 1 });
  });

  it('has the state of queues, store, disk and process', async () => {
    const server = await startServerOnDisk();
    const { test_files } = (await initialise(server, manyPaths(30))).json;
    const metrics = await metricsAt(server.url);
    expect(metrics).toMatchObject({
      ballast_queues_in_memory: 1,
      ballast_queues_open: 1,
      ballast_queue_test_files_left: 30 - test_files.length,
      ballast_batches_total: 1,
      ballast_batch_test_files_total: test_files.length,
      'ballast_store_records{kind="queue"}': 1,
      [`ballast_build_info{version="${version}"}`]: 1,
      ballast_jobs_waiting: 0,
    });
    for (const name of [
      'ballast_queues_in_memory_bytes',
      'ballast_store_bytes',
      ...(isOnDisk ? ['ballast_disk_free_bytes', 'ballast_commit_duration_seconds_count'] : []),
      'ballast_connections',
      'ballast_requests_in_flight',
      'process_resident_memory_bytes',
    ]) {
      expect(metrics[name]).toBeGreaterThan(0);
    }
    for (const name of [
      'ballast_held_bytes',
      'ballast_journal_turns',
      'ballast_jobs_running',
      'ballast_job_threads',
      'ballast_sweep_last_success_timestamp_seconds',
      'ballast_sweep_duration_seconds',
      'nodejs_eventloop_lag_p99_seconds',
    ]) {
      expect(metrics).toHaveProperty([name]);
    }
  });

  it('counts a repeated batch once, and expired records by kind', async () => {
    const clock = new Clock();
    const server = await startServer({}, clock.now);
    const batch = { batch_uuid: 'once' };
    await initialise(server, manyPaths(30), batch);
    await initialise(server, manyPaths(30), batch);
    await record(server);
    clock.advance({ days: 91 });
    await server.service.sweep();
    expect(await metricsAt(server.url)).toMatchObject({
      ballast_batches_total: 1,
      'ballast_expired_records_total{kind="queue"}': 1,
      'ballast_expired_records_total{kind="subset"}': 1,
      'ballast_expired_records_total{kind="path"}': 2,
      'ballast_expired_records_total{kind="split"}': 0,
    });
  });

  it('counts large suites by job', async () => {
    const server = await startServerOnDisk({ workers: '1' });
    await initialise(server, manyPaths(1000));
    expect(await metricsAt(server.url)).toMatchObject({
      'ballast_job_duration_seconds_count{job="prepareQueue"}': 1,
      ballast_job_wait_seconds_count: 1,
    });
  });

  it('counts the lists of large suites that are sent again', async () => {
    const server = await startServerOnDisk();
    const paths = Array.from({ length: 1000 }, (_, i) => `spec/a/long/folder/for/the/sake/of/its/size/${i}_größe_spec.rb`);
    for (const node_build_id of ['1', '2', '3']) await initialise(server, paths, { node_build_id });
    const metrics = await metricsAt(server.url);
    expect(metrics).toMatchObject({ ballast_cached_suites: 1, ballast_cached_suite_hits_total: 2 });
    expect(metrics.ballast_cached_suites_bytes).toBeGreaterThan(65_536);
  });
});

describe('metrics', () => {
  it('of what a server does not have are left out: an alert would take 0 for a certificate that has expired, or for a full disk', async () => {
    const names = Object.keys(await metricsAt((await startServer()).url));
    for (const begin of ['ballast_tls_', 'ballast_snapshot_', isOnDisk ? 'ballast_database_' : 'ballast_disk_'])
      expect(names.filter(name => name.startsWith(begin))).toEqual([]);
  });

  it('have names and help texts that follow the conventions of Prometheus', async () => {
    const { text } = await (await startServer()).get('/metrics');
    const kinds = [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)];
    expect(kinds.length).toBeGreaterThan(40);
    for (const [, name, kind] of kinds) {
      expect([name, name!.endsWith('_total')]).toEqual([name, kind === 'counter']);
      if (name!.startsWith('ballast_')) expect(text).toMatch(new RegExp(`^# HELP ${name} [A-Z].*\\.$`, 'm'));
    }
  });

  it('count 503s by reason', async () => {
    const metrics = new Metrics();
    metrics.observeRequest('/v1/builds', 503, 0.1, 'disk');
    const { body } = await metrics.text();
    expect(body).toContain('ballast_unavailable_total{reason="disk"} 1\n');
    expect(body).toContain('ballast_unavailable_total{reason="memory"} 0\n');
  });
});

describe('an admin port', () => {
  it('has the metrics and the health endpoints, but not the API, and the other port has no metrics', async () => {
    const server = await startServer({ adminPort: '0' });
    await server.get('/v1/builds');
    expect((await metricsAt(server.service.adminUrl!))[count('/v1/builds', 200)]).toBe(1);
    expect((await server.get('/metrics')).status).toBe(404);
    const admin = (path: string, method = 'GET') => fetch(server.service.adminUrl! + path, { method }).then(({ status }) => status);
    expect([await admin('/healthz'), await admin('/readyz'), await admin('/v1/builds'), await admin('/metrics', 'POST')]).toEqual([
      200, 200, 404, 405,
    ]);
    expect((await server.get('/healthz')).status).toBe(200);
  });

  it('that is in use is named in the error', async () => {
    const { port } = new URL((await startServer()).url);
    await expect(startServer({ adminPort: port })).rejects.toThrow(
      /^cannot listen on 127\.0\.0\.1 port \d+: .*; choose another with BALLAST_ADMIN_PORT or BALLAST_ADMIN_HOST$/,
    );
  });
});
