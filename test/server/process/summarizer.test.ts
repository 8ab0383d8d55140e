import { expect, it, onTestFinished, vi } from 'vitest';
import type { BuildState } from '../../../src/protocol/build-state.js';
import { type ProjectBuild, queueKey } from '../../../src/server/engine/keys.js';
import type { BuildFailures } from '../../../src/server/engine/ports/failures.js';
import type { Summary } from '../../../src/server/engine/ports/summaries.js';
import { publicSideOf } from '../../../src/server/engine/public-side/side.js';
import { refusals } from '../../../src/server/engine/refusal.js';
import { newestSubject } from '../../../src/server/insight/subject.js';
import { SILENT_MILLISECONDS } from '../../../src/server/insight/timeline/draft-span.js';
import { SUMMARY_LATEST_MILLISECONDS } from '../../../src/server/insight/trends/build-lines.js';
import type { BatchSums } from '../../../src/server/planning/batching/batch-cost.js';
import { openLog } from '../../../src/server/process/log.js';
import {
  SUMMARY_QUIET_MILLISECONDS,
  SUMMARY_REPEAT_MILLISECONDS,
  Summarizer,
  WAITING_PUBLIC_SUMMARIES,
  WAITING_SUMMARIES,
} from '../../../src/server/process/summarizer.js';
import { memoryStore } from '../../harness/memory-store.js';
import { BUILD, buildFailures, buildsOf, files, NOW, newProject, newQueue, record, summaryOf } from '../store/contract/fixtures.js';

const [QUIET, LATEST, REPEAT] = [SUMMARY_QUIET_MILLISECONDS, SUMMARY_LATEST_MILLISECONDS, SUMMARY_REPEAT_MILLISECONDS];

/** A summarizer over a store with one build, whose clocks stand still. It makes summaries with `part`. */
async function start(
  part: (build: ProjectBuild) => Partial<Summary> = () => ({}),
  observed: BatchSums | null = null,
  failed: BuildFailures | null = null,
) {
  const store = memoryStore();
  const project = await newProject(store);
  await record(store, project, files(1));
  const clock = { uptime: 0, now: NOW };
  const log: string[] = [];
  const made: string[] = [];
  const jobs = {
    async read(_job: string, { build }: { build: ProjectBuild }) {
      const { recorded, ciRun } = await newestSubject(store, build);
      made.push(build.commit_hash);
      const summary = summaryOf({ recorded: recorded?.recorded ?? 0, ...part(build) });
      return { recorded, ciRun, summary, failures: failed, observed };
    },
  };
  const logger = openLog('debug', { write: line => log.push(line) });
  const summarizer = new Summarizer(
    store,
    jobs as never,
    logger,
    () => clock.now,
    () => clock.uptime,
    { summarized: async () => {} },
  );
  onTestFinished(() => summarizer.close());
  const write = async (uptime: number) => {
    clock.uptime = uptime;
    await summarizer.writeDue();
    return made.length;
  };
  return { store, project, summarizer, write, made, log, clock, build: (await buildsOf(store, project))[0]! };
}

it('a summary is written when its build has been quiet for some seconds', async () => {
  const { store, project, summarizer, write, build } = await start();
  summarizer.recorded(project, BUILD);
  expect([await write(QUIET - 1), summarizer.waiting]).toEqual([0, 1]);
  summarizer.recorded(project, BUILD);
  expect(await write(2 * QUIET - 2)).toBe(0);
  expect(await write(2 * QUIET - 1)).toBe(1);
  expect([summarizer.waiting, summarizer.written]).toEqual([0, 1]);
  expect(await store.summaries.get(build.number)).toEqual(summaryOf({ recorded: 1 }));
});

it('a summary is written after what failed in its build, so that a crash between both loses neither', async () => {
  const { store, project, summarizer, write, build } = await start(() => ({}), null, buildFailures());
  const { put } = store.summaries;
  store.summaries.put = async (...args) => {
    expect(await store.failures.newest(project, 1)).toEqual([{ build, failures: buildFailures() }]);
    await put(...args);
  };
  summarizer.recorded(project, BUILD);
  expect(await write(QUIET)).toBe(1);
  expect(await store.summaries.get(build.number)).not.toBeNull();
});

