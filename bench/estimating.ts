import { pathOf } from '../src/server/planning/estimating/estimate.js';
import { pack } from '../src/server/planning/packing/pack.js';
import { seededRandom } from '../test/testbed/random.js';
import type { History } from '../test/testbed/suites.js';
import { syntheticHistory } from '../test/testbed/synthetic.js';
import type { Result } from './results.js';
import { estimatedFiles } from './suites/estimated-files.js';
import { geometricMean } from './suites/geometric-mean.js';
import { ballast, type Estimator, meanOf, medianOf, movingAverage } from './suites/level-baselines.js';

const ESTIMATORS: Record<string, () => Estimator> = {
  'Ballast: robust adaptive level': ballast,
  'last time': movingAverage(1),
  'moving average, 0.7 of the last': movingAverage(0.7),
  'moving average, 0.5 of the last': movingAverage(0.5),
  'moving average, 0.1 of the last': movingAverage(0.1),
  'mean of 5': meanOf(5),
  'median of 5': medianOf(5),
};
const NODES = 8;
/** Small errors decide which files share a node, so each split is repeated with slightly changed estimates. */
const PERTURBATIONS = 32;
const PERTURBATION = 0.02;

export interface EstimatingOptions {
  /** Builds and files of the simulated histories. */
  builds: number;
  files: number;
}

const FULL: EstimatingOptions = { builds: 150, files: 60 };

export function estimating(histories: readonly History[], options: EstimatingOptions = FULL): Result[] {
  return [errors(histories, options), splits(histories), newFiles(histories)];
}

function errors(histories: readonly History[], { builds, files }: EstimatingOptions): Result {
  const simultaneous = histories.map(history => ({
    ...history,
    versions: history.versions.map((version, i) => ({ ...version, at: 50 * i })),
  }));
  const [often, rarely] = [1 / 20, 7].map(days => [1, 2, 3].map(seed => syntheticHistory(seed, files, builds, days)));
  const last = ESTIMATORS['last time']!;
  const rows = Object.entries(ESTIMATORS).map(([name, estimator]) => {
    const relative = (group: readonly History[]) =>
      geometricMean(group.map(history => weightedError(history, estimator) / weightedError(history, last))).toFixed(3);
    const absolute = (group: readonly History[]) =>
      `${(100 * geometricMean(group.map(history => weightedError(history, estimator)))).toFixed(1)} %`;
    return [name, relative(histories), relative(simultaneous), absolute(often!), absolute(rarely!)];
  });
  return {
    title: 'Estimates: weighted error',
    head: ['', 'histories', 'same date for all', 'simulated, 20 builds a day', 'simulated, one a week'],
    rows,
    legend:
      'Error: sum of |estimate - next time| over the sum of next times. For recorded histories the ratio to the error of the last ' +
      'time, geometric mean; with their dates, and as if all versions were recorded within a second. For simulated histories the error itself: ' +
      'times follow a random walk (variance 0.002 per day in log space) with heavy-tailed noise.',
  };
}

function splits(histories: readonly History[]): Result {
  const methods: Record<string, (() => Estimator) | null> = { ...ESTIMATORS, 'the next times themselves': null };
  const rows = Object.entries(methods).map(([name, estimator]) => {
    const means = histories.map(history =>
      geometricMean(
        replay(history, estimator ?? movingAverage(1), (estimators, next) =>
          perturbedSplitRatio(next, path => (estimator ? estimators.get(path)?.estimate() : next.get(path))),
        ),
      ),
    );
    return [name, geometricMean(means).toFixed(3), Math.max(...means).toFixed(3)];
  });
  return {
    title: 'Estimates: the splits that follow',
    head: [`${NODES} nodes`, 'mean', 'worst history'],
    rows,
    legend:
      'Makespan of a regular split by the estimates over max(total / nodes, longest file), both with the next times: ' +
      'geometric mean over the versions of each history and 32 random changes of the estimates by at most 1 %, then over the histories.',
  };
}

