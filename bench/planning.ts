import { performance } from 'node:perf_hooks';
import { suiteOf } from '../src/server/engine/suites/suite.js';
import type { BatchSums } from '../src/server/planning/batching/batch-cost.js';
import { allFirst, chooseFirst } from '../src/server/planning/batching/first-files.js';
import { emptyBasis } from '../src/server/planning/estimating/basis.js';
import { pathOf } from '../src/server/planning/estimating/estimate.js';
import { Guesses } from '../src/server/planning/estimating/guesses.js';
import { type Level, secondsOf, updateLevel } from '../src/server/planning/estimating/level.js';
import { toSeconds, toWeight } from '../src/server/planning/weight.js';
import { ballast, ballastQueue } from '../test/testbed/ballast-queue.js';
import { type Build, type Outcome, type Policy, type QueueFile, simulate } from '../test/testbed/queue-simulation.js';
import { normal, seededRandom } from '../test/testbed/random.js';
import type { History, Suite } from '../test/testbed/suites.js';
import { residual, syntheticSuite } from '../test/testbed/synthetic.js';
import type { Result } from './results.js';
import { estimatedFiles } from './suites/estimated-files.js';
import { geometricMean } from './suites/geometric-mean.js';
import { fixedSize, guided, oneAtATimeAsListed, staticSplit } from './suites/queue-baselines.js';

const POLICIES: Record<string, Policy> = {
  'Ballast: towards a common finish time': ballast,
  'batches of max(3 pulls, rest / 2 nodes)': guided,
  'one file at a time, longest first': fixedSize(1),
  'one file at a time, as listed': oneAtATimeAsListed,
  'five files at a time, longest first': fixedSize(5),
  'no queue: static split, longest first': staticSplit,
};
/** Policies that also play builds whose reports do not tell all. */
const POLICIES_BESIDE = ['batches of max(3 pulls, rest / 2 nodes)', 'no queue: static split, longest first'];
const PULL_COSTS = [0.2, 2.2, 5.2];
const NODES = [4, 8, 16];
const SEEDS = [1, 2, 3];
/** Runs of each timed queue. The minimum time of each pull counts. */
const RUNS = 5;
/** Seconds that a pull costs, as configured in the server. */
export const CONFIGURED_PULL_COST = 2;
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
  return [evenness(suites), ...recorded, hiddenTime(suites), expectedEnds(suites), robustness(suites), cost(queues), failingFirst(suites)];
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
  const files = estimatedFiles(paths, seconds, 'queue');
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
    'twelve nodes of sixteen start, within three minutes': {
      change: build => ({ ...build, nodes: 16, startingNodes: 12, startOf: (_, random) => 180 * random() }),
    },
    'two nodes of eight start at once, the others after five minutes': {
      change: build => ({ ...build, startOf: node => (node < 2 ? 0 : 300) }),
    },
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
    legend:
      'As above, with 8 nodes if the row names no other number, and 2.2 s per pull. The lower bound counts the nodes that worked, from when they started, and the files that they ran.',
  };
}

/** The standard deviation of the logarithms of sizes, times 0.7. */
const SIZE_SPREAD = 0.7;
/** Orders in which the files of a new project are shuffled: chance decides much of its first build. */
const ORDERS = 8;

interface Project {
  /** The part of the time of all files that no report tells. */
  hidden?: number;
  /** Standard deviation of the logarithm of the hidden time, which differs from file to file. */
  spread?: number;
  /** True if hidden time is nine times as long in half of the files, as of end-to-end tests beside unit tests. */
  isTwofold?: boolean;
  pullCost?: number;
  /** No file was measured before the first build. */
  isNew?: boolean;
  /** But their sizes are known. */
  hasSizes?: boolean;
}

