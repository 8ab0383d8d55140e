import { expect } from 'vitest';
import type { Client } from '../../../harness/client.js';
import { newestBuild, record } from '../../../harness/messages.js';
import { SharedServer, testsWith } from '../../../harness/server.js';

const shared = new SharedServer();
const it = testsWith(shared);

/** Records a build. Returns its address. */
async function recordBuild(client: Client, node_total = 2): Promise<string> {
  await record(client, { node_total });
  return `/v1/builds/${await newestBuild(client)}`;
}

const NO_ID = '00000000-0000-4000-8000-000000000000';

it.for(['minutes', 'timeline', 'forecast', 'trace', 'why', 'what_if', 'comparison'])(
  '%s of a build that another project has, or none, is not found',
  async (name, { server }) => {
    const url = `${await recordBuild(server)}/${name}`;
    const stranger = await shared.project();
    expect((await stranger.get(url)).status).toBe(404);
    // The last one is longer than a key of the store.
    for (const id of [NO_ID, 'none', 'a'.repeat(12_000)])
      expect(await server.get(`/v1/builds/${id}/${name}`)).toMatchObject({ status: 404, json: { errors: ['Could not find Build'] } });
    for (const id of [NO_ID, 'c2']) {
      const errors = [`Could not find CI run "${id}" of the build: see ci_runs in GET /v1/builds/:id`];
      expect(await server.get(`${url}?ci_run=${id}`)).toMatchObject({ status: 404, json: { errors } });
    }
    const wrong = await server.post(url, {});
    expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
  },
);

it.for([
  ['what_if?nodes=0', 'nodes'],
  ['what_if?nodes=1..65', 'nodes'],
  ['what_if?nodes=4..2', 'nodes'],
  ['what_if?nodes=1,2,', 'nodes'],
  ['what_if?nodes=1001', 'nodes'],
  ['what_if?nodes=all', 'nodes'],
  ['what_if?mode=fast', 'mode'],
  ['what_if?estimates=best', 'estimates'],
  ['what_if?start_spread=-1', 'start_spread'],
  ['what_if?pull_cost=86401', 'pull_cost'],
  ['what_if?pull_cost=NaN', 'pull_cost'],
  ['what_if?cut=none_spec.rb', 'cut'],
  [`what_if?${Array.from({ length: 21 }, (_, i) => `cut=${i}_spec.rb`).join('&')}`, 'cut'],
  ['why?node_index=2', 'node_index'],
  ['why?node_index=-1', 'node_index'],
  ['why?batch=last', 'batch'],
] as const)('%s gets a 422 for %s', async ([query, parameter], { server }) => {
  const { status, json } = await server.get(`${await recordBuild(server)}/${query}`);
  expect([status, Object.keys(json.errors[0])]).toEqual([422, [parameter]]);
});

it('a build of more nodes than can be played is not played', async ({ server }) => {
  const { status, json } = await server.get(`${await recordBuild(server, 1001)}/what_if`);
  expect([status, json.errors]).toEqual([422, ['cannot play a build of 1001 nodes again: the limit is 1000 nodes']]);
});

it('nothing was expected of a build of which only recordings are known', async ({ server }) => {
  const url = await recordBuild(server);
  const { status, json } = await server.get(`${url}/forecast`);
  expect([status, json.errors[0]]).toEqual([404, expect.stringContaining('no split and no queue of this build is known')]);
  expect((await server.get(`${url}/minutes`)).json).toMatchObject({ kind: 'recordings', ci_run_id: null });
  expect((await server.get(`${url}/why`)).json).toMatchObject({ kind: 'recordings', batches: [], batch_count: 0 });
});
