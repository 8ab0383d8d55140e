import { beforeAll, describe, expect, it } from 'vitest';
import type { FlakyAnswer } from '../../src/protocol/answers/flaky.js';
import { Clock } from '../harness/clock.js';
import { manyPaths, record, startSplit } from '../harness/messages.js';
import { type ProjectClient, SharedServer } from '../harness/server.js';

const DAY = 86_400_000;
const DAYS = 45;
const SUITE = manyPaths(40);
const clock = new Clock();
const shared = new SharedServer({}, { now: clock.now });

/** A CI run of one node, as its requests tell it. Times are milliseconds since 1970. */
interface CiRun {
  commit_hash: string;
  began: number;
  ended: number;
  /** What each file took. */
  seconds: number;
  failed: readonly string[];
}

async function play(client: ProjectClient, commit_hash: string, ci_build_id: string, failed: readonly string[]): Promise<CiRun> {
  const began = clock.millis;
  const seconds = 1 + (began % 7);
  const build = { commit_hash, branch: `branch ${commit_hash.length % 3}`, node_total: 1, ci_build_id };
  await startSplit(client, SUITE, { ...build, fixed_test_suite_split: false, tree: 'a'.repeat(40), proof_keys: [] });
  await shared.service.nodesNoted();
  clock.advance({ seconds: seconds * SUITE.length });
  const outcome = (path: string) => (failed.includes(path) ? 'failed' : 'passed');
  const test_files = SUITE.map(path => ({ path, time_execution: seconds, outcome: outcome(path) }));
  await record(client, { ...build, tells_outcomes: true, test_files });
  return { commit_hash, began, ended: clock.millis, seconds, failed };
}

/** What flaky files cost in the builds of which the newest CI run began at a time or later, as the guide defines it. */
function costSince(from: number, ciRuns: readonly CiRun[]) {
  const cost = { builds: 0, seconds: 0, later: 0 };
  for (const commit of new Set(ciRuns.map(({ commit_hash }) => commit_hash))) {
    const own = ciRuns.filter(({ commit_hash }) => commit_hash === commit);
    if (own.at(-1)!.began < from) continue;
    const isFlaky = (path: string) => own.some(({ failed }) => failed.includes(path)) && own.some(({ failed }) => !failed.includes(path));
    if (SUITE.some(isFlaky)) cost.builds += 1;
    for (const [i, { failed, ended }] of own.entries()) {
      const next = own[i + 1];
      if (!next || failed.length === 0 || !failed.every(isFlaky)) continue;
      cost.seconds += next.seconds * SUITE.length;
      cost.later += (next.ended - ended) / 1000;
    }
  }
  return cost;
}

describe('a project whose builds were run again because of flaky files', () => {
  let client: ProjectClient;
  const ciRuns: CiRun[] = [];

  beforeAll(async () => {
    client = await shared.project();
    for (let day = 0; day < DAYS; day++) {
      clock.millis = DAY * (Math.floor(clock.millis / DAY) + 1) + 1000 * day;
      for (let run = 0; run <= day % 4; run++) {
        // One that fails each time is not flaky, and explains why the CI run was started again.
        const always = day % 5 === 0 ? SUITE.slice(-1) : [];
        const once = run < day % 3 ? SUITE.slice(day % 10, (day % 10) + 1 + (day % 2)) : [];
        ciRuns.push(await play(client, 'c'.repeat(day + 1), `${day} ${run}`, [...always, ...once]));
        clock.advance({ seconds: 60 * (1 + day) });
      }
      await shared.summarize();
    }
  }, 120_000);

  it.each([1, 7, 30, 400])('is told what they cost in the last days: %i', async days => {
    const today = Math.floor(clock.millis / DAY);
    const truth = costSince(DAY * (today - days + 1), ciRuns);
    const { recent } = (await client.get(`/v1/flaky?days=${days}`)).json as FlakyAnswer;
    const close = (seconds: number) => expect.closeTo(seconds, 2) as number;
    expect(recent).toEqual({ days, builds: truth.builds, seconds: close(truth.seconds), later: close(truth.later) });
    if (days > 1) expect(Math.min(...Object.values(truth))).toBeGreaterThan(0);
  });

  it('is told of all days what its files cost together', async () => {
    const { recent, files } = (await client.get('/v1/flaky?days=400')).json as FlakyAnswer;
    const sumOf = (name: 'seconds' | 'later') => files.reduce((sum, file) => sum + file[name], 0);
    expect([sumOf('seconds'), sumOf('later')]).toEqual([expect.closeTo(recent.seconds, 2), expect.closeTo(recent.later, 2)]);
  });

  it('has those of the last 30 days if none are asked for', async () => {
    const [asked, unasked] = await Promise.all(['?days=30', ''].map(async query => (await client.get(`/v1/flaky${query}`)).json.recent));
    expect(unasked).toEqual(asked);
  });
});
