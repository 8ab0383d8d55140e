import { generateKeyPairSync } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { revokeToken } from '../../../src/server/engine/access.js';
import { signedInOperator } from '../../harness/browser.js';
import { type Client, TOKEN } from '../../harness/client.js';
import { emptyDatabase } from '../../harness/postgresql-store.js';
import { startServer, type TestServer } from '../../harness/server.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

/** Two processes that serve one database. */
async function startTwo(): Promise<[TestServer, TestServer]> {
  const databaseUrl = await emptyDatabase();
  return Promise.all([startServer({ databaseUrl }), startServer({ databaseUrl })]);
}

const nameOf = ({ url }: Client) => `${hostname()}:${new URL(url).port}`;

describe('two processes on one database', () => {
  it('start at the same time with one project, which has the token of both', async () => {
    const [one, two] = await startTwo();
    expect((await one.store.access.projects()).map(({ name }) => name)).toEqual(['default']);
    for (const server of [one, two]) expect((await server.get('/v1/builds')).status).toBe(200);
  });

  it('refuse a token that the other revoked within five seconds', async () => {
    const [one, two] = await startTwo();
    expect((await two.get('/v1/builds')).status).toBe(200);
    await revokeToken(one.store.access, TOKEN, Date.now());
    expect((await one.get('/v1/builds')).status).toBe(403);
    await expect.poll(async () => (await two.get('/v1/builds')).status, { timeout: 6000, interval: 200 }).toBe(403);
  });

  it('list the keys of both, each its own first, if they sign receipts with different ones', async () => {
    const databaseUrl = await emptyDatabase();
    const folder = temporaryFolder();
    const start = (name: string) => {
      const receiptKeyFile = join(folder, name);
      writeFileSync(receiptKeyFile, generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }));
      return startServer({ databaseUrl, receiptKeyFile });
    };
    const servers = [await start('one'), await start('two')];
    const [ofOne, ofTwo] = await Promise.all(servers.map(async each => (await each.get('/v1/receipt_keys')).json.public_keys as string[]));
    expect(ofOne).toHaveLength(2);
    expect(ofTwo).toEqual(ofOne!.toReversed());
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
