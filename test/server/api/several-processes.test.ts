import { hostname } from 'node:os';
import { describe, expect, it } from 'vitest';
import { revokeToken } from '../../../src/server/engine/access.js';
import { signedInOperator } from '../../harness/browser.js';
import { Client, TOKEN } from '../../harness/client.js';
import { initialise, manyPaths, newestBuild, pathsIn, pull, readSplit, record, sortPaths, startSplit } from '../../harness/messages.js';
import { emptyDatabase } from '../../harness/postgresql-store.js';
import { startServer, type TestServer } from '../../harness/server.js';

/** Two processes that serve one database. */
async function startTwo(): Promise<[TestServer, TestServer]> {
  const databaseUrl = await emptyDatabase();
  return Promise.all([startServer({ databaseUrl }), startServer({ databaseUrl })]);
}

const nameOf = ({ url }: Client) => `${hostname()}:${new URL(url).port}`;
const FILES = manyPaths(60);

describe('two processes on one database', () => {
  it('start at the same time with one project, which has the token of both', async () => {
    const [one, two] = await startTwo();
    expect((await one.store.access.projects()).map(({ name }) => name)).toEqual(['default']);
    for (const server of [one, two]) expect((await server.get('/v1/builds')).status).toBe(200);
  });

  it('hand out each file of a queue once, and the same batch again, whichever a node asks', async () => {
    const servers = await startTwo();
    await initialise(servers[0], FILES, { batch_uuid: '0-0' });
    const handed: string[] = [];
    const pullAll = async (node_index: number) => {
      for (let i = 0; ; i++) {
        const message = { node_index, batch_uuid: `${node_index}-${i}` };
        const [batch, again] = [pathsIn(await pull(servers[i % 2]!, message)), pathsIn(await pull(servers[(i + 1) % 2]!, message))];
        expect(again).toEqual(batch);
        if (batch.length === 0) return;
        handed.push(...batch);
      }
    };
    await Promise.all([pullAll(0), pullAll(1)]);
    expect(sortPaths(handed)).toEqual(FILES);
  });

  it('give each node its part of one split, whichever it asks', async () => {
    const [one, two] = await startTwo();
    const parts = await Promise.all([startSplit(one, FILES, { node_index: 0 }), startSplit(two, FILES, { node_index: 1 })]);
    expect(sortPaths(parts.flatMap(pathsIn))).toEqual(FILES);
    for (const [node_index, part] of parts.entries())
      for (const server of [one, two]) expect(pathsIn(await readSplit(server, { node_index }))).toEqual(pathsIn(part));
  });

  it('show what the other recorded', async () => {
    const [one, two] = await startTwo();
    await record(one, { node_index: 0 });
    await record(two, { node_index: 1 });
    for (const server of [one, two])
      expect((await server.get(`/v1/builds/${await newestBuild(server)}`)).json.build_subsets).toHaveLength(2);
  });

  it('accept the sessions of each other', async () => {
    const [one, two] = await startTwo();
    const operator = await signedInOperator(one.url, one.store);
    const elsewhere = new Client(two.url, '');
    const reply = await elsewhere.send('/dashboard/session', { headers: { Cookie: operator.cookie } });
    expect(reply).toMatchObject({ status: 200, json: { role: 'operator' } });
  });

  it('refuse a token that the other revoked within five seconds', async () => {
    const [one, two] = await startTwo();
    expect((await two.get('/v1/builds')).status).toBe(200);
    await revokeToken(one.store.access, TOKEN, Date.now());
    expect((await one.get('/v1/builds')).status).toBe(403);
    await expect.poll(async () => (await two.get('/v1/builds')).status, { timeout: 6000, interval: 200 }).toBe(403);
  });

  it('are both on the page of the server, with what both saw', async () => {
    const [one, two] = await startTwo();
    const operator = await signedInOperator(one.url, one.store);
    const status = async () => (await operator.get('/dashboard/server')).json;
    await expect.poll(async () => (await status()).processes.map(({ name }: { name: string }) => name)).toEqual([nameOf(one), nameOf(two)]);
    await two.close();
    expect((await status()).processes).toHaveLength(1);
  });
});
