import fc from 'fast-check';
import { expect, it } from 'vitest';
import { digestOfList } from '../../../../src/protocol/list-digest.js';
import { createProject } from '../../../../src/server/engine/access.js';
import { Client } from '../../../harness/client.js';
import { Clock } from '../../../harness/clock.js';
import { startServer } from '../../../harness/server.js';
import { type Asked, isJustified } from './justified.js';
import { KEYS, LIST, play, situation, TREE } from './random-ci-runs.js';

const WEEK = 604_800;

async function ask(client: Client, { tree, keys, list, flakyPasses }: Asked) {
  const query = new URLSearchParams({ tree, test_files_digest: digestOfList(list), proof_keys: keys.join(), max_age: String(WEEK) });
  query.set('flaky_passes', String(flakyPasses));
  const { status, json } = await client.get(`/v1/proofs?${query.toString()}`);
  expect(status).toBe(200);
  return json;
}

it('proves only what random CI runs justify, and each one in which nothing went wrong', { timeout: 60_000 }, async () => {
  const clock = new Clock();
  const server = await startServer({ logLevel: 'silent' }, clock.now, clock.now);
  let projects = 0;
  const holds = fc.asyncProperty(situation, async drawn => {
    const { token } = await createProject(server.store.access, `project ${projects++}`, clock.now());
    const client = new Client(server.url, token);
    const played = await play(client, clock, drawn);
    await server.service.nodesNoted();
    for (const flakyPasses of [false, true]) {
      const asked: Asked = { tree: TREE, keys: KEYS, list: LIST, since: clock.now() - 1000 * WEEK, flakyPasses };
      const { is_proved, reason, ci_run } = await ask(client, asked);
      const mayProve = played.some(({ id, sent }) => isJustified(id, sent, asked));
      const mustProve = played.some(({ isFaultless, sent }) => isFaultless && sent.some(one => one.is === 'begun' && one.at > asked.since));
      if (is_proved && !mayProve) throw new Error(`proved by ${JSON.stringify(ci_run)}`);
      if (!is_proved && mustProve) throw new Error(`not proved: ${reason}`);
    }
  });
  await fc.assert(holds, { numRuns: 30 });
});
