import { ERROR_OF_MEDIAN, median } from '../../../planning/estimating/median.js';
import type { TimelineFiles } from '../timeline/timeline.js';
import type { NodeWork } from './executions.js';

/** How long nodes took for their files, relative to the estimates. */
export interface Slowness {
  /** By node: its duration relative to its estimates and to the other nodes, 1 as the others; null: too few files to know. */
  factors: (number | null)[];
  /** By node: the factor if the node is significantly slow, else 1. */
  significant: number[];
  /** The duration of all files relative to their estimates on a usual node. */
  ratio: number;
}

/** A node must be slow by this factor. */
const MIN_FACTOR = 1.15;
/** The slowness of a node is known from this many files with an estimate, or from fewer that take this many seconds. One slow file is no slow node. */
const MIN_FILES = 5;
const MIN_FILES_OF_LONG_RUN = 3;
const LONG_RUN_SECONDS = 60;

/**
 * How slow each node was. The slowness of a node is the median of the ratio of actual to estimated duration of its files, over that of the
 * usual node (the lower median of all nodes). It is significant when it is at least 1.15 and so many standard errors above 1 that it
 * seldom is by chance among so many nodes: 2 + sqrt(2 ln nodes). The errors come from the median absolute deviation of
 * all files, or of its own files if that is larger.
 */
export function slownessOf(nodes: readonly NodeWork[], files: TimelineFiles): Slowness {
  const logs = nodes.map(node => logRatios(node, files));
  const isKnown = logs.map(({ values, seconds }) => values.length >= (seconds >= LONG_RUN_SECONDS ? MIN_FILES_OF_LONG_RUN : MIN_FILES));
  const medians = logs.map(({ values }) => median(values));
  const known = medians.filter((_, node) => isKnown[node]).sort((a, b) => a - b);
  const usual = known[(known.length - 1) >> 1] ?? median(logs.flatMap(({ values }) => values));
  const deviations = logs.map(({ values }, node) => (isKnown[node] ? values.map(value => Math.abs(value - medians[node]!)) : []));
  const deviation = median(deviations.flat());
  const reference = medians.findIndex((value, node) => isKnown[node] && value === usual);
  const errorOf = (node: number) =>
    (ERROR_OF_MEDIAN * Math.max(deviation, median(deviations[node]!))) / Math.sqrt(deviations[node]!.length);
  const limit = 2 + Math.sqrt(2 * Math.log(Math.max(1, known.length)));
  const factors = medians.map((value, node) => (isKnown[node] ? Math.exp(value - usual) : null));
  const significant = factors.map((factor, node) => {
    if (factor === null || factor < MIN_FACTOR) return 1;
    return Math.log(factor) > limit * Math.hypot(errorOf(node), errorOf(reference)) ? factor : 1;
  });
  return { factors, significant, ratio: Math.exp(usual) };
}

/** The logarithms of actual over estimated duration of a node's files, those without a real estimate left out, and the seconds they took. */
function logRatios({ works }: NodeWork, { estimates, isGuess }: TimelineFiles): { values: number[]; seconds: number } {
  const values: number[] = [];
  let sum = 0;
  for (const { file, seconds, isRepeat } of works.flatMap(({ executions }) => executions)) {
    const estimate = estimates[file]!;
    if (isRepeat || isGuess[file] === 1 || !(estimate > 0) || !(seconds > 0)) continue;
    values.push(Math.log(seconds / estimate));
    sum += seconds;
  }
  return { values, seconds: sum };
}
