import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import type { Build } from '../../src/engine/ports/builds.js';
import { limits } from '../../src/limits.js';
import type { Asker } from '../../src/workers/asker.js';
import { WorkerPool } from '../../src/workers/pool.js';
import type { Lane, Task, TaskAnswer } from '../../src/workers/task.js';
import { jobOf, pageOf } from '../harness/asker.js';

/** A pool with two threads, whose tasks end when they are told to; which began, in order. */
function pool() {
  const began: Task[] = [];
  const ends: (() => void)[] = [];
  const lanes: Lane[] = [];
  const run = (task: Task, _: ArrayBuffer[], lane: Lane) => {
    began.push(task);
    lanes.push(lane);
    return new Promise<TaskAnswer>(resolve => ends.push(() => resolve({ value: { json: '{}', outdated: [] } })));
  };
  const store = { maintenance: { refresh() {}, publishRuns() {}, publishTimings: async () => {} } };
  const workers = new WorkerPool(store as never, { run, threads: 2, close: async () => {} }, 3);
  const history = (asker: Asker) => workers.trend('fileHistory', { project: asker.project, branch: 'main', path: 'a_test.rb' }, asker);
  const split = () => workers.post({ kind: 'post', job: 'prepareSplit', body: [], project: 1 }, 1, () => false);
  const end = async () => {
    ends.shift()!();
    await nextTurn();
  };
  return { workers, history, split, began, lanes, end };
}

it('what people read has a thread of its own, and what CI jobs wait for has the others', async () => {
  const { workers, history, split, lanes, end } = pool();
  const build = { number: 1, test_files: limits.pooledTestFiles, subsets: 1 } as Build;
  const all: Promise<unknown>[] = [
    history(jobOf(1)),
    workers.summary(build, 0),
    workers.distribution(build, pageOf(1)),
    split(),
    workers.distribution(build, jobOf(1)),
  ];
  for (const _ of all) {
    await nextTurn();
    await end();
  }
  await Promise.all(all);
  expect(lanes.filter(lane => lane === 'people')).toHaveLength(3);
  expect(lanes.filter(lane => lane === 'nodes')).toHaveLength(2);
});

describe('many requests for trends', () => {
  it('are read one at a time, so that a large suite of the same project begins at once', async () => {
    const { history, split, began, end } = pool();
    const all: Promise<unknown>[] = Array.from({ length: 64 }, () => history(jobOf(1)));
    await nextTurn();
    expect(began).toHaveLength(1);
    all.push(split());
    await nextTurn();
    expect(began.map(({ kind }) => kind)).toEqual(['read', 'post']);
    for (let i = 0; i < all.length; i++) await end();
    await Promise.all(all);
  });

  it('alternate between projects', async () => {
    const { history, began, end } = pool();
    const all = [history(jobOf(1)), history(jobOf(1)), history(jobOf(1)), history(jobOf(2))];
    for (let i = 0; i < all.length; i++) await nextTurn().then(end);
    await Promise.all(all);
    expect(began.map(task => task.kind === 'read' && (task.subject as { project: number }).project)).toEqual([1, 1, 2, 1]);
  });

  it('get a 503 when too many of their project wait', async () => {
    const { history } = pool();
    for (let i = 0; i <= limits.waitingInsightsPerProject; i++) void history(jobOf(1));
    await expect(history(jobOf(1))).rejects.toMatchObject({ status: 503, reason: 'jobs' });
  });

  it('of pages get a 429 when too many wait, and take no place of CI jobs', async () => {
    const { history, began, end } = pool();
    for (let i = 0; i <= limits.waitingPagesPerProject; i++) void history(pageOf(1));
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
