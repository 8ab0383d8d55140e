import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { limits } from '../../../src/protocol/limits.js';
import type { Asker } from '../../../src/server/api/job-runner.js';
import {
  LARGE_BODY_BYTES,
  WAITING_INSIGHTS_PER_PROJECT,
  WAITING_JOBS_PER_PROJECT,
  WAITING_PAGES_PER_PROJECT,
} from '../../../src/server/api/job-runner.js';
import type { Build } from '../../../src/server/engine/ports/builds.js';
import { POOLED_TEST_FILES } from '../../../src/server/engine/suites/plan-suite.js';
import { jobOf, pageOf } from '../../harness/asker.js';
import { heldJobs } from '../../harness/held-jobs.js';

const build = (project: number) => ({ project, number: 1, test_files: POOLED_TEST_FILES, subsets: 1 }) as Build;

const THREADS = 2;
/** One more waits for the main thread. */
const AT_ONCE = THREADS + 1;

/** A runner with some threads, and what it is asked for. */
function runner() {
  const held = heldJobs(THREADS);
  const { jobs } = held;
  const asked = { branch: 'main', path: 'a_test.rb', now: 0 };
  const history = (asker: Asker) => jobs.read('fileHistory', { project: asker.project, ...asked }, asker);
  const split = () => jobs.post('prepareSplit', { body: [], project: 1, at: 0 }, 1, () => false);
  return { ...held, history, split };
}

it('what people read has a thread of its own, and what CI jobs wait for has the others', async () => {
  const { jobs, history, split, groups, end } = runner();
  const all: Promise<unknown>[] = [
    history(jobOf(1)),
    jobs.read('buildSummary', { build: build(1), at: 0 }, jobOf(1)),
    jobs.read('recordedDistribution', build(1), pageOf(1)),
    split(),
    jobs.read('recordedDistribution', build(1), jobOf(1)),
  ];
  for (const _ of all) {
    await nextTurn();
    await end();
  }
  await Promise.all(all);
  expect(groups.filter(group => group === 'people')).toHaveLength(3);
  expect(groups.filter(group => group === 'nodes')).toHaveLength(2);
});

it('large suites get a 503 when too many of their project wait, and those that wait are prepared', async () => {
  const { split, end } = runner();
  const all = Array.from({ length: AT_ONCE + WAITING_JOBS_PER_PROJECT }, split);
  await nextTurn();
  const headers = { 'Retry-After': String(limits.retryAfterSeconds) };
  await expect(split()).rejects.toMatchObject({ status: 503, reason: 'jobs', headers });
  for (const _ of all) await end();
  await Promise.all(all);
});

it('large bodies leave a thread to smaller ones', async () => {
  const { jobs, split, began, end } = runner();
  const record = () => jobs.post('prepareSubset', { body: [new Uint8Array(LARGE_BODY_BYTES)], project: 2, at: 0 }, 2, () => false);
  const all: Promise<unknown>[] = [record(), record(), record()];
  await nextTurn();
  all.push(split());
  await nextTurn();
  expect(began.map(({ job }) => job)).toEqual(['prepareSubset', 'prepareSplit']);
  for (let i = 0; i < all.length; i++) await nextTurn().then(end);
  await Promise.all(all);
});

describe('many requests for trends', () => {
  it('are read one at a time, so that a large suite of the same project begins at once', async () => {
    const { history, split, began, end } = runner();
    const all: Promise<unknown>[] = Array.from({ length: 64 }, () => history(jobOf(1)));
    await nextTurn();
    expect(began).toHaveLength(1);
    all.push(split());
    await nextTurn();
    expect(began.map(({ job }) => job)).toEqual(['fileHistory', 'prepareSplit']);
    for (let i = 0; i < all.length; i++) await end();
    await Promise.all(all);
  });

  it('alternate between projects', async () => {
    const { history, began, end } = runner();
    const all = [history(jobOf(1)), history(jobOf(1)), history(jobOf(1)), history(jobOf(2))];
    for (let i = 0; i < all.length; i++) await nextTurn().then(end);
    await Promise.all(all);
    expect(began.map(({ input }) => (input as { project: number }).project)).toEqual([1, 1, 2, 1]);
  });

  it('get a 503 when too many of their project wait', async () => {
    const { history } = runner();
    for (let i = 0; i <= WAITING_INSIGHTS_PER_PROJECT; i++) void history(jobOf(1));
    await expect(history(jobOf(1))).rejects.toMatchObject({ status: 503, reason: 'jobs' });
  });

  it('of pages get a 429 when too many wait, and take no place of CI jobs', async () => {
    const { history, began, end } = runner();
    for (let i = 0; i <= WAITING_PAGES_PER_PROJECT; i++) void history(pageOf(1));
    await expect(history(pageOf(1))).rejects.toMatchObject({
      status: 429,
      headers: { 'Retry-After': String(limits.retryAfterSeconds) },
      errors: ['too much is asked for by pages of this project: too many pages of builds are read at once; try again in 2 seconds'],
    });
    const job = history(jobOf(1));
    for (let i = 0; i < 3; i++) await nextTurn().then(end);
    await job;
    expect(began).toHaveLength(4);
  });
});
