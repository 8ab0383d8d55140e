import { describe, expect, it } from 'vitest';
import { jobsOf } from '../../../../src/server/insight/timeline/timeline.js';
import { BUILD } from '../../store/contract/fixtures.js';
import { lanesOf, TestBuild } from '../ci-run.js';

const MINUTE = 60;
const HOUR = 3600;
const SUITE = { 'a.rb': 40, 'b.rb': 30, 'c.rb': 20, 'd.rb': 10 };
/** The first request of a node's process. */
const FIRST = { isFirstRequest: true, runs_before: 0 };

describe('the timeline of a queue', () => {
  it('of which no node has pulled is running for some minutes', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40 }, { nodes: 2 });
    const waiting = await build.timeline(30);
    expect([waiting.is_running, waiting.wall, ...lanesOf(waiting)]).toEqual([true, 30, 'never came', 'never came']);
    expect((await build.timeline(HOUR)).is_running).toBe(false);
  });

  it('has a node without a recording until its files went to another one', async () => {
    const uptime = { now: 0 };
    const lease = { silenceMilliseconds: Infinity, factor: 1, graceMilliseconds: 0, uptime: () => uptime.now, uptimeAt: () => uptime.now };
    const build = await TestBuild.withQueue({ 'a.rb': 45, 'b.rb': 40 }, { nodes: 2, lease, pulled: [0] });
    uptime.now = 1000;
    await build.pull(1, 1, FIRST);
    uptime.now = 50_000;
    await build.pull(1, 50);
    await build.record(1, 90, { 'b.rb': 40, 'a.rb': 39 });
    // The batch of node 1 took 9 s more than its estimate, so the batch of node 0 is expected to take longer, too.
    const lost = '0-50 expired a.rb, until 50';
    expect(lanesOf(await build.timeline(HOUR))).toEqual([lost, '1-50 b.rb=40, 50-90 a.rb=39, until 90']);
  });

  it('has the test cases that a node recorded of a file, and the file of its test cases', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40, 'b.rb[1:1]': 30, 'b.rb[1:2]': 10 }, { nodes: 1 });
    for (let at = 0; await build.pull(0, at, at === 0 ? FIRST : {}); at += 10);
    await build.record(0, 90, { 'a.rb[1:1]': 4, 'a.rb[1:2]': 5, 'b.rb': 8 });
    const { nodes, paths } = await build.timeline(HOUR);
    const seconds = nodes[0]!.spans.flatMap(span => span.files.map((file, i) => [paths[file], span.seconds[i]]));
    expect(Object.fromEntries(seconds)).toEqual({ 'a.rb': 9, 'b.rb[1:1]': 6, 'b.rb[1:2]': 2 });
  });

  it('has files that a node recorded without getting them, in its last batch or before its recording', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40 }, { nodes: 2, pulled: [0] });
    await build.record(0, 50, { 'a.rb': 40, 'x.rb': 1 });
    await build.record(1, 60, { 'y.rb': 7 });
    const timeline = await build.timeline(HOUR);
    expect(lanesOf(timeline)).toEqual(['0-50 a.rb=40 x.rb=1, until 50', '53-60 y.rb=7, until 60']);
    expect(timeline.estimates).toEqual([40, null, null]);
  });

  it('has the whole batches of a node that sends the list with each request, when it records them', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40, 'b.rb': 10 }, { nodes: 1, pulled: [0] });
    await build.pull(0, 90, FIRST);
    expect(lanesOf(await build.timeline(91))[0]).toMatch(/^0-50 /);
    await build.record(0, 110, { 'a.rb': 80, 'b.rb': 9 });
    expect(lanesOf(await build.timeline(HOUR))[0]).toMatch(/^0-90 /);
  });

  it('has a node that came when no file was left', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40 }, { nodes: 2, pulled: [0] });
    await build.record(0, 50, { 'a.rb': 40 });
    await build.record(1, 55, {});
    expect(lanesOf(await build.timeline(HOUR))).toEqual(['0-50 a.rb=40, until 50', 'until 50']);
  });

  it('does not end later when a node is retried within minutes, gets nothing and records that', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40, 'b.rb': 30 }, { nodes: 2, pulled: [0, 1] });
    await build.record(0, 50, { 'a.rb': 40 });
    await build.record(1, 60, { 'b.rb': 30 });
    expect(await build.pull(0, 200, { ...FIRST, runs_before: 2 })).toBeNull();
    await build.record(0, 203, {});
    expect(lanesOf(await build.timeline(HOUR))).toEqual(['0-50 a.rb=40, until 50', '0-60 b.rb=30, until 60']);
  });

  it('has each run of a node that was retried, without the time until somebody did that', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40 }, { nodes: 1, pulled: [0] });
    await build.record(0, 50, { 'a.rb': 40 });
    await build.pull(0, 2 * HOUR, { ...FIRST, wantsLastSplit: true, runs_before: 1 });
    await build.record(0, 2 * HOUR + 45, { 'a.rb': 41 });
    const timeline = await build.timeline(3 * HOUR);
    expect(lanesOf(timeline)).toEqual(['0-50 a.rb=40, 50-95 again a.rb=41, until 95']);
    expect(timeline.paused).toBe(2 * HOUR - 50);
  });

  it('ends when all nodes have recorded, even if one is retried soon after that', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 2, 'b.rb': 2 }, { nodes: 2, pulled: [0, 1] });
    await build.record(0, 3, { 'a.rb': 2 });
    await build.record(1, 4, { 'b.rb': 2 });
    await build.pull(0, 60, { ...FIRST, wantsLastSplit: true, runs_before: 2 });
    await build.record(0, 63, { 'a.rb': 2 });
    const timeline = await build.timeline(HOUR);
    expect(lanesOf(timeline)).toEqual(['0-3 a.rb=2, 4-7 again a.rb=2, until 7', '0-4 b.rb=2, until 4']);
    expect(timeline.paused).toBe(56);
  });

  it('keeps the wait for a node that came late', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40, 'b.rb': 40 }, { nodes: 2, pulled: [0] });
    await build.record(0, 50, { 'a.rb': 40 });
    await build.pull(1, 20 * MINUTE, FIRST);
    await build.record(1, 21 * MINUTE, { 'b.rb': 40 });
    expect(lanesOf(await build.timeline(HOUR))).toEqual(['0-50 a.rb=40, until 50', '1200-1260 b.rb=40, until 1260']);
  });

  it('has no time before its beginning when the clock is set back', async () => {
    const build = await TestBuild.begin({ nodes: 2 });
    const suite = Object.fromEntries(Array.from({ length: 400 }, (_, i) => [`${i}.rb`, 10]));
    await build.createQueue(suite, '1', HOUR);
    const times = [HOUR, HOUR + 40, 60, 75];
    const pulled = [];
    for (const [i, seconds] of times.entries()) pulled.push(await build.pull(0, seconds, i === 0 ? FIRST : {}));
    expect(pulled.every(batch => batch !== null)).toBe(true);
    await build.record(0, 90, suite);
    const { nodes, wall } = await build.timeline(3 * HOUR);
    expect(nodes[0]!.spans.map(({ from, to }) => [from, to])).toEqual([
      [0, 40],
      [40, 40],
      [40, 55],
      [55, 70],
    ]);
    expect(wall).toBe(70);
  });

  it('has the runs of its own CI run only', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40 }, { nodes: 1, pulled: [0] });
    await build.record(0, 50, { 'a.rb': 40 }, null);
    await build.createQueue({ 'a.rb': 40 }, '2', 100);
    await build.pull(0, 100, FIRST, '2');
    await build.record(0, 130, { 'a.rb': 30 }, null);
    await build.record(0, 135, { 'a.rb': 1 }, 'another');
    const [second, first] = await build.store.ciRuns.ofBuild(build.project, build.build);
    expect(lanesOf(await build.timeline(HOUR))).toEqual(['0-30 a.rb=30, until 30']);
    expect(lanesOf(await build.timeline(HOUR, second!.id))).toEqual(['0-30 a.rb=30, until 30']);
    expect(lanesOf(await build.timeline(HOUR, first!.id))).toEqual(['0-50 a.rb=40, until 50']);
  });

  it('of a copy has what its own nodes got', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40 }, { nodes: 1, pulled: [0] });
    await build.record(0, 50, { 'a.rb': 40 });
    await build.store.queues.repeat(build.queueKey('2'), (await build.timeline(0)).started_at + 100_000);
    expect((await build.timeline(130)).is_running).toBe(true);
    await build.pull(0, 110, { ...FIRST, wantsLastSplit: true }, '2');
    await build.record(0, 145, { 'a.rb': 30 }, '2');
    expect(lanesOf(await build.timeline(HOUR))).toEqual(['0-35 again a.rb=30, until 35']);
  });

  it('that has expired is that of its recordings', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40 }, { nodes: 1, pulled: [0] });
    await build.record(0, 50, { 'a.rb': 40 });
    for await (const _ of build.store.maintenance.sweep(
      { before: (await build.timeline(0)).started_at + 10_000, deletedBefore: 0 },
      () => {},
    ));
    expect(await build.store.ciRuns.ofBuild(build.project, build.build)).toEqual([]);
    const timeline = await build.timeline(HOUR);
    expect([timeline.kind, ...lanesOf(timeline)]).toEqual(['recordings', '0-40 a.rb=40, until 40']);
  });
});

