import { lowerBound } from '../src/server/planning/packing/bound.js';
import { pack } from '../src/server/planning/packing/pack.js';
import { toWeight } from '../src/server/planning/weight.js';
import { normal, seededRandom } from '../test/testbed/random.js';
import type { Suite } from '../test/testbed/suites.js';
import { syntheticSuite } from '../test/testbed/synthetic.js';
import type { Result } from './results.js';
import { geometricMean } from './suites/geometric-mean.js';
import {
  differencing,
  durationChunks,
  hashedPath,
  longestFirst,
  multifit,
  roundRobin,
  type Split,
  type WeightedFile,
} from './suites/split-baselines.js';

const SPLITS: Record<string, Split> = {
  'Ballast: longest first, refined': (files, nodes) => {
    const weights = weightsOf(files);
    return pack(weights, nodes).nodes.map(node => node.reduce((sum, file) => sum + weights[file]!, 0));
  },
  'differencing (Karmarkar-Karp)': differencing,
  'first fit by bisection (MULTIFIT)': multifit,
  'longest first (LPT)': longestFirst,
  'chunks of equal duration, as listed': durationChunks,
  'round-robin, as listed': roundRobin,
  'by a hash of the path': hashedPath,
};

export interface PackingOptions {
  /** The step between numbers of nodes, from 2 to 200. */
  step: number;
  /** Files and nodes of the suites whose packing is timed. */
  sizes: readonly (readonly [files: number, nodes: number])[];
}

const FULL: PackingOptions = {
  step: 1,
  sizes: [
    [1000, 16],
    [10_000, 64],
    [100_000, 200],
  ],
};
/** Runs of each timed packing. */
const RUNS = 7;

export function packing(suites: readonly Suite[], { step, sizes }: PackingOptions = FULL): Result[] {
  const nodeTotals = Array.from({ length: 199 }, (_, i) => i + 2).filter(nodes => (nodes - 2) % step === 0);
  const cases = suites.flatMap(({ timings }) => {
    const files = [...timings].map(([path, seconds]) => ({ path, weight: toWeight(seconds) }));
    return nodeTotals.map(nodes => ({ files, nodes }));
  });
  return [
    quality('Splits: makespan over the lower bound', cases, 'Every suite, split over 2 to 200 nodes.'),
    quality(
      'Splits of few, near-equal files',
      nearEqual(step),
      'Synthetic suites with 2.5 to 4 files per node, split over 3 to 60 nodes; the logarithms of the times have a standard deviation of 0.3, as in end-to-end tests.',
    ),
    cost(sizes),
  ];
}

interface Case {
  files: readonly WeightedFile[];
  nodes: number;
}

function quality(title: string, cases: readonly Case[], legend: string): Result {
  const bounds = cases.map(({ files, nodes }) => {
    const weights = weightsOf(files);
    const total = weights.reduce((sum, weight) => sum + weight, 0);
    return { simple: Math.max(total / nodes, weights[0]!), proved: lowerBound(weights, nodes) };
  });
  const rows = Object.entries(SPLITS).map(([name, split]) => {
    const makespans = cases.map(({ files, nodes }) => Math.max(...split(files, nodes)));
    const ratios = makespans.map((makespan, i) => makespan / bounds[i]!.simple);
    const gaps = makespans.map((makespan, i) => makespan / bounds[i]!.proved);
    const optimal = gaps.filter(gap => gap === 1).length;
    return [
      name,
      geometricMean(ratios).toFixed(6),
      ratios.reduce((most, ratio) => Math.max(most, ratio), 0).toFixed(4),
      gaps.reduce((most, gap) => Math.max(most, gap), 0).toFixed(4),
      `${((100 * optimal) / gaps.length).toFixed(2)} %`,
    ];
  });
  return {
    title,
    head: ['', 'mean', 'worst', 'worst, over the proved bound', 'proved optimal'],
    rows,
    legend: `${legend} Makespan over max(total / nodes, longest file): geometric mean and worst. The proved bound also accounts for long files that must share a node because there are more of them than nodes; a split that reaches the bound is optimal.`,
  };
}

function nearEqual(step: number): Case[] {
  const cases: Case[] = [];
  for (let nodes = 3; nodes <= 60; nodes += step) {
    for (const perNode of [2.5, 3, 3.5, 4]) {
      const random = seededRandom(1000 * nodes + 10 * perNode);
      const files = Array.from({ length: Math.round(perNode * nodes) }, (_, i) => ({
        path: `e2e/${i}.spec.ts`,
        weight: toWeight(30 * Math.exp(0.3 * normal(random))),
      }));
      cases.push({ files, nodes });
    }
  }
  return cases;
}

function cost(sizes: PackingOptions['sizes']): Result {
  const rows = sizes.map(([count, nodes]) => {
    const files = [...syntheticSuite(3, count).timings].map(([path, seconds]) => ({ path, weight: toWeight(seconds) }));
    const alike = files.map(({ path }, i) => ({ path, weight: 90_000 + ((i * 7919) % 20_000) }));
    const [spread, equal] = [files, alike].map(weightsOf).map(weights => timed(() => pack(weights, nodes)));
    return [`${count} files, ${nodes} nodes`, spread!, equal!, timed(() => longestFirst(files, nodes))];
  });
  return {
    title: 'Splits: CPU time of packing',
    head: ['synthetic suite', 'ms, times spread', 'ms, near-equal times', 'ms, longest first alone, without a heap'],
    rows,
    legend: `CPU time to pack sorted weights, including the lower bound and the lists: median of ${RUNS} runs.`,
  };
}

function timed(run: () => unknown): string {
  const spent = Array.from({ length: RUNS }, () => {
    const from = process.cpuUsage();
    run();
    return process.cpuUsage(from).user / 1000;
  });
  return spent.sort((a, b) => a - b)[RUNS >> 1]!.toFixed(1);
}

function weightsOf(files: readonly WeightedFile[]): Float64Array {
  return Float64Array.from(files, ({ weight }) => weight)
    .sort()
    .reverse();
}