it('a summary of a build that is never quiet is written within a minute', async () => {
  const { project, summarizer, write } = await start();
  summarizer.recorded(project, BUILD);
  for (let uptime = 0; uptime < QUIET + LATEST; uptime += 1000) {
    expect(await write(uptime)).toBe(0);
    summarizer.recorded(project, BUILD);
  }
  expect(await write(QUIET + LATEST)).toBe(1);
});

it('a summary of a running build is written again a minute later, or soon after its next run', async () => {
  let state: BuildState = 'running';
  const { project, summarizer, write, build } = await start(() => ({ state }));
  summarizer.outdated(build);
  expect(await write(0)).toBe(1);
  // A list that shows it changes nothing.
  summarizer.outdated(build);
  expect(await write(REPEAT - 1)).toBe(1);
  expect(await write(REPEAT)).toBe(2);
  summarizer.recorded(project, BUILD);
  state = 'recorded';
  expect(await write(REPEAT + QUIET)).toBe(3);
  expect(summarizer.waiting).toBe(0);
});

it('a summary that cannot be made stops no other, and is logged once a minute', async () => {
  const failing = (build: ProjectBuild) => {
    if (build.commit_hash.startsWith('bad')) throw new Error('no timeline');
    return {};
  };
  const { store, project, summarizer, write, made, log } = await start(failing);
  for (const commit_hash of ['bad1', 'bad2', 'good']) {
    await record(store, project, files(1), { commit_hash });
    summarizer.recorded(project, { ...BUILD, commit_hash });
  }
  await write(QUIET);
  expect([made, summarizer.written, summarizer.waiting]).toEqual([['bad1', 'bad2', 'good'], 1, 0]);
  expect(log.filter(line => line.includes('no timeline'))).toHaveLength(1);
});

it('what cannot be read or written while the database is away is written a minute later', async () => {
  let isAway = true;
  const fail = () => {
    throw refusals.databaseAway(new Error('no answer'));
  };
  const { store, project, summarizer, write, build, clock } = await start(() => (isAway ? fail() : {}));
  summarizer.recorded(project, BUILD);
  await write(QUIET);
  expect([summarizer.written, summarizer.waiting]).toEqual([0, 1]);
  await store.queues.create(queueKey(project, { ...BUILD, commit_hash: 'silent' }, '1'), newQueue(3), NOW);
  clock.now = NOW + SILENT_MILLISECONDS + 1;
  vi.spyOn(store.access, 'projects').mockImplementationOnce(fail);
  await expect(summarizer.noteSilent()).rejects.toThrow();
  isAway = false;
  await write(QUIET + REPEAT - 1);
  expect(await store.summaries.get(build.number)).toBeNull();
  await write(QUIET + REPEAT);
  expect(await store.summaries.get(build.number)).toEqual(summaryOf({ recorded: 1 }));
  await summarizer.noteSilent();
  expect(summarizer.waiting).toBe(1);
});

it('the first build of a project that has ended tells its queues what batches cost', async () => {
  let state: BuildState = 'running';
  const sums = [4, 8, 40, 16, 80, 400, 60, 120, 600, 4];
  const { store, project, summarizer, write } = await start(() => ({ state }), sums);
  const learned = async (uptime: number) => {
    summarizer.recorded(project, BUILD);
    await write(uptime);
    return store.queues.learned(project, 'queue');
  };
  expect(await learned(QUIET)).toBeNull();
  state = 'recorded';
  expect(await learned(2 * QUIET)).toEqual(sums);
  // Another node recorded later: what is known stays.
  expect(await learned(3 * QUIET)).toEqual(sums);
});

it('only so many builds wait', async () => {
  const { project, summarizer } = await start();
  for (let i = 0; i < WAITING_SUMMARIES + 10; i++) summarizer.recorded(project, { ...BUILD, commit_hash: `c${i}` });
  expect(summarizer.waiting).toBe(WAITING_SUMMARIES);
});

