import { setImmediate as nextTurn } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { limits } from '../../src/limits.js';
import { WorkerPool } from '../../src/workers/pool.js';
import type { Task, TaskAnswer } from '../../src/workers/task.js';

const stays = () => false;

/** A pool with two threads, whose tasks end when they are told to; which began, in order. */
function pool() {
  const began: Task[] = [];
  const ends: (() => void)[] = [];
  const run = (task: Task) => {
    began.push(task);
    return new Promise<TaskAnswer>(resolve => ends.push(() => resolve({ value: { json: '{}', outdated: [] } })));
  };
  const store = { maintenance: { refresh() {}, publishTimings: async () => {} } };
  const workers = new WorkerPool(store as never, { run, threads: 2, close: async () => {} }, 3);
  const history = (project: number, path = 'a_test.rb') => workers.trend('fileHistory', { project, branch: 'main', path }, stays);
  const split = () => workers.post({ kind: 'post', job: 'prepareSplit', body: [], project: 1 }, 1, stays);
  const end = async () => {
    ends.shift()!();
    await nextTurn();
  };
  return { history, split, began, end };
}

describe('many requests for trends', () => {
  it('are read one at a time, so that a large suite of the same project begins at once', async () => {
    const { history, split, began, end } = pool();
    const all: Promise<unknown>[] = Array.from({ length: 64 }, () => history(1));
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
    const all = [history(1), history(1), history(1), history(2)];
    for (let i = 0; i < all.length; i++) await nextTurn().then(end);
    await Promise.all(all);
    expect(began.map(task => task.kind === 'read' && (task.subject as { project: number }).project)).toEqual([1, 1, 2, 1]);
  });

  it('get a 503 when too many of their project wait', async () => {
    const { history } = pool();
    for (let i = 0; i <= limits.waitingInsightsPerProject; i++) void history(1);
    await expect(history(1)).rejects.toMatchObject({ status: 503, reason: 'jobs' });
  });
});
