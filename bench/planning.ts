import { performance } from 'node:perf_hooks';
import { suiteOf } from '../src/engine/suites/suite.js';
import { emptyBasis } from '../src/planning/estimating/basis.js';
import { estimate, pathOf, QUEUE_PERCENTILE } from '../src/planning/estimating/estimate.js';
import { type Level, secondsOf, updateLevel } from '../src/planning/estimating/level.js';
import { toSeconds } from '../src/planning/weight.js';
import { seededRandom } from './random.js';
import type { Result } from './results.js';
import { geometricMean } from './suites/geometric-mean.js';
import { ballast, fixedSize, guided, oneAtATimeAsListed, type Policy, staticSplit } from './suites/queue-baselines.js';
import { type Build, type Outcome, type QueueFile, simulate } from './suites/queue-simulation.js';
import type { History, Suite } from './suites/suites.js';
import { residual, syntheticSuite } from './suites/synthetic.js';

const POLICIES: Record<string, Policy> = {
  'Ballast: towards a common finish time': ballast,
  'batches of max(3 pulls, rest / 2 nodes)': guided,
  'one file at a time, longest first': fixedSize(1),
  'one file at a time, as listed': oneAtATimeAsListed,
  'five files at a time, longest first': fixedSize(5),
  'no queue: static split, longest first': staticSplit,
};
const PULL_COSTS = [0.2, 2.2, 5.2];
const NODES = [4, 8, 16];
const SEEDS = [1, 2, 3];
/** Runs of each timed queue. The minimum time of each pull counts. */
const RUNS = 5;
/** Seconds that a pull costs, as configured in the server. */
const CONFIGURED_PULL_COST = 2;
/** A build with less work per node ends before a queue matters. */
const MIN_SECONDS_PER_NODE = 100;

export interface PlanningOptions {
  /** Files and nodes of the queues whose pulls are timed. */
  queues: readonly (readonly [files: number, nodes: number])[];
}

const FULL: PlanningOptions = {
  queues: [
    [1000, 16],
    [10_000, 64],
    [100_000, 200],
  ],
};

export function planning(suites: readonly Suite[], histories: readonly History[], { queues }: PlanningOptions = FULL): Result[] {
  const recorded = histories.length > 0 ? [recordedHistories(histories)] : [];
  return [evenness(suites), ...recorded, robustness(suites), cost(queues)];
}

function evenness(suites: readonly Suite[]): Result {
  const rows = Object.entries(POLICIES).map(([name, policy]) => {
    const cells = PULL_COSTS.map(pullCost => {
      const builds = buildsOf(suites, pullCost);
      return summary(builds.map(build => run(build, policy)));
    });
    return [name, ...cells];
  });
  return {
    title: 'Queues: build time over the lower bound',
    head: ['policy', ...PULL_COSTS.map(seconds => `${seconds} s per pull`)],
    rows,
    legend:
      'Geometric mean (and mean number of pulls per node) over simulated builds of every suite in which a node has at least 100 s ' +
      'of work and no single file determines the duration, with 4, 8 and 16 nodes that start within 60 s and are up to 20 % faster or slower; ' +
      'times differ from predictions as in real builds. The lower bound: files can be divided, and each node ' +
      `pulls once. The server is configured with ${CONFIGURED_PULL_COST} s per pull.`,
  };
}

function recordedHistories(histories: readonly History[]): Result {
  const builds = histories.map(buildsOfHistory);
  const rows = Object.entries(POLICIES).map(([name, policy]) => [
    name,
    ...[false, true].map(frozen => {
      const means = builds.map(group => geometricMean(group.map(build => run({ ...build, frozen }, policy).ratio)));
      return geometricMean(means).toFixed(3);
    }),
  ]);
  return {
    title: 'Queues of recorded histories',
    head: ['policy', 'running clock', 'the server’s clock is frozen'],
    rows,
    legend:
      'Every version of each history with 8 nodes and 2.2 s per pull. Files are predicted from earlier versions, new ones ' +
      'are guessed. Geometric mean over the versions, then over the histories. As above, but in most of these builds one file determines ' +
      'the duration: chance decides its node, and the lower bound assumes the fastest node.',
  };
}

/** Builds of all versions except the first, each with three draws of nodes. */
function buildsOfHistory({ versions }: History): Build[] {
  const levels = new Map<string, Level>();
  return versions.flatMap(({ at, timings }, version) => {
    const paths = [...timings.keys()];
    const seconds = paths.map(path => {
      const level = levels.get(path);
      return level ? secondsOf(level) : null;
    });
    for (const [path, time] of timings) levels.set(path, updateLevel(levels.get(path) ?? null, time, at));
    if (version === 0) return [];
    const files = queueFiles(paths, seconds, path => timings.get(path)!);
    return SEEDS.map(seed => ({ files, nodes: 8, pullCost: 2.2, seed: 10 * version + seed }));
  });
}

/** The files with the predictions of a queue. */
function queueFiles(paths: readonly string[], seconds: readonly (number | null)[], actual: (path: string) => number): QueueFile[] {
  const times = new Map(paths.map((path, i) => [path, seconds[i]]));
  const list = suiteOf(paths);
  const recorded = {
    seconds: Float64Array.from(list.strings(), path => times.get(path) ?? NaN),
    files: new Map<string, number>(),
    basis: emptyBasis(list.length),
  };
  const files = estimate(list, recorded, QUEUE_PERCENTILE);
  return Array.from(files.weights, (weight, i) => ({
    predicted: toSeconds(weight),
    actual: actual(pathOf(files, i)),
    isUnknown: Number.isNaN(files.seconds[i]),
  }));
}

