import { describe, expect, it } from 'vitest';
import { REFUSED_KINDS, RefusedRequests, SEEN_CLIENTS, SeenClients } from '../../../src/server/api/dashboard/seen.js';
import { apiErrors } from '../../../src/server/api/errors.js';
import type { Request } from '../../../src/server/http/request.js';

describe('the clients that were seen', () => {
  it('are bounded in number and in text', () => {
    const clients = new SeenClients();
    for (let i = 0; i < 1000; i++) clients.count(`client ${i}`, 'v'.repeat(10_000), i);
    const list = clients.list();
    expect(list).toHaveLength(SEEN_CLIENTS);
    expect(list[0]).toEqual({ name: 'client 999', version: 'v'.repeat(300), requests: 1, last_at: 999 });
    expect(list.at(-1)!.name).toBe('client 800');
  });

  it('count requests of two clients that take turns', () => {
    const clients = new SeenClients();
    for (let i = 0; i < 10; i++) clients.count(i % 2 ? 'a' : 'b', '1', i);
    expect(clients.list().map(({ name, requests }) => [name, requests])).toEqual([
      ['a', 5],
      ['b', 5],
    ]);
  });
});

describe('the refused requests', () => {
  it('are bounded in number', () => {
    const refused = new RefusedRequests(() => null);
    const request = { method: 'GET', token: null, project: '', clientName: '', clientVersion: '' } as Request;
    for (let i = 0; i < 1000; i++) refused.note({ ...request, path: `/v1/${i}` }, apiErrors.pathNotFound('GET', `/v1/${i}`), i);
    expect(refused.list()).toHaveLength(REFUSED_KINDS);
    expect(refused.list()[0]!.path).toBe('GET /v1/999');
  });
});
