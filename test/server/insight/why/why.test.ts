import { describe, expect, it } from 'vitest';
import type { WhyAnswer } from '../../../../src/protocol/answers/why.js';
import { findSubject } from '../../../../src/server/insight/subject.js';
import { EXPLAINED_BATCHES, EXPLAINED_FILES_PER_BATCH, type WhyFilter, why } from '../../../../src/server/insight/why/why.js';
import { NOW } from '../../store/contract/fixtures.js';
import { TestBuild } from '../ci-run.js';

async function whyOf(build: TestBuild, seconds: number, filter: WhyFilter = {}, ci_run?: string): Promise<WhyAnswer> {
  const [newest] = await build.store.ciRuns.ofBuild(build.project, build.build);
  const subject = await findSubject(build.store, build.project, newest!.id, ci_run);
  return why(build.store, subject!, filter, NOW + seconds * 1000);
}

const suite = (files: number, seconds = 10) => Object.fromEntries(Array.from({ length: files }, (_, i) => [`${100 + i}.rb`, seconds]));

/** Shape of an answer: the node and number of files of each batch, and whether its reason is known. */
const shapeOf = ({ batches }: WhyAnswer) =>
  batches.map(({ batch, node_index, file_count, decision }) => [batch, node_index, file_count, decision !== null]);

describe('why nodes of a queue got their files', () => {
  it('names the node whose files came back', async () => {
    let uptime = 0;
    const lease = {
      silenceMilliseconds: Infinity,
      factor: 1,
      graceMilliseconds: 1000,
      uptime: () => uptime,
      uptimeAt: (at: number) => at - NOW,
    };
    const build = await TestBuild.withQueue(suite(10), { nodes: 2, lease });
    await build.pull(0, 0);
    uptime = 1_000_000;
    await build.pull(1, 1000);
    const { batches } = await whyOf(build, 1001);
    expect(batches.at(-1)!.reason).toMatch(/\d files were with node 0 before, which was silent for too long\.$/);
  });

  it('is the run before when a retry repeats it, and the restart when a node gets its unfinished files', async () => {
    const build = await TestBuild.withQueue(suite(4), { nodes: 2 });
    await build.pull(0, 0, { isFirstRequest: true, acknowledges: true });
    await build.pull(0, 5, { run: 'restarted', isFirstRequest: true, acknowledges: true });
    expect((await whyOf(build, 6)).batches.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('it got 0.6'),
      expect.stringMatching(/^Node 0 restarted, and got the .* again that it had not reported as run, or that failed\.$/),
    ]);
    await build.store.queues.repeat(build.queueKey('2'), NOW + 50_000);
    await build.pull(0, 60, { run: 'copy', isFirstRequest: true, wantsLastSplit: true }, '2');
    const { batches } = await whyOf(build, 61);
    expect(batches).toMatchObject([{ decision: null, reason: expect.stringContaining('in the CI run that this one repeats') as string }]);
  });

  it('lists a bounded number of files', async () => {
    const build = await TestBuild.withQueue(suite(EXPLAINED_FILES_PER_BATCH + 1), { nodes: 1 });
    await build.pull(0, 0);
    const { batches } = await whyOf(build, 1);
    expect(batches).toMatchObject([{ file_count: EXPLAINED_FILES_PER_BATCH + 1 }]);
    expect(batches[0]!.files).toHaveLength(EXPLAINED_FILES_PER_BATCH);
  });

  it('lists a bounded number of batches, and counts the others', async () => {
    const nodes = EXPLAINED_BATCHES + 5;
    const build = await TestBuild.withQueue(suite(nodes), { nodes });
    for (let node = 0; node < nodes; node++) await build.pull(node, 0);
    const told = await whyOf(build, 1);
    expect([told.batches.length, told.batch_count]).toEqual([EXPLAINED_BATCHES, nodes]);
    expect(shapeOf(await whyOf(build, 1, { node_index: nodes - 1 }))).toEqual([[nodes - 1, nodes - 1, 1, true]]);
  });
});

describe('why nodes of a split got their files', () => {
  const parts = [['a'], ['b', 'new']];

  it('does not change when a node runs files of another node or is retried', async () => {
    const build = await TestBuild.begin({ nodes: 2 });
    await build.createSplit({ a: 30, b: 20, new: null }, parts);
    await build.record(0, 40, { a: 31, b: 19, unplanned: 2 });
    await build.record(0, 80, { a: 29 });
    const [part] = (await whyOf(build, 81, { node_index: 0 })).batches;
    expect(part!.files.map(({ path, seconds }) => [path, seconds])).toEqual([['a', 29]]);
  });
});