it('after a start the newest builds get the summaries that they miss', async () => {
  const { store, project, summarizer, build } = await start();
  for (const commit_hash of ['c1', 'c2']) await record(store, project, files(1), { commit_hash });
  await store.summaries.put(build, summaryOf({ recorded: 1 }));
  await summarizer.noteNewest();
  expect(summarizer.waiting).toBe(2);
  await summarizer.flush();
  const summaries = await Promise.all((await buildsOf(store, project)).map(({ number }) => store.summaries.get(number)));
  expect(summaries.map(summary => summary?.recorded)).toEqual([1, 1, 1]);
});

it('a CI run of which nothing is recorded is noted once, when its nodes may be silent, and is written when they are', async () => {
  let state: BuildState = 'running';
  const { store, project, summarizer, write, made, clock } = await start(() => ({ state }));
  const begin = (commit_hash: string, at: number) =>
    store.queues.create(queueKey(project, { ...BUILD, commit_hash }, '1'), newQueue(3), at);
  await begin('silent', NOW);
  await begin('recorded', NOW);
  await begin('later', NOW + 1);
  await record(store, project, files(1), { commit_hash: 'recorded' });
  const [ciRun] = await store.ciRuns.ofBuild(project, { ...BUILD, commit_hash: 'silent' });
  const lookAt = async (now: number) => {
    clock.now = now;
    await summarizer.noteSilent();
    return summarizer.waiting;
  };
  expect(await lookAt(NOW + SILENT_MILLISECONDS)).toBe(0);
  expect(await lookAt(NOW + SILENT_MILLISECONDS + 1)).toBe(1);
  await write(0);
  expect(await store.summaries.ofUnrecorded(ciRun!)).toBeNull();
  state = 'recorded';
  await write(REPEAT);
  expect([made, await store.summaries.ofUnrecorded(ciRun!)]).toEqual([['silent', 'silent'], summaryOf({ recorded: 0 })]);
  expect(await lookAt(NOW + SILENT_MILLISECONDS + 1)).toBe(0);
  expect(await lookAt(NOW + SILENT_MILLISECONDS + 2)).toBe(1);
});

it('a project learns from its newest build until it knows a cost of batches, and is then not looked at again', async () => {
  const observed: BatchSums = [1, 2, 3, 4, 5, 6, 7, 8, 9, 1];
  const { store, project, summarizer, made } = await start(() => ({ state: 'complete' }), observed);
  const known = queueKey(project, BUILD, 'known');
  await store.queues.create(known, newQueue(1), NOW);
  await summarizer.learnFirst(project, known);
  expect([made.length, store.queues.learned(project, 'queue')]).toEqual([0, null]);
  await summarizer.learnFirst(project, queueKey(project, BUILD, 'new'));
  expect([made.length, store.queues.learned(project, 'queue')]).toEqual([1, observed]);
  const learned = vi.spyOn(store.queues, 'learned');
  await summarizer.learnFirst(project, null);
  expect(summarizer.learnFirst(project, null)).toBeUndefined();
  expect([made.length, learned.mock.calls.length]).toEqual([1, 1]);
});

it('nothing is written after the close', async () => {
  const { project, summarizer, write } = await start();
  summarizer.recorded(project, BUILD);
  await summarizer.close();
  summarizer.recorded(project, { ...BUILD, commit_hash: 'later' });
  expect(await write(QUIET)).toBe(0);
});

it('builds of a public side have few places of their own, and are written after the others', async () => {
  const { project, summarizer, write, made } = await start();
  for (let i = 0; i < WAITING_SUMMARIES; i++) summarizer.recorded(publicSideOf(project), { ...BUILD, commit_hash: `fork ${i}` });
  expect(summarizer.waiting).toBe(WAITING_PUBLIC_SUMMARIES);
  summarizer.recorded(project, BUILD);
  await write(QUIET);
  expect([made[0], made.length]).toEqual([BUILD.commit_hash, WAITING_PUBLIC_SUMMARIES + 1]);
});