describe('the timeline of a split', () => {
  const PARTS = [['a.rb', 'd.rb'], ['b.rb', 'c.rb'], []];

  it('has a span for each recorded run, which ended when it was recorded', async () => {
    const build = await TestBuild.begin({ nodes: 3 });
    await build.createSplit(SUITE, PARTS);
    await build.record(0, 60, { 'a.rb': 41, 'd.rb': 9 });
    await build.record(1, 52, { 'b.rb': 30, 'c.rb': 20, 'x.rb': 1 });
    await build.record(2, 5, {});
    const timeline = await build.timeline(HOUR);
    expect(timeline).toMatchObject({ kind: 'split', is_running: false });
    expect(lanesOf(timeline)).toEqual(['10-60 a.rb=41 d.rb=9, until 60', '1-52 b.rb=30 c.rb=20 x.rb=1, until 52', '5-5, until 5']);
    expect(timeline.estimates).toEqual([40, 10, 30, 20, null]);
  });

  it('has the planned files of a node that has not recorded, and is running for some time', async () => {
    const build = await TestBuild.begin({ nodes: 3 });
    await build.createSplit({ ...SUITE, 'b.rb': null }, PARTS);
    await build.record(0, 60, { 'a.rb': 41 });
    const running = await build.timeline(70);
    expect([running.is_running, ...lanesOf(running)]).toEqual([
      true,
      '19-60 a.rb=41 d.rb, until 60',
      '0-70 b.rb c.rb, until 70',
      'never came',
    ]);
    expect(running.is_guess).toEqual([0, 0, 1, 0]);
    const ended = await build.timeline(2 * HOUR);
    expect([ended.is_running, ended.wall]).toEqual([false, 60]);
    expect(ended.nodes[1]!.spans[0]!.files.map(file => ended.paths[file])).toEqual(['b.rb', 'c.rb']);
  });

  it('has a retry as a span of its own, with what it recorded', async () => {
    const build = await TestBuild.begin({ nodes: 3 });
    await build.createSplit(SUITE, PARTS);
    await build.record(0, 60, { 'a.rb': 41 });
    await build.record(0, 100, { 'd.rb': 9 });
    await build.record(1, 100, { 'b.rb': 30, 'c.rb': 20 });
    // Nothing was left to run in this one.
    await build.record(0, 200, {});
    expect(lanesOf(await build.timeline(HOUR))[0]).toBe('19-60 a.rb=41, 91-100 again d.rb=9, until 100');
  });

  it('that is fixed has the runs since a CI run first used it', async () => {
    const build = await TestBuild.begin({ nodes: 1 });
    const first = build.splitKey('1', true);
    const split = await build.createSplit({ 'a.rb': 4 }, [['a.rb']], first);
    await build.record(0, 5, { 'a.rb': 4 });
    const { started_at: start } = await build.timeline(6);
    await build.store.splits.use(build.splitKey('2', true), split, start + 100_000);
    await build.record(0, 106, { 'a.rb': 5 }, '2');
    const [, begun] = await build.store.ciRuns.ofBuild(build.project, build.build);
    expect(lanesOf(await build.timeline(HOUR))).toEqual(['1-6 a.rb=5, until 6']);
    expect(lanesOf(await build.timeline(HOUR, begun!.id))).toEqual(['1-5 a.rb=4, until 5']);
  });
});

