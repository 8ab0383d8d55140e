import { describe, expect, it } from 'vitest';
import type { Batch } from '../../../../src/server/engine/queue/batch.js';
import { Queue } from '../../../../src/server/engine/queue/queue.js';
import { toWeight } from '../../../../src/server/planning/weight.js';
import { ballast } from '../../../testbed/ballast-queue.js';
import { type Build, type Outcome, simulate } from '../../../testbed/queue-simulation.js';
import { seededRandom } from '../../../testbed/random.js';
import { residual, syntheticSuite } from '../../../testbed/synthetic.js';
import { requestOf } from './requests.js';

const SEEDS = Array.from({ length: 12 }, (_, seed) => seed + 1);

/** Builds of generated suites. Their times differ from the predictions like those of real builds. */
const builds = (change: Partial<Build> = {}, count = 600): Build[] =>
  SEEDS.map(seed => {
    const random = seededRandom(seed);
    const times = [...syntheticSuite(seed, count).timings.values()].sort((a, b) => b - a);
    const files = times.map(predicted => ({ predicted, actual: predicted * residual(random), isUnknown: false }));
    return { files, nodes: 8, pullCost: 2.2, seed, ...change };
  });

/** The same files in random order, as if never measured. */
const guess = ({ files, seed }: Build) => {
  const random = seededRandom(seed);
  return files
    .map(file => ({ at: random(), file: { ...file, predicted: 1, isUnknown: true } }))
    .sort((a, b) => a.at - b.at)
    .map(({ file }) => file);
};

const run = (build: Build, setting = 2): Outcome => simulate(build, ballast(build.files, { nodes: build.nodes, pullCost: setting }));

/** A pull with a uuid of its own. Nodes begin within a minute. */
const requestAt = (node_index: number, seconds: number) =>
  requestOf({ node_index, batch_uuid: `${node_index} ${seconds}`, isFirstRequest: seconds < 60 });

const mean = (outcomes: readonly Outcome[]) => outcomes.reduce((sum, { ratio }) => sum + ratio, 0) / outcomes.length;

describe('the nodes of a queue', () => {
  it.each([
    { pullCost: 0.2, most: 1.02 },
    { pullCost: 2.2, most: 1.04 },
    { pullCost: 5.2, most: 1.065 },
  ])('finish within $most of the optimum in 8 pulls when a pull costs $pullCost s', ({ pullCost, most }) => {
    const outcomes = builds({ pullCost }).map(build => run(build, pullCost));
    expect(mean(outcomes)).toBeLessThan(most);
    for (const { meanPulls } of outcomes) expect(meanPulls).toBeLessThanOrEqual(8);
  });

  it.each([0.5, 1, 4, 8])('finish nearly together when a pull takes 2.2 s and %d s are configured', setting => {
    expect(mean(builds().map(build => run(build, setting)))).toBeLessThan(1.05);
  });

  it('finish nearly together when the clock stands still, as in a simulation', () => {
    expect(mean(builds({ frozen: true }).map(build => run(build)))).toBeLessThan(1.06);
  });

  it('finish close to each other in the first build of a project', () => {
    const first = builds().map(build => ({ ...build, files: guess(build) }));
    expect(mean(first.map(build => run(build)))).toBeLessThan(1.4);
    expect(mean(first.map(build => run({ ...build, frozen: true })))).toBeLessThan(1.4);
  });

  it('take over the work of a node that dies', () => {
    expect(mean(builds({ dies: true }).map(build => run(build)))).toBeLessThan(1.06);
  });

  it('take over the work of nodes that never pull, in few pulls', () => {
    const outcomes = builds({ startingNodes: 1 }).flatMap(build => [run(build), run({ ...build, frozen: true })]);
    expect(mean(outcomes)).toBeLessThan(1.06);
    for (const { meanPulls } of outcomes) expect(meanPulls).toBeLessThan(16);
  });

  it('finish nearly together when twelve of sixteen come, over three minutes', () => {
    const late = builds({ nodes: 16, startingNodes: 12, startOf: (_, random) => 180 * random() }, 1200);
    expect(mean(late.map(build => run(build)))).toBeLessThan(1.06);
  });

  it('leave enough to those that come together, when much of the work is done', () => {
    const late = (minutes: number) => builds({ startOf: node => (node < 2 ? 0 : 60 * minutes) });
    for (const minutes of [3, 5]) expect(mean(late(minutes).map(build => run(build)))).toBeLessThan(1.06);
  });

  it('get one file each when there are more nodes than files', () => {
    for (const { files } of builds()) {
      const pull = ballast(files.slice(0, 40), { nodes: 60, pullCost: 2 });
      for (let node = 0; node < 60; node++) expect(pull(node, 1000 * node)).toEqual(node < 40 ? [node] : []);
    }
  });

  it('get everything in one batch when there is one node', () => {
    for (const build of builds({ nodes: 1 })) expect(run(build)).toMatchObject({ maxPulls: 1, ratio: 1 });
  });

  it('finish nearly together when everything takes twice as long as predicted', () => {
    const slow = builds().map(build => ({
      ...build,
      files: build.files.map(file => ({ ...file, actual: 2 * file.actual })),
    }));
    expect(mean(slow.map(build => run(build)))).toBeLessThan(1.035);
  });
});

