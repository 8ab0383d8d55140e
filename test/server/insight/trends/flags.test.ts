import { expect, it } from 'vitest';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import { flagsOf } from '../../../../src/server/insight/trends/flags.js';
import { memoryStore } from '../../../harness/memory-store.js';
import { buildsOf, NOW, newProject, record, summaryOf } from '../../store/contract/fixtures.js';

const SUBJECT = { branch: 'main', node_total: 2, events: ['file_grew', 'runner_slow'] as const };

/** Records a build for each of these times of a file. */
async function recordTimes(store: Store, project: number, path: string, seconds: readonly number[], from = 0): Promise<void> {
  for (const [i, time] of seconds.entries())
    await record(store, project, { [path]: time, 'steady.rb': 30 }, { commit_hash: `c${from + i}`, node_total: 2, at: NOW + from + i });
}

const times = (count: number, seconds: number) => Array.from({ length: count }, () => seconds);

it('a file grew when it takes 10 s and 20 % longer in the newest builds', async () => {
  const grownOf = async (seconds: readonly number[]) => {
    const store = memoryStore();
    const project = await newProject(store);
    await recordTimes(store, project, 'grew.rb', seconds);
    return (await flagsOf(store, { project, ...SUBJECT })).grown;
  };
  const [grown, ...others] = await grownOf([...times(10, 20), ...times(4, 40)]);
  expect(grown).toMatchObject({ path: 'grew.rb', before: expect.closeTo(20, 0), after: expect.closeTo(40, 0), commit_hash: 'c10' });
  expect(others).toEqual([]);
  // The build of the change comes first.
  expect(grown!.around).toEqual([11, 9, 10, 12, 13]);
  expect(await grownOf([...times(10, 5), ...times(4, 14)]), '9 s').toEqual([]);
  expect(await grownOf([...times(10, 100), ...times(10, 115)]), '15 %').toEqual([]);
  expect(await grownOf([...times(10, 40), ...times(4, 20)]), 'faster').toEqual([]);
  expect(await grownOf([...times(10, 20), ...times(11, 40)]), 'long ago').toEqual([]);
});

it('a node is slow when the summaries of many builds say so', async () => {
  const store = memoryStore();
  const project = await newProject(store);
  await recordTimes(store, project, 'a.rb', times(14, 10));
  for (const build of await buildsOf(store, project))
    await store.summaries.put(build, summaryOf({ recorded: build.recorded, slowness: [1.5, 0.9] }));
  const { slow } = await flagsOf(store, { project, ...SUBJECT });
  expect(slow).toEqual([{ node_index: 0, node_total: 2, slowness: 1.5, builds: 14 }]);
  expect(await flagsOf(store, { project, ...SUBJECT, events: ['gate_failed'] })).toEqual({ grown: [], slow: [] });
});
