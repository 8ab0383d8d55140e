import { describe, expect, it } from 'vitest';
import { Clock } from '../harness/clock.js';
import { startServer, startServerOnDisk } from '../harness/server.js';

describe('health', () => {
  it('needs no token', async () => {
    const server = await startServer();
    expect(await server.send('/healthz', {})).toMatchObject({ status: 200, json: { status: 'ok' } });
    expect(await server.send('/readyz', {})).toMatchObject({ status: 200, json: { status: 'ready' } });
  });

  it('answers HEAD with a length and no body', async () => {
    const server = await startServer();
    const reply = await server.send('/healthz', { method: 'HEAD' });
    expect(reply).toMatchObject({ status: 200, text: '' });
    expect(reply.headers.get('content-length')).toBe('15');
  });
});

describe('/readyz', () => {
  it('makes one commit for many requests on both ports', async () => {
    const server = await startServerOnDisk({ adminPort: '0' }, Date.now, new Clock().now);
    const admin = server.service.adminUrl!;
    const commits = async () =>
      Number(/^ballast_commit_duration_seconds_count (\d+)$/m.exec(await (await fetch(`${admin}/metrics`)).text())![1]);
    // Wait for the commits of the start.
    await server.service.sweep();
    const before = await commits();
    const replies = await Promise.all(Array.from({ length: 60 }, (_, i) => fetch(`${i % 2 ? admin : server.url}/readyz`)));
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]));
    expect((await commits()) - before).toBe(1);
  });
});
