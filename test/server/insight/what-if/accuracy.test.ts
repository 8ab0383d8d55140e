import { describe, expect, it } from 'vitest';
import { noSettings } from '../../../../src/protocol/project-settings.js';
import { Queue } from '../../../../src/server/engine/queue/queue.js';
import { deviationsOf } from '../../../../src/server/insight/what-if/deviations.js';
import { observe } from '../../../../src/server/insight/what-if/observed.js';
import type { PlayedNodes } from '../../../../src/server/insight/what-if/play.js';
import { playVariants, type Scenario } from '../../../../src/server/insight/what-if/scenario.js';
import { speedsIn } from '../../../../src/server/insight/what-if/speeds.js';
import { AS_IT_WAS, whatIfOf } from '../../../../src/server/insight/what-if/what-if.js';
import type { Mode } from '../../../../src/server/planning/estimating/estimate.js';
import { type Level, secondsOf, updateLevel } from '../../../../src/server/planning/estimating/level.js';
import { pack } from '../../../../src/server/planning/packing/pack.js';
import { toWeight } from '../../../../src/server/planning/weight.js';
import { normal, seededRandom } from '../../../testbed/random.js';
import { type Batch, timelineOf } from '../lanes.js';

/** Deviations of played builds from builds whose durations scatter around the estimates. */

const FILES = 300;

/** A suite in planning order, with estimates from four earlier builds, and draws of its durations and of nodes. */
function suiteOf(seed: number, noise: number) {
  const random = seededRandom(seed);
  const files = Array.from({ length: FILES }, () => {
    const usual = 4 * Math.exp(0.8 * normal(random));
    let level: Level | null = null;
    for (let build = 0; build < 4; build++) level = updateLevel(level, usual * Math.exp(noise * normal(random)), 0);
    return { usual, estimate: secondsOf(level!) };
  }).sort((a, b) => b.estimate - a.estimate);
  return {
    estimates: Float64Array.from(files, ({ estimate }) => estimate),
    drawSeconds: () => Float64Array.from(files, ({ usual }) => usual * Math.exp(noise * normal(random))),
    drawNodes: (count: number, spread: number, speedSpread: number): PlayedNodes => ({
      starts: Float64Array.from({ length: count }, () => spread * random()),
      speeds: Float64Array.from({ length: count }, () => Math.exp(speedSpread * normal(random))),
      pullCost: 1,
    }),
  };
}

/**
 * Runs a build, and returns its timeline. It does not use what plays builds. The plan knows what a batch costs.
 * @param hidden what each file takes besides its seconds
 */
function run(mode: Mode, estimates: Float64Array, seconds: Float64Array, { starts, speeds, pullCost }: PlayedNodes, hidden = 0) {
  const nodeTotal = starts.length;
  const weights = estimates.map(each => toWeight(each + hidden));
  const parts = pack(weights, nodeTotal).nodes.map(part => [...part]);
  const queue = new Queue(weights, { nodeTotal, pullCost: toWeight(pullCost), isGuessed: false });
  const take = (node_index: number, at: number) => {
    if (mode === 'split') return parts[node_index]!.splice(0);
    const request = { node_index, run: 'run', batch_uuid: null, isRetry: false, isFirstRequest: at === starts[node_index] };
    return queue.pull({ ...request, wantsLastSplit: false, recordedRunId: null, hasLeft: () => false }, at * 1000)?.batch.files ?? [];
  };
  const batches = Array.from(starts, (): Batch[] => []);
  const free = new Map(starts.entries());
  while (free.size > 0) {
    const [node, from] = [...free].reduce((first, other) => (other[1] < first[1] ? other : first));
    const files = take(node, from);
    if (files.length === 0) {
      free.delete(node);
      continue;
    }
    const times = files.map(file => seconds[file]! / speeds[node]!);
    const to = from + times.reduce((sum, each) => sum + each, pullCost + (files.length * hidden) / speeds[node]!);
    batches[node]!.push({ files: files.map(String), seconds: times, from, to });
    free.set(node, to);
  }
  const estimateOf = Object.fromEntries([...estimates.entries()].map(([file, each]) => [String(file), each]));
  const cost = hidden === 0 ? null : { pull_cost: pullCost, hidden, slowdown: 1 };
  const timeline = { ...timelineOf(batches, estimateOf), kind: mode, cost };
  // The first node may start later than the build.
  return { wall: Math.max(...batches.flat().map(({ to }) => to)), timeline };
}

const meanOf = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0) / values.length;