/** Builds of a project one after another, of which Ballast learns what a batch costs. */
function hiddenTime(suites: readonly Suite[]): Result {
  const scenarios: Record<string, Project> = {
    ...Object.fromEntries([0, 0.05, 0.1, 0.2, 0.35, 0.5].map(hidden => [`${100 * hidden} % of the time is in no report`, { hidden }])),
    '20 %, lognormal by file': { hidden: 0.2, spread: 1 },
    '50 %, lognormal by file': { hidden: 0.5, spread: 1 },
    '20 %, two kinds of files': { hidden: 0.2, isTwofold: true },
    '50 %, two kinds of files': { hidden: 0.5, isTwofold: true },
    'a runner that takes 20 s to start': { pullCost: 20 },
    'nothing known': { isNew: true },
    'nothing known, a runner that takes 9 s to start': { isNew: true, pullCost: 9 },
    'nothing known, 50 % of the time is in no report': { isNew: true, hidden: 0.5 },
    'nothing known but sizes': { isNew: true, hasSizes: true },
    'nothing known but sizes, a runner that takes 9 s to start': { isNew: true, hasSizes: true, pullCost: 9 },
  };
  const others = Object.entries(POLICIES).filter(([name]) => POLICIES_BESIDE.includes(name));
  const rows = Object.entries(scenarios).map(([name, project]) => {
    const builds = suites.flatMap(suite => projectsOf(suite, project));
    const played = builds.map(playBuilds);
    const ratios = [0, 1, 2].map(build => geometricMean(played.map(group => group[build]!.outcome.ratio)).toFixed(3));
    const last = others.map(([, policy]) => geometricMean(builds.map(group => run(group[2]!, policy).ratio)).toFixed(3));
    return [name, ...ratios, ...last];
  });
  return {
    title: 'Queues: time that reports do not contain',
    head: ['', 'first build', 'second', 'third', ...others.map(([name]) => `third: ${name}`)],
    rows,
    legend:
      'As above, with 8 nodes and, unless the row says otherwise, 2.2 s per pull. Every file takes a constant more than its report tells. ' +
      'Three builds of a project one after another; what the first ones learned serves the later ones. The logarithms of sizes and ' +
      'durations have a correlation of 0.7.',
  };
}

/** When a queue says that all its nodes end, at parts of the third build of a project, against when they do. */
function expectedEnds(suites: readonly Suite[]): Result {
  const scenarios: Record<string, Project> = {
    'reports tell all': {},
    '20 % of the time is in no report': { hidden: 0.2 },
    '50 % of the time is in no report': { hidden: 0.5 },
    'a runner that takes 9 s to start': { pullCost: 9 },
  };
  const parts = [0.25, 0.5, 0.75];
  const rows = Object.entries(scenarios).map(([name, project]) => {
    const thirds = suites.flatMap(suite => projectsOf(suite, project)).map(group => playBuilds(group).at(-1)!.queue);
    const cells = parts.flatMap(part => {
      const seen = thirds.map(({ end, expectedAt }) => ({ wall: end(), ...expectedAt(part * end())! }));
      const errors = seen.map(({ wall, at }) => Math.abs(at - wall) / wall).sort((a, b) => a - b);
      const held = seen.filter(({ wall, earliest, latest }) => earliest <= wall && wall <= latest).length;
      return [`${(100 * errors[errors.length >> 1]!).toFixed(1)} %`, `${Math.round((100 * held) / seen.length)} %`];
    });
    return [name, ...cells];
  });
  return {
    title: 'Queues: expected end',
    head: ['third build', ...parts.flatMap(part => [`after ${100 * part} %: median error`, 'in the interval'])],
    rows,
    legend:
      'As above, with 8 nodes whose speeds differ by up to 20 % from build to build. The error is a part of the build; the interval is ' +
      'that of the answer.',
  };
}

/** Plays builds of a project, one after another. Each queue begins with what those before it learned. */
function playBuilds(builds: readonly Build[]) {
  let learned: BatchSums | null = null;
  return builds.map(build => {
    const queue = ballastQueue(build.files, { nodes: build.nodes, pullCost: CONFIGURED_PULL_COST }, learned);
    const outcome = simulate(build, queue.next);
    learned = queue.keep();
    return { queue, outcome };
  });
}

/** Three builds of each of several projects that have this suite. */
function projectsOf(
  suite: Suite,
  { hidden = 0, spread = 0, isTwofold = false, pullCost = 2.2, isNew = false, hasSizes = false }: Project,
): Build[][] {
  const orders = Array.from({ length: isNew ? ORDERS : 1 }, (_, order) => 10 * order);
  const builds = buildsOf([suite], pullCost, [8]).flatMap(build => orders.map(order => ({ ...build, seed: order + build.seed })));
  return builds.map(({ files, ...build }) => {
    const random = seededRandom(build.seed);
    const mean = (hidden / (1 - hidden)) * (files.reduce((sum, { predicted }) => sum + predicted, 0) / files.length);
    const ofKind = () => (!isTwofold ? 1 : random() < 0.5 ? 0.2 : 1.8);
    const more = files.map(() => mean * ofKind() * Math.exp(spread * normal(random) - spread ** 2 / 2));
    return [0, 1, 2].map(number => {
      const isUnknown = isNew && number === 0;
      const guesses = isUnknown && hasSizes ? guessesBySize(files, random) : files.map(() => 1);
      const real = files.map(({ predicted }, i) => {
        const reported = predicted * residual(random);
        return { predicted: isUnknown ? guesses[i]! : predicted, actual: reported + more[i]!, reported, isUnknown };
      });
      return {
        ...build,
        seed: 3 * build.seed + number,
        files: isUnknown ? shuffled(real, random).sort((a, b) => b.predicted - a.predicted) : real,
      };
    });
  });
}

