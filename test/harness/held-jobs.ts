import { setImmediate as nextTurn } from 'node:timers/promises';
import { JobRunner } from '../../src/server/api/job-runner.js';
import type { Group, Task } from '../../src/server/threads/threads.js';

/** A runner whose tasks end when they are told to, with a value that a test may choose; which began, in order, and for whom. */
export function heldJobs(count: number, resultOf: (task: Task) => unknown = () => ({ json: '{}', outdated: [] })) {
  const began: Task[] = [];
  const groups: Group[] = [];
  const ends: (() => void)[] = [];
  const run = (task: Task, group: Group) => {
    began.push(task);
    groups.push(group);
    return new Promise<unknown>(resolve => ends.push(() => resolve({ value: resultOf(task) })));
  };
  const maintenance = { refresh() {}, publish: async () => {} };
  const jobs = new JobRunner({ maintenance } as never, { run, count, started: Promise.resolve(), close: async () => {} }, count);
  const end = async () => {
    await nextTurn();
    ends.shift()?.();
    await nextTurn();
  };
  return { jobs, began, groups, begun: () => nextTurn(), end };
}
