import { describe, expect, it } from 'vitest';
import { buildSummary } from '../../../../src/server/insight/trends/build-summary.js';
import { NOW } from '../../store/contract/fixtures.js';
import { TestBuild } from '../ci-run.js';

const HOUR = 3600;

/** A build of one node whose CI run, an hour after the last one, took so many seconds. Its summary is written if asked for. */
async function played() {
  const build = await TestBuild.begin({ nodes: 1 });
  let ciRuns = 0;
  const summary = async () => {
    const { recorded, summary } = await buildSummary(build.store, {
      build: { project: build.project, ...build.build },
      at: NOW + (ciRuns + 1) * HOUR * 1000,
    });
    await build.store.summaries.put(recorded!, summary);
    return summary;
  };
  const play = async (seconds: number) => {
    const ciRun = String(++ciRuns);
    await build.createQueue({ 'a.rb': 40 }, ciRun, ciRuns * HOUR);
    await build.pull(0, ciRuns * HOUR, { isFirstRequest: true, runs_before: ciRuns - 1 }, ciRun);
    await build.record(0, ciRuns * HOUR + seconds, { 'a.rb': 40 }, ciRun);
  };
  return { build, play, summary };
}

describe('the summary of a build', () => {
  it('has the jobs of its CI run, whose timeline is read once', async () => {
    const { build, play, summary } = await played();
    await play(50);
    let reads = 0;
    const { runs } = build.store.builds;
    build.store.builds.runs = number => {
      reads++;
      return runs(number);
    };
    expect(await summary()).toMatchObject({ jobs: [[50, 1]], ci_runs: 1 });
    // For the timeline, and for what failed.
    expect(reads).toBe(2);
  });

  it('has the jobs of all its CI runs, of which older ones are not read again', async () => {
    const { build, play, summary } = await played();
    for (let i = 0; i < 30; i++) {
      await play(50 + (i % 2));
      await summary();
    }
    let reads = 0;
    const { runs } = build.store.builds;
    build.store.builds.runs = number => {
      reads++;
      return runs(number);
    };
    expect(await summary()).toMatchObject({
      jobs: [
        [50, 15],
        [51, 15],
      ],
      ci_runs: 30,
    });
    expect(reads).toBe(5);
  });

  it('has the jobs of a bounded number of its CI runs if none was summed up before', async () => {
    const { play, summary } = await played();
    for (let i = 0; i < 30; i++) await play(50);
    const first = await summary();
    expect(first).toMatchObject({ jobs: [[50, 20]], ci_runs: 20 });
    expect(await summary()).toEqual(first);
  });
});