/** The planner's guesses of files by sizes that differ about as much as the durations do, half of it by chance. */
function guessesBySize(files: Build['files'], random: () => number): number[] {
  const logs = files.map(({ predicted }) => Math.log(predicted));
  const mean = logs.reduce((sum, log) => sum + log, 0) / logs.length;
  const deviation = Math.sqrt(logs.reduce((sum, log) => sum + (log - mean) ** 2, 0) / logs.length) || 1;
  const sizes = logs.map(log => Math.exp(SIZE_SPREAD * ((log - mean) / deviation + normal(random))));
  const guesses = new Guesses(suiteOf([]), new Float64Array(files.length).fill(NaN), 0, sizes);
  const basis = emptyBasis(files.length);
  return files.map((_, file) => guesses.guess(file, basis));
}

function shuffled<T>(items: readonly T[], random: () => number): T[] {
  return items
    .map(item => ({ item, at: random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ item }) => item);
}

/** Numbers of files that fail again, and of new files. */
const FAILURES = [
  [1, 0],
  [5, 1],
  [30, 10],
] as const;
/** Builds of each suite, with other files, times and nodes. */
const FAILING_BUILDS = 20;
const LEAST_SECONDS_PER_NODE = 60;

/** When the first of some files that fail again is known, and what it costs that they go first. */
function failingFirst(suites: readonly Suite[]): Result {
  const played = suites.flatMap(({ timings }) => {
    const times = [...timings.values()].sort((a, b) => b - a);
    const total = times.reduce((sum, seconds) => sum + seconds, 0);
    return NODES.filter(nodes => total / nodes >= LEAST_SECONDS_PER_NODE).map(nodes => ({ times, nodes }));
  });
  const rows = FAILURES.map(([failures, unmeasured]) => {
    const bySuite = played.map(({ times, nodes }) =>
      Array.from({ length: FAILING_BUILDS }, (_, build) => {
        const random = seededRandom(build);
        const files = times.map(predicted => ({ predicted, actual: predicted * residual(random), isUnknown: false }));
        const drawn = shuffled([...files.keys()], random);
        const [failed, fresh] = [drawn.slice(0, failures), drawn.slice(failures, failures + unmeasured)];
        const durations = Float64Array.from(times, toWeight);
        const first = chooseFirst({ failed, unmeasured: fresh }, { durations, nodeTotal: nodes, pullCost: toWeight(CONFIGURED_PULL_COST) });
        const run = (order: readonly number[]) => firstFailure({ files, nodes, pullCost: 2.2, seed: build }, new Set(failed), order);
        return [run([]), run(allFirst(first))] as const;
      }),
    );
    const mean = (of: (runs: (typeof bySuite)[number][number]) => number) => {
      const means = bySuite.map(builds => builds.reduce((sum, runs) => sum + of(runs), 0) / builds.length);
      return means.reduce((sum, each) => sum + each, 0) / means.length;
    };
    const longer = bySuite.map(builds => geometricMean(builds.map(([before, after]) => after.wall / before.wall)));
    const percent = (ratio: number) => `${(100 * (ratio - 1)).toFixed(1)} %`;
    return [
      `${failures} failed, ${unmeasured} new`,
      ...[0, 1].map(i => mean(runs => runs[i]!.known).toFixed(2)),
      percent(geometricMean(longer)),
      percent(Math.max(...longer)),
    ];
  });
  return {
    title: 'Queues: what failed comes first',
    head: ['files', 'first failure known, slowest first', 'failing first', 'wall time', 'worst suite'],
    rows,
    legend:
      'As a part of the wall time, from the first pull on: when a node has reported the first batch with a file that failed. The files are drawn ' +
      'evenly. Builds of every suite in which a node has at least 60 s of work, with 4, 8 and 16 nodes and 2.2 s per pull. The wall time is ' +
      'that of failing first over that of slowest first.',
  };
}

/** Plays a build whose queue hands some files out first. Returns its wall time, and at which part of it a failure is known. */
function firstFailure(build: Build, failed: ReadonlySet<number>, first: readonly number[]): { wall: number; known: number } {
  const queue = ballastQueue(build.files, { nodes: build.nodes, pullCost: CONFIGURED_PULL_COST }, null, first);
  const batches = new Map<number, number[]>();
  let [began, known] = [Infinity, Infinity];
  simulate(build, (node, millis) => {
    began = Math.min(began, millis);
    if (batches.get(node)?.some(file => failed.has(file))) known = Math.min(known, millis);
    const batch = queue.next(node, millis);
    batches.set(node, batch);
    return batch;
  });
  const wall = queue.end() - began;
  return { wall, known: (known - began) / wall };
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
export function buildsOf(suites: readonly Suite[], pullCost: number, nodeTotals = NODES): Build[] {
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