describe('an outage of minutes', () => {
  it('does not give most of the remaining files to the first nodes that come back', () => {
    for (const { files, nodes } of builds()) {
      const weights = Float64Array.from(files, ({ predicted }) => toWeight(predicted));
      const queue = new Queue(weights, { nodeTotal: nodes, pullCost: 20_000, isGuessed: false });
      const pull = (node_index: number, seconds: number): number => {
        const handed = queue.pull(requestAt(node_index, seconds), 1000 * seconds);
        return handed?.batch.files.reduce((sum, file) => sum + weights[file]!, 0) ?? 0;
      };
      for (let node = 0; node < nodes; node++) pull(node, node);
      const total = weights.reduce((sum, weight) => sum + weight, 0);
      const weightsAfter = Array.from({ length: nodes }, (_, node) => pull(node, 1800 + node));
      for (const weight of weightsAfter) expect(weight).toBeLessThan(0.6 * (total / nodes));
      expect(Math.max(...weightsAfter) / Math.min(...weightsAfter)).toBeLessThan(3);
    }
  });
});

describe('a queue that is read back', () => {
  it('hands out the same batches as one that stays in memory', () => {
    for (const { files, nodes } of builds()) {
      const weights = Float64Array.from(files, ({ predicted }) => toWeight(predicted));
      const outlook = { nodeTotal: nodes, pullCost: 20_000, isGuessed: false };
      const journal: Batch[] = [];
      const pull = (queue: Queue, node_index: number, seconds: number) => {
        const handed = queue.pull(requestAt(node_index, seconds), 1000 * seconds);
        if (handed) journal.push(structuredClone(handed.batch));
        return handed?.batch.files;
      };
      const kept = new Queue(weights, outlook);
      for (let node = 0; node < nodes; node++) pull(kept, node, 5 * node);
      for (let node = 0; node < nodes; node++) pull(kept, node, 100 + 20 * node);
      const readBack = new Queue(weights, outlook, structuredClone(journal));
      // Its batches were observed before.
      expect([kept.takeObserved() !== null, readBack.takeObserved()]).toEqual([true, null]);
      for (let node = 0; node < nodes; node++) {
        expect(pull(readBack, node, 250 + node)).toEqual(pull(kept, node, 250 + node));
      }
    }
  });
});

describe('a queue that repeats another', () => {
  /** Plays a build after an aborted run, whose batches are handed out again first. */
  const repeat = (build: Build, isCopy: boolean): Outcome => {
    const { files, nodes } = build;
    const weights = Float64Array.from(files, ({ predicted }) => toWeight(predicted));
    const outlook = { nodeTotal: nodes, pullCost: 20_000, isGuessed: false };
    const journal: Batch[] = [];
    const pullOf = (queue: Queue, wantsLastSplit: boolean, late: number) => {
      const seen = new Set<number>();
      return (node_index: number, millis: number) => {
        const isFirstRequest = !seen.has(node_index);
        seen.add(node_index);
        const request = requestOf({ node_index, isFirstRequest, wantsLastSplit: wantsLastSplit && isFirstRequest });
        const handed = queue.pull(request, late + millis);
        if (handed) {
          queue.delivered(handed.batch.seq);
          journal.push(structuredClone(handed.batch));
        }
        return handed?.batch.files ?? [];
      };
    };
    const first = new Queue(weights, outlook);
    const before = pullOf(first, false, 0);
    for (let node = 0; node < nodes; node++) before(node, 1000 * node);
    const copy = new Queue(weights, outlook, structuredClone(journal));
    return simulate(build, pullOf(isCopy ? copy : first, true, 3_600_000));
  };

  it.each([
    ['of another CI build', true],
    ['an hour later', false],
  ])('%s finishes nearly together', (_, isCopy) => {
    expect(mean(builds().map(build => repeat(build, isCopy)))).toBeLessThan(1.05);
  });
});
