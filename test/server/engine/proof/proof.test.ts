import fc from 'fast-check';
import { expect, it } from 'vitest';
import { digestOfList } from '../../../../src/protocol/list-digest.js';
import { createProject } from '../../../../src/server/engine/access.js';
import { Client } from '../../../harness/client.js';
import { Clock } from '../../../harness/clock.js';
import { copiedStore, isOnDisk, startServer } from '../../../harness/server.js';
import { memoryFolder } from '../../../harness/temporary-folder.js';
import { type Asked, isJustified } from './justified.js';
import { KEYS, LIST, type Played, play, situation, TREE } from './random-ci-runs.js';

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
  const start = (dataDir: string) => startServer({ logLevel: 'silent', dataDir }, clock.now, clock.now);
  let server = await start(memoryFolder());
  let projects = 0;
  const holds = fc.asyncProperty(situation, async drawn => {
    const { token } = await createProject(server.store.access, `project ${projects++}`, clock.now());
    const client = new Client(server.url, token);
    const restart = async (dataDir: string) => {
      server = await start(dataDir);
      Object.assign(client, { url: server.url });
    };
    let backup = '';
    const operator = {
      async sumUp() {
        await server.service.nodesNoted();
        await server.service.summarize();
      },
      async backUp() {
        await server.close();
        backup = await copiedStore(server.dataDir);
        await restart(server.dataDir);
      },
      async restore() {
        await server.close();
        await restart(backup);
      },
    };
    const played = await play(client, clock, drawn, operator);
    await server.service.nodesNoted();
    const questions = [false, true].map((flakyPasses): Asked => {
      return { tree: TREE, keys: KEYS, list: LIST, since: clock.now() - 1000 * WEEK, flakyPasses };
    });
    const answers = [];
    for (const asked of questions) answers.push(await ask(client, asked));
    await operator.sumUp();
    for (const [i, asked] of questions.entries()) {
      const answer = answers[i]!;
      const { is_proved, reason, ci_run } = answer;
      expect(await ask(client, asked)).toEqual(answer);
      const mayProve = played.some(one => isJustified(one, asked, played));
      const isGood = ({ isFaultless, sent }: Played) => isFaultless && sent.every(one => one.is !== 'begun' || one.at > asked.since);
      // What it left out may fail later in another one.
      const mustProve = played.some(one => isGood(one) && (!one.leavesOut || played.every(isGood)));
      if (is_proved && !mayProve) throw new Error(`proved by ${JSON.stringify(ci_run)}`);
      if (is_proved) expect(ci_run.test_files).toBe(LIST.length);
      if (!is_proved && mustProve) throw new Error(`not proved: ${reason}`);
    }
  });
  await fc.assert(holds, { numRuns: isOnDisk ? 30 : 6 });
});