describe('the timeline of recordings', () => {
  it('are those of the newest CI run, named or not', async () => {
    const build = await TestBuild.begin({ nodes: 2 });
    for (const [node, seconds, ci_run] of [
      [0, 10, 'old'],
      [1, 11, 'old'],
      [1, 12, 'new'],
    ] as const)
      await build.record(node, seconds, { 'a.rb': 2 }, ci_run);
    expect(lanesOf(await build.timeline(HOUR))).toEqual(['never came', '0-2 a.rb=2, until 2']);
    for (const seconds of [20, 40]) for (const node of [0, 1]) await build.record(node, seconds + node, { 'a.rb': seconds / 10 }, null);
    expect(lanesOf(await build.timeline(HOUR))).toEqual(['0-4 a.rb=4, until 4', '1-5 a.rb=4, until 5']);
    await build.record(0, 45, { 'a.rb': 3 }, null);
    expect(lanesOf(await build.timeline(HOUR))).toEqual(['0-4 a.rb=4, 5-8 again a.rb=3, until 8', '1-5 a.rb=4, until 5']);
  });

  it('is running while some node has not recorded for some minutes', async () => {
    const build = await TestBuild.begin({ nodes: BUILD.node_total });
    await build.record(0, 60, { 'a.rb': 20 });
    expect((await build.timeline(100)).is_running).toBe(true);
    expect((await build.timeline(HOUR)).is_running).toBe(false);
  });
});

