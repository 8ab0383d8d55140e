import { expect, it } from 'vitest';
import { createProject } from '../../../src/server/engine/access.js';
import { Client } from '../../harness/client.js';
import { Clock } from '../../harness/clock.js';
import {
  buildKey,
  initialise,
  manyPaths,
  pull,
  readSplit,
  record,
  startSplit,
  subsetMessage,
  timedTestFiles,
} from '../../harness/messages.js';
import { startServer } from '../../harness/server.js';

const PATHS = manyPaths(40);

it('a project that has stored its bytes of the day gets a 507, and its queues go on', async () => {
  const clock = new Clock();
  const server = await startServer({ dailyBytesPerProject: '2500' }, clock.now);
  const queue = (node_build_id: string, node_index = 0) => ({ ...buildKey, node_build_id, node_index });
  expect((await initialise(server, PATHS, queue('1'))).status).toBe(200);
  await record(server, { test_files: timedTestFiles(Object.fromEntries(PATHS.map(path => [path, 1]))) });
  // The same list again stores nothing.
  for (let again = 0; again < 5; again++) expect((await initialise(server, PATHS, queue('1', 1))).status).toBe(200);
  expect((await startSplit(server, PATHS)).status).toBe(200);
  const refused = { status: 507, json: { errors: [expect.stringContaining('this project has stored 2500 bytes today') as string] } };
  expect(await initialise(server, PATHS, queue('2'))).toMatchObject(refused);
  expect(await startSplit(server, PATHS, { commit_hash: 'other' })).toMatchObject(refused);
  expect(await server.post('/v1/build_subsets', subsetMessage())).toMatchObject(refused);
  const other = new Client(server.url, (await createProject(server.store.access, 'other', clock.millis)).token);
  expect((await initialise(other, PATHS, queue('2'))).status).toBe(200);
  expect((await pull(server, queue('1'))).status).toBe(200);
  expect((await readSplit(server)).status).toBe(200);
  expect((await server.get('/metrics')).text).toContain('ballast_full_projects 1');
  clock.advance({ days: 1 });
  expect((await initialise(server, PATHS, queue('2'))).status).toBe(200);
});
