import { describe, expect } from 'vitest';
import { Clock } from '../../harness/clock.js';
import { buildKey, manyPaths, record, timedTestFiles, uuidPattern } from '../../harness/messages.js';
import { recordRun } from '../../harness/recording.js';
import { SharedServer, startServer, testsWith } from '../../harness/server.js';

const clock = new Clock();
const shared = new SharedServer({}, { now: clock.now });
const it = testsWith(shared);

it('a large build is streamed without a length, and HEAD has no body', async ({ server }) => {
  const runs = [0, 1].map(node_index => ({
    node_index,
    test_files: timedTestFiles(Object.fromEntries(manyPaths(5000).map((path, i) => [path, i / 7]))),
  }));
  for (const run of runs) await record(server, run);
  const [build] = (await server.get('/v1/builds')).json.data;
  const url = `/v1/builds/${build.id}`;
  const { status, headers, json } = await server.get(url);
  expect([status, headers.get('content-type'), headers.get('content-length')]).toEqual([200, 'application/json', null]);
  const { build_subsets, ...head } = json;
  expect(head).toEqual({ ...build, ci_runs: [] });
  for (const run of runs)
    expect(build_subsets.find(({ node_index }: any) => node_index === run.node_index).test_files).toEqual(run.test_files);
  const asked = await server.send(url, { method: 'HEAD', headers: { 'SERVICE-TEST-SUITE-TOKEN': server.token } });
  expect({ status: asked.status, text: asked.text }).toEqual({ status: 200, text: '' });
});

/** Numbers on a page in the middle of three. */
const metaOf = (current_page: number, prev_page: number | null, next_page: number | null) => ({
  ...{ records_per_page: 100, total_pages: 3, current_page, prev_page, next_page },
  ...{ is_first_page: false, is_last_page: false, is_page_out_of_range: false },
});