/** The geometric mean of the split ratios with slightly changed estimates. */
function perturbedSplitRatio(next: ReadonlyMap<string, number>, estimateOf: (path: string) => number | undefined): number {
  const paths = [...next.keys()];
  const ratios = Array.from({ length: PERTURBATIONS }, (_, seed) => {
    const random = seededRandom(seed);
    const seconds = paths.map(path => {
      const time = estimateOf(path);
      return time === undefined ? null : time * (1 + PERTURBATION * (random() - 0.5));
    });
    return splitRatio(paths, seconds, next);
  });
  return geometricMean(ratios);
}

function newFiles(histories: readonly History[]): Result {
  const methods: Record<string, (seconds: readonly (number | null)[]) => (number | null)[]> = {
    'Ballast: slower quarter of the directory': seconds => [...seconds],
    'slower quarter of the suite': seconds => fillUnknown(seconds, times => times[Math.floor(0.75 * times.length)]!),
    'mean of the suite': seconds => fillUnknown(seconds, times => times.reduce((sum, time) => sum + time, 0) / times.length),
    'median of the suite': seconds => fillUnknown(seconds, times => times[times.length >> 1]!),
  };
  const rows = Object.entries(methods).map(([name, fill]) => {
    const ratios = histories.flatMap(({ versions }) =>
      versions.map(({ timings }, seed) => {
        const random = seededRandom(seed + 1);
        const paths = [...timings.keys()];
        const seconds = paths.map(path => (random() < 0.1 ? null : timings.get(path)!));
        return splitRatio(paths, seconds.some(time => time !== null) ? fill(seconds) : seconds, timings);
      }),
    );
    return [name, geometricMean(ratios).toFixed(3)];
  });
  return {
    title: 'Estimates: new files',
    head: ['estimate of a new file', 'makespan'],
    rows,
    legend: `Every version of every history over ${NODES} nodes, with a tenth of its files unknown and the others known exactly.`,
  };
}

/** Calls `visit` before each version except the first, and then adds the version's times to the estimators. */
function replay<T>(
  { versions }: History,
  estimator: () => Estimator,
  visit: (estimators: ReadonlyMap<string, Estimator>, next: ReadonlyMap<string, number>) => T,
): T[] {
  const estimators = new Map<string, Estimator>();
  const results: T[] = [];
  for (const [i, { at, timings }] of versions.entries()) {
    if (i > 0) results.push(visit(estimators, timings));
    for (const [path, seconds] of timings) {
      let pathEstimator = estimators.get(path);
      if (!pathEstimator) estimators.set(path, (pathEstimator = estimator()));
      pathEstimator.add(seconds, at);
    }
  }
  return results;
}

function weightedError(history: History, estimator: () => Estimator): number {
  let [errors, total] = [0, 0];
  replay(history, estimator, (estimators, next) => {
    for (const [path, seconds] of next) {
      const pathEstimator = estimators.get(path);
      if (!pathEstimator) continue;
      errors += Math.abs(pathEstimator.estimate() - seconds);
      total += seconds;
    }
  });
  return errors / total;
}

function splitRatio(paths: readonly string[], seconds: readonly (number | null)[], next: ReadonlyMap<string, number>): number {
  const files = estimatedFiles(paths, seconds, 'split');
  const { nodes } = pack(files.weights, NODES);
  const loads = nodes.map(node => node.reduce((sum, file) => sum + next.get(pathOf(files, file))!, 0));
  const total = loads.reduce((sum, load) => sum + load, 0);
  return Math.max(...loads) / Math.max(total / NODES, ...next.values());
}

function fillUnknown(seconds: readonly (number | null)[], guess: (times: number[]) => number): (number | null)[] {
  const times = seconds.filter(time => time !== null).sort((a, b) => a - b);
  return seconds.map(time => time ?? guess(times));
}
