import { expect } from 'vitest';
import { limits } from '../../../src/protocol/limits.js';
import { changeSettings } from '../../../src/server/engine/access.js';
import type { Client } from '../../harness/client.js';
import { buildKey, connect, newestBuild, readSplit, record, startSplit, testQueueMessage } from '../../harness/messages.js';
import { SharedServer, testsWith } from '../../harness/server.js';

const shared = new SharedServer();
const it = testsWith(shared);

const PATHS = ['a_spec.rb', 'b_spec.rb', 'c_spec.rb', 'd_spec.rb'];

/** Templates of a project. */
const OWN = {
  job_url: 'https://own.example.com/{ci_run}',
  commit_url: 'https://own.example.com/{commit}',
  diff_url: 'https://own.example.com/{before}/{commit}',
};

const LINKS = {
  job_url: 'https://ci.example.com/jobs/0',
  commit_url: 'https://git.example.com/commit/{commit}',
  diff_url: 'https://git.example.com/compare/{before}...{commit}',
};

const first = (server: Client, more: object) =>
  server.post('/v2/queues/queue', testQueueMessage({ can_initialize_queue: true, attempt_connect_to_queue: true, ...more }));
const initialise = (server: Client, more: object = {}) => first(server, { attempt_connect_to_queue: false, paths: PATHS, ...more });

/** The addresses of the newest CI run. */
async function linksOf(server: Client & { id: number }) {
  await shared.service.nodesNoted();
  const [run] = await shared.store.ciRuns.list(server.id, Number.MAX_SAFE_INTEGER, 1);
  const { commit_url, diff_url, previous, nodes } = (await server.get(`/v1/builds/${run!.id}/minutes`)).json;
  return { commit_url, diff_url, previous, jobs: nodes.map(({ job_url }: any) => job_url) };
}

it('the nodes of a queue send the addresses of their jobs, of the commit and of the change since the build before', async ({ server }) => {
  await record(server, { commit_hash: 'c0' });
  const before = await newestBuild(server);
  await record(server, { node_total: 5 });
  await first(server, LINKS);
  expect((await initialise(server, LINKS)).json.paths).not.toEqual([]);
  await first(server, {
    node_index: 1,
    ...LINKS,
    job_url: 'https://ci.example.com/jobs/1',
    commit_url: 'https://other.example.com/{commit}',
  });
  expect(await linksOf(server)).toEqual({
    commit_url: 'https://git.example.com/commit/c0ffee1',
    diff_url: 'https://git.example.com/compare/c0...c0ffee1',
    previous: { build_id: before, commit_hash: 'c0' },
    jobs: ['https://ci.example.com/jobs/0', 'https://ci.example.com/jobs/1'],
  });
});

it('a node that is retried has the address of its last job, and a later pull sends none', async ({ server }) => {
  const { batch_id } = (await initialise(server, LINKS)).json;
  await first(server, { node_uuid: 'retried', ...LINKS, job_url: 'https://ci.example.com/jobs/9' });
  const later = { batch_index: 1, batch_id, ...LINKS, job_url: 'https://ci.example.com/later' };
  expect((await server.post('/v2/queues/queue', testQueueMessage(later))).status).toBe(200);
  expect((await linksOf(server)).jobs).toEqual(['https://ci.example.com/jobs/9', null]);
});

it('the nodes of a split send addresses likewise, and each CI run has its own', async ({ server }) => {
  await startSplit(server, PATHS, { ...LINKS });
  expect((await linksOf(server)).jobs).toEqual([LINKS.job_url, null]);
  await readSplit(server, { node_index: 1, ci_build_id: '101', job_url: 'https://ci.example.com/101' });
  const second = { commit_url: null, diff_url: null, previous: null, jobs: [null, 'https://ci.example.com/101'] };
  expect(await linksOf(server)).toEqual(second);
});

it('an address that cannot be used is ignored', async ({ server }) => {
  const unusable: unknown[] = [
    ...['', 'jobs/0', 'javascript:alert(1)', 'https://me:secret@ci.example.com/', 'https://ci.example.com/{ci_run}', 'https://ci/\0'],
    ...[`https://ci.example.com/${'a'.repeat(limits.linkMaxCharacters)}`, null, 7, {}, ['https://ci.example.com/']],
  ];
  for (const [i, job_url] of unusable.entries()) {
    const links = { job_url, commit_url: job_url, diff_url: job_url };
    const { status, json } = await initialise(server, { test_queue_id: `${i}`, ...links });
    expect([status, json.paths.length > 0]).toEqual([200, true]);
    expect((await startSplit(server, PATHS, { commit_hash: `c${i}`, ...links })).status).toBe(200);
  }
  await shared.service.nodesNoted();
  for (const { id, links } of await shared.store.ciRuns.list(server.id, Number.MAX_SAFE_INTEGER, 100))
    expect([links, (await shared.store.ciRuns.nodes(id)).filter(({ job_url }) => job_url !== null)]).toEqual([undefined, []]);
});

it('the templates of a project win over what nodes send, and serve all other clients', async ({ server }) => {
  const branch = 'fix/../größe';
  await record(server, { branch, commit_hash: 'c0' });
  await connect(server);
  await startSplit(server, PATHS, { branch, ci_build_id: 'a b', ...LINKS });
  await changeSettings(shared.store.access, server.id, {
    ...OWN,
    job_url: 'https://own.example.com/{ci_run}/{node_index}/{branch}/{commit}',
  });
  expect(await linksOf(server)).toMatchObject({
    commit_url: 'https://own.example.com/c0ffee1',
    diff_url: 'https://own.example.com/c0/c0ffee1',
    jobs: [0, 1].map(node => `https://own.example.com/a%20b/${node}/fix%2F..%2Fgr%C3%B6%C3%9Fe/c0ffee1`),
  });
  await changeSettings(shared.store.access, server.id, { job_url: '', diff_url: '' });
  expect(await linksOf(server)).toMatchObject({
    commit_url: 'https://own.example.com/c0ffee1',
    diff_url: 'https://git.example.com/compare/c0...c0ffee1',
    jobs: [LINKS.job_url, null],
  });
});

it('a build of which only recordings are known has the addresses of its commit by the templates of its project', async ({ server }) => {
  await changeSettings(shared.store.access, server.id, OWN);
  await record(server, { commit_hash: '..' });
  const of = async (commit_hash: string) =>
    (await server.get(`/v1/builds/${await newestBuild(server, `?commit_hash=${commit_hash}`)}/minutes`)).json;
  expect(await of('..')).toMatchObject({ commit_url: null, diff_url: null, previous: null, nodes: [{ job_url: null }, { job_url: null }] });
  await record(server, { ...buildKey });
  // The commit before has no page.
  expect(await of(buildKey.commit_hash)).toMatchObject({
    ...{ commit_url: 'https://own.example.com/c0ffee1', diff_url: null },
    previous: { commit_hash: '..' },
  });
});