describe('the jobs of nodes', () => {
  it('are one for each node that came, in whole seconds', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40, 'b.rb': 30 }, { nodes: 3, pulled: [0, 1] });
    await build.record(0, 50.001, { 'a.rb': 40 });
    await build.record(1, 60, { 'b.rb': 30 });
    expect(jobsOf(await build.timeline(HOUR))).toEqual([51, 60]);
  });

  it('of a node that was retried are two, without the time until somebody did that', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40, 'b.rb': 300 }, { nodes: 2, pulled: [0, 1] });
    await build.record(1, 50, { 'a.rb': 40 });
    await build.pull(1, 200, { ...FIRST, wantsLastSplit: true, runs_before: 1 });
    await build.record(1, 245, { 'a.rb': 41 });
    await build.record(0, 400, { 'b.rb': 390 });
    expect(jobsOf(await build.timeline(HOUR))).toEqual([400, 50, 45]);
  });

  it('of a node that was retried when no file was left are two: its set-up is paid, too', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40, 'b.rb': 30 }, { nodes: 2, pulled: [0, 1] });
    await build.record(0, 50, { 'a.rb': 40 });
    await build.record(1, 60, { 'b.rb': 30 });
    await build.pull(0, 200, { ...FIRST, runs_before: 2 });
    await build.record(0, 203, {});
    expect(jobsOf(await build.timeline(HOUR))).toEqual([50, 0, 60]);
  });

  it('of a node that was lost and replaced end with its files as expected', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40, 'b.rb': 30 }, { nodes: 1, pulled: [0] });
    await build.pull(0, 600, { ...FIRST, wantsLastSplit: true });
    await build.record(0, 680, { 'a.rb': 40, 'b.rb': 30 });
    expect(jobsOf(await build.timeline(HOUR))).toEqual([70, 80]);
  });

  it('of a node that sends the list with each request are one', async () => {
    const build = await TestBuild.withQueue({ 'a.rb': 40, 'b.rb': 10 }, { nodes: 1, pulled: [0] });
    await build.pull(0, 90, FIRST);
    await build.record(0, 110, { 'a.rb': 80, 'b.rb': 9 });
    expect(jobsOf(await build.timeline(HOUR))).toEqual([110]);
  });

  it('of a split are two if a node recorded a file again, and one if it recorded its files in parts', async () => {
    const build = await TestBuild.begin({ nodes: 2 });
    await build.createSplit(SUITE, [
      ['a.rb', 'd.rb'],
      ['b.rb', 'c.rb'],
    ]);
    await build.record(0, 45, { 'a.rb': 40 });
    await build.record(0, 60, { 'd.rb': 10 });
    await build.record(1, 60, { 'b.rb': 30, 'c.rb': 20 });
    await build.record(1, HOUR, { 'b.rb': 30, 'c.rb': 25 });
    expect(jobsOf(await build.timeline(2 * HOUR))).toEqual([55, 50, 55]);
  });
});