describe('GET /builds', () => {
  it('has one empty page while nothing is recorded', async ({ server }) => {
    const only = `${server.url}/v1/builds?page=1`;
    expect((await server.get('/v1/builds')).json).toEqual({
      meta: { ...metaOf(1, null, null), total_pages: 0, is_first_page: true, is_last_page: true },
      links: { first: only, prev: null, self: only, next: null, last: only },
      data: [],
    });
  });

  it('lists builds newest first, without their subsets', async ({ server }) => {
    const times = [0, 1, 1001].map(milliseconds => new Date(clock.millis + milliseconds).toISOString());
    await record(server);
    clock.advance({ milliseconds: 1 });
    await record(server, { commit_hash: 'next', node_total: 3 });
    clock.advance({ seconds: 1 });
    await record(server, { node_index: 1 });
    const { meta, data } = (await server.get('/v1/builds')).json;
    expect(meta).toMatchObject({ total_pages: 1, current_page: 1, is_page_out_of_range: false });
    const id = expect.stringMatching(uuidPattern);
    expect(data).toEqual([
      { id, commit_hash: 'next', branch: 'main', node_total: 3, created_at: times[1], updated_at: times[1] },
      { id, ...buildKey, created_at: times[0], updated_at: times[2] },
    ]);
  });

  it('has 100 builds on a page, with links to the others', async ({ server }) => {
    const node = (i: number) => ({ commit_hash: `commit-${i}`, branch: 'main', node_total: 1, node_index: 0 });
    await Promise.all(Array.from({ length: 201 }, (_, i) => recordRun(shared.store, server.id, node(i), [], clock.millis)));
    const page = async (number: number) => (await server.get(`/v1/builds?page=${number}`)).json;
    const link = (number: number) => `${server.url}/v1/builds?page=${number}`;
    const pages = [await page(1), await page(2), await page(3)];

    expect(pages.map(({ data }) => data.length)).toEqual([100, 100, 1]);
    expect(new Set(pages.flatMap(({ data }) => data.map(({ id }: any) => id))).size).toBe(201);
    const ends = { first: link(1), last: link(3) };
    expect(pages.map(({ meta, links }) => ({ meta, links }))).toEqual([
      {
        meta: { ...metaOf(1, null, 2), is_first_page: true },
        links: { ...ends, prev: null, self: link(1), next: link(2) },
      },
      {
        meta: metaOf(2, 1, 3),
        links: { ...ends, prev: link(1), self: link(2), next: link(3) },
      },
      {
        meta: { ...metaOf(3, 2, null), is_last_page: true },
        links: { ...ends, prev: link(2), self: link(3), next: null },
      },
    ]);
    const beyond = await page(9);
    expect(beyond.data).toEqual([]);
    expect(beyond.meta).toEqual({ ...metaOf(9, 3, null), is_page_out_of_range: true });
  });

  it('combines filters, which the links keep in a fixed order', async ({ server }) => {
    for (const commit_hash of ['c1', 'c2']) {
      for (const branch of ['main', 'topic/größe & more']) {
        for (const node_total of [2, 3]) await record(server, { commit_hash, branch, node_total });
      }
    }
    const list = (filter: Record<string, string>) => server.get(`/v1/builds?${new URLSearchParams(filter).toString()}`);
    const branch = 'topic/größe & more';
    for (const [filter, count] of [
      [{}, 8],
      [{ commit_hash: 'c1' }, 4],
      [{ branch }, 4],
      [{ node_total: '3' }, 4],
      [{ commit_hash: 'c1', branch, node_total: '3' }, 1],
      [{ commit_hash: 'c1', branch: 'mai' }, 0],
    ] as const) {
      const { data, meta } = (await list(filter)).json;
      expect(data).toHaveLength(count);
      expect(meta.total_pages).toBe(count === 0 ? 0 : 1);
      const wanted = { ...filter, ...('node_total' in filter && { node_total: Number(filter.node_total) }) };
      for (const build of data) expect(build).toMatchObject(wanted);
    }
    const { links, meta } = (await list({ page: '1', node_total: '3', commit_hash: 'c1', branch, x: 'y' })).json;
    expect(meta.total_pages).toBe(1);
    expect(links.self).toBe(`${server.url}/v1/builds?branch=topic%2Fgr%C3%B6%C3%9Fe+%26+more&commit_hash=c1&node_total=3&page=1`);
    expect((await server.get(links.self.slice(server.url.length))).json.data).toHaveLength(1);
  });

  it('has links with the public address if one is set', async () => {
    const server = await startServer({ publicUrl: 'https://ballast.example.com/ci/' });
    expect((await server.get('/v1/builds')).json.links.first).toBe('https://ballast.example.com/ci/v1/builds?page=1');
  });
});

describe('GET /builds/:id', () => {
  it('has all runs of the build, newest first, not grouped by node', async ({ server }) => {
    for (const [node_index, seconds] of [
      [1, 1],
      [0, 2],
      [1, 3],
    ] as const) {
      await record(server, { node_index, test_files: timedTestFiles({ 'a_spec.rb': seconds }) });
      clock.advance({ seconds: 60 });
    }
    const [build] = (await server.get('/v1/builds')).json.data;
    const reply = await server.get(`/v1/builds/${build.id}`);
    expect(reply.status).toBe(200);
    const run = (node_index: number, seconds: number) => {
      const at = new Date(clock.millis - (4 - seconds) * 60_000).toISOString();
      const test_files = timedTestFiles({ 'a_spec.rb': seconds });
      return { id: expect.stringMatching(uuidPattern), node_index, created_at: at, updated_at: at, test_files };
    };
    expect(reply.json).toEqual({ ...build, ci_runs: [], build_subsets: [run(1, 3), run(0, 2), run(1, 1)] });
  });

  it('is a 404 for any other id', async ({ server }) => {
    await record(server);
    for (const id of ['00000000-0000-4000-8000-000000000000', '1', 'last', '%00', 'x'.repeat(5000)])
      expect(await server.get(`/v1/builds/${id}`), id).toMatchObject({ status: 404, json: { errors: ['Could not find Build'] } });
  });
});
