import { describe, expect, it } from 'vitest';
import { ballast } from '../../bench/queue-peers.js';
import { type Build, type Outcome, play } from '../../bench/queue-run.js';
import { madeUpSuite, randomOf, residual } from '../../bench/suites.js';

const SEEDS = Array.from({ length: 12 }, (_, seed) => seed + 1);

/** Builds of made-up suites, whose times differ from the predictions as those of real builds do. */
const builds = (change: Partial<Build> = {}): Build[] =>
  SEEDS.map(seed => {
    const random = randomOf(seed);
    const times = [...madeUpSuite(seed, 600).timings.values()].sort((a, b) => b - a);
    const files = times.map(predicted => ({ predicted, actual: predicted * residual(random), isUnknown: false }));
    return { files, nodes: 8, pullCost: 2.2, seed, ...change };
  });

/** The same files, never measured: in no order that tells of their times. */
const guess = ({ files, seed }: Build) => {
  const random = randomOf(seed);
  return files
    .map(file => ({ at: random(), file: { ...file, predicted: 1, isUnknown: true } }))
    .sort((a, b) => a.at - b.at)
    .map(({ file }) => file);
};

const run = (build: Build, setting = 2): Outcome =>
  play(build, ballast(build.files, { nodes: build.nodes, pullCost: setting }));

const mean = (outcomes: readonly Outcome[]) =>
  outcomes.reduce((sum, { ratio }) => sum + ratio, 0) / outcomes.length;

describe('the nodes of a queue', () => {
  it.each([
    { pullCost: 0.2, most: 1.02 },
    { pullCost: 2.2, most: 1.04 },
    { pullCost: 5.2, most: 1.06 },
  ])('end within $most of the least possible when a pull costs $pullCost s, in 8 pulls', ({ pullCost, most }) => {
    const outcomes = builds({ pullCost }).map(build => run(build, pullCost));
    expect(mean(outcomes)).toBeLessThan(most);
    for (const { meanPulls } of outcomes) expect(meanPulls).toBeLessThanOrEqual(8);
  });

  it.each([0.5, 1, 4, 8])('end nearly together also when a pull of 2.2 s is taken for one of %d s', setting => {
    expect(mean(builds().map(build => run(build, setting)))).toBeLessThan(1.05);
  });

  it('end nearly together also where the clock stands still, for nodes that are simulated', () => {
    expect(mean(builds({ frozen: true }).map(build => run(build)))).toBeLessThan(1.06);
  });

  it('end not far from each other in the first build ever', () => {
    const first = builds().map(build => ({ ...build, files: guess(build) }));
    expect(mean(first.map(build => run(build)))).toBeLessThan(1.4);
    expect(mean(first.map(build => run({ ...build, frozen: true })))).toBeLessThan(1.4);
  });

  it('do the work of one that dies', () => {
    expect(mean(builds({ dies: true }).map(build => run(build)))).toBeLessThan(1.06);
  });

  it('do the work of those that never come, in few pulls', () => {
    const outcomes = builds({ coming: 1 }).flatMap(build => [run(build), run({ ...build, frozen: true })]);
    expect(mean(outcomes)).toBeLessThan(1.06);
    for (const { meanPulls } of outcomes) expect(meanPulls).toBeLessThan(16);
  });

  it('get a file each when they are more than the files', () => {
    for (const { files } of builds()) {
      const pull = ballast(files.slice(0, 40), { nodes: 60, pullCost: 2 });
      for (let node = 0; node < 60; node++) expect(pull(node, 1000 * node)).toEqual(node < 40 ? [node] : []);
    }
  });

  it('get everything at once when there is one', () => {
    for (const build of builds({ nodes: 1 })) expect(run(build)).toMatchObject({ mostPulls: 1, ratio: 1 });
  });
});
