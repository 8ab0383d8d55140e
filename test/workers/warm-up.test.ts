import { expect, it } from 'vitest';
import type { Posts } from '../../src/workers/jobs.js';
import { perform } from '../../src/workers/perform.js';
import type { Prepared } from '../../src/workers/task.js';
import { warmUp } from '../../src/workers/warm-up.js';
import { memoryStore } from '../harness/memory-store.js';

it('the warm-up plans a large split and a large queue', async () => {
  const store = memoryStore();
  const setup = { tokenHeader: 'SERVICE-TEST-SUITE-TOKEN', pullCost: 0 };
  const planned: [job: string, files: number | undefined][] = [];
  await warmUp(async task => {
    const answer = await perform(store, setup, task);
    if (!('value' in answer)) throw new Error(JSON.stringify(answer.error));
    const value = answer.value as Prepared<keyof Posts>;
    planned.push([task.job, value.list?.columns.ends.length]);
    return value;
  });
  expect(planned).toEqual([
    ['prepareSplit', 5000],
    ['prepareQueue', 5000],
  ]);
  await expect(perform(store, setup, { kind: 'warm-up' })).resolves.toEqual({ value: undefined });
});