describe.each(['queue', 'split'] as const)('a %s that is played again', mode => {
  const knowledge = { now: null, candidates: [], cases: new Map(), pieces: new Map(), settings: noSettings, expectedPullCost: 10_000 };

  it.each(mode === 'queue' ? [0, 5.5] : [0])(
    'ends as the build with its number of nodes, nearly so with others, when files take %f s more than reported',
    hidden => {
      const errors = [1, 2, 3, 4].flatMap(seed => {
        const { estimates, drawSeconds, drawNodes } = suiteOf(seed, 0.1);
        const seconds = drawSeconds();
        const all = drawNodes(12, 10, 0.05);
        const first = (count: number) => ({ ...all, starts: all.starts.slice(0, count), speeds: all.speeds.slice(0, count) });
        const { timeline } = run(mode, estimates, seconds, first(8), hidden);
        const { scenario } = whatIfOf(timeline, AS_IT_WAS, { ...knowledge, nodeTotal: 8 });
        return [4, 6, 8, 12].map(count => {
          const { wall } = run(mode, estimates, seconds, first(count), hidden);
          return { count, error: Math.abs(playVariants(scenario, [count])[0]!.wall / wall - 1) };
        });
      });
      const own = errors.filter(({ count }) => count === 8).map(({ error }) => error);
      const others = errors.filter(({ count }) => count !== 8).map(({ error }) => error);
      // The weights that are played contain the hidden time, and the planner expects some more.
      expect(Math.max(...own)).toBeLessThan(hidden === 0 ? 0.01 : 0.025);
      expect(meanOf(others), String(others)).toBeLessThan(0.03);
    },
  );
});

describe.each(['queue', 'split'] as const)('a %s that is planned ahead', mode => {
  /** The scenario of a plan after a build with these nodes. */
  const planAfter = (estimates: Float64Array, seconds: Float64Array, nodes: PlayedNodes): Scenario => {
    const { timeline } = run(mode, estimates, seconds, nodes);
    const observed = observe(timeline);
    const { speeds, spread: speedSpread } = speedsIn(timeline);
    return {
      mode,
      suite: { weights: estimates.map(toWeight), seconds: estimates },
      cuttable: [],
      deviations: deviationsOf(observed, speeds, timeline),
      isGuessed: false,
      starts: observed.starts,
      startSpread: null,
      speeds,
      speedSpread,
      rate: 1,
      hidden: 0,
      pullCost: 1,
      settings: noSettings,
      expected: { hidden: 0, pullCost: 1 },
    };
  };

  it.each([0.05, 0.2])('ends as the mean of real builds whose times deviate by %f', noise => {
    const errors = [1, 2, 3, 4].flatMap(seed => {
      const { estimates, drawSeconds, drawNodes } = suiteOf(seed, noise);
      const scenario = planAfter(estimates, drawSeconds(), drawNodes(8, 0, 0));
      return [6, 8, 12].map(count => {
        const walls = Array.from({ length: 12 }, () => run(mode, estimates, drawSeconds(), drawNodes(count, 0, 0)).wall);
        return playVariants(scenario, [count])[0]!.wall / meanOf(walls) - 1;
      });
    });
    expect(Math.abs(meanOf(errors)), String(errors)).toBeLessThan(0.015);
    expect(Math.max(...errors.map(Math.abs)), String(errors)).toBeLessThan(0.05);
  });

  it('gives the same answer again, and a part of its numbers gives the same as all', () => {
    const { estimates, drawSeconds, drawNodes } = suiteOf(5, 0.2);
    const scenario = planAfter(estimates, drawSeconds(), drawNodes(6, 20, 0.1));
    const outcomes = playVariants(scenario, [3, 6, 9]);
    expect(playVariants(scenario, [3, 6, 9])).toEqual(outcomes);
    expect(playVariants(scenario, [9])).toEqual(outcomes.slice(2));
  });
});

describe('the deviations of a build', () => {
  it('have the spread of its times, without what all files or a node have in common', () => {
    const { estimates, drawSeconds, drawNodes } = suiteOf(1, 0.1);
    const slow = { ...drawNodes(6, 0, 0), speeds: Float64Array.of(0.8, 0.8, 0.8, 0.8, 0.8, 0.4) };
    const { timeline } = run('queue', estimates, drawSeconds(), slow);
    const observed = observe(timeline);
    const { speeds, spread } = speedsIn(timeline);
    expect([...speeds].map(speed => Math.round(10 * speed) / 10)).toEqual([1, 1, 1, 1, 1, 0.5]);
    // The slow node is an outlier: others are not like it.
    expect(spread).toBeLessThan(0.05);
    const deviations = deviationsOf(observed, speeds, timeline);
    // The estimates are not exact either.
    const spreadOfTimes = Math.sqrt(meanOf([...deviations].map(each => each ** 2)));
    expect(spreadOfTimes).toBeGreaterThan(0.1);
    expect(spreadOfTimes).toBeLessThan(0.14);
  });

  it('are unknown when there were few estimates', () => {
    const timeline = timelineOf([[{ files: ['a', 'b'], seconds: [3, 5], from: 0, to: 9 }]], { a: 1, b: 9 });
    expect(deviationsOf(observe(timeline), Float64Array.of(1), timeline)).toHaveLength(0);
  });
});