function robustness(suites: readonly Suite[]): Result {
  const scenarios: Record<string, { change?: (build: Build, suite: Suite) => Build; configured?: number }> = {
    'as above': {},
    'the configured pull cost is 0.5 s': { configured: 0.5 },
    'the configured pull cost is 8 s': { configured: 8 },
    'all files take twice as long as predicted': { change: build => ({ ...build, files: withScaledTimes(build.files, 2) }) },
    'the server’s clock is frozen': { change: build => ({ ...build, frozen: true }) },
    '10 % of the files were never measured': { change: (build, suite) => ({ ...build, files: withUnknownTimes(build, suite, 0.1) }) },
    'no file was ever measured': { change: (build, suite) => ({ ...build, files: withUnknownTimes(build, suite, 1) }) },
    'a node dies with its second batch': { change: build => ({ ...build, dies: true }) },
    'one node of eight starts': { change: build => ({ ...build, startingNodes: 1 }) },
    'one node': { change: build => ({ ...build, nodes: 1 }) },
  };
  const policies = Object.entries(POLICIES).slice(0, 4);
  const rows = Object.entries(scenarios).map(([name, { change = (build: Build) => build, configured }]) => [
    name,
    ...policies.map(([, policy]) => {
      const outcomes = suites.flatMap(suite => {
        const builds = buildsOf([suite], 2.2, [8]);
        return builds.map(build => run(change(build, suite), policy, configured));
      });
      return summary(outcomes);
    }),
  ]);
  return {
    title: 'Queues under wrong predictions',
    head: ['', ...policies.map(([name]) => name)],
    rows,
    legend: 'As above, with 8 nodes and 2.2 s per pull. The lower bound counts the nodes that worked and the files that they ran.',
  };
}

function cost(queues: PlanningOptions['queues']): Result {
  const rows = queues.map(([count, nodes]) => {
    const random = seededRandom(7);
    const times = [...syntheticSuite(3, count).timings.values()].sort((a, b) => b - a);
    const files = times.map(predicted => ({ predicted, actual: predicted * residual(random), isUnknown: false }));
    // The minimum excludes noise such as garbage collections, which hit different pulls in each run.
    const spent = Array.from({ length: RUNS }, () => {
      const micros: number[] = [];
      simulate({ files, nodes, pullCost: 2, seed: 1 }, timed(ballast(files, { nodes, pullCost: CONFIGURED_PULL_COST }), micros));
      return micros;
    }).reduce((minimum, micros) => minimum.map((each, i) => Math.min(each, micros[i]!)));
    spent.sort((a, b) => a - b);
    const mean = spent.reduce((sum, micros) => sum + micros, 0) / spent.length;
    return [`${count} files, ${nodes} nodes`, mean.toFixed(1), spent[spent.length >> 1]!.toFixed(1), spent.at(-1)!.toFixed(0)];
  });
  return {
    title: 'Queues: time of a pull',
    head: ['synthetic suite', 'mean µs', 'median µs', 'max µs'],
    rows,
    legend: 'The engine alone, without journal and HTTP: the choice of the files of a batch. Minimum of five runs.',
  };
}

function timed(dispense: ReturnType<Policy>, spent: number[]): ReturnType<Policy> {
  return (node, millis) => {
    const from = performance.now();
    const batch = dispense(node, millis);
    spent.push((performance.now() - from) * 1000);
    return batch;
  };
}

function run(build: Build, policy: Policy, configured = CONFIGURED_PULL_COST): Outcome {
  return simulate(build, policy(build.files, { nodes: build.nodes, pullCost: configured }));
}

/** Builds of the suites that have enough work, and in which no file takes longer than 0.7 of a node's share. */
function buildsOf(suites: readonly Suite[], pullCost: number, nodeTotals = NODES): Build[] {
  return suites.flatMap(({ timings }) => {
    const times = [...timings.values()].sort((a, b) => b - a);
    const total = times.reduce((sum, seconds) => sum + seconds, 0);
    return nodeTotals
      .filter(nodes => total / nodes >= MIN_SECONDS_PER_NODE && times[0]! < 0.7 * (total / nodes))
      .flatMap(nodes =>
        SEEDS.map(seed => {
          const random = seededRandom(seed);
          const files = times.map(predicted => ({ predicted, actual: predicted * residual(random), isUnknown: false }));
          return { files, nodes, pullCost, seed };
        }),
      );
  });
}

function withScaledTimes(files: readonly QueueFile[], factor: number): QueueFile[] {
  return files.map(file => ({ ...file, actual: file.actual * factor }));
}

/** The files of the suite when a part of them has no recorded time. Ballast estimates the time of these. */
function withUnknownTimes({ seed }: Build, { timings }: Suite, part: number): QueueFile[] {
  const random = seededRandom(seed);
  const paths = [...timings.keys()];
  const seconds = paths.map(path => (random() < part ? null : timings.get(path)!));
  return queueFiles(paths, seconds, path => timings.get(path)! * residual(random));
}

function summary(outcomes: readonly Outcome[]): string {
  if (outcomes.length === 0) return '-';
  const mean = geometricMean(outcomes.map(({ ratio }) => ratio));
  const pulls = outcomes.reduce((sum, { meanPulls }) => sum + meanPulls, 0) / outcomes.length;
  return `${mean.toFixed(3)} (${pulls.toFixed(1)})`;
}
