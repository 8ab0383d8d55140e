import { expect, it } from 'vitest';
import { perform, WARM_UP, warmUpBodies } from '../../src/api/jobs.js';
import { memoryStore } from '../harness/memory-store.js';

it('the warm-up plans a large split and a large queue', async () => {
  const store = memoryStore();
  const settings = { tokenHeader: 'SERVICE-TEST-SUITE-TOKEN', pullCost: 0 };
  const planned: unknown[] = [];
  for (const [job, input] of warmUpBodies()) {
    const answer = await perform(store, settings, { job, input });
    planned.push([job, answer]);
  }
  const prepared = { prepared: { planned: { plan: { list: { test_files: 5000 } } } } };
  expect(planned).toMatchObject([
    ['prepareSplit', { value: prepared }],
    ['prepareQueue', { value: prepared }],
  ]);
  expect(await perform(store, settings, WARM_UP)).toEqual({ value: null });
});
