import { ERROR_OF_MEDIAN, median } from '../../../planning/estimating/median.js';
import type { Observed } from './observed.js';

/** A node's speed differs from the usual one if at least this many files show it, by this part and this many standard errors. */
const MIN_FILES = 5;
const MIN_DEVIATION = 0.03;
const SIGNIFICANT_ERRORS = 3;

/**
 * Returns the speed of each node that started, relative to the others: 1 unless the recorded times of its files differ from their
 * estimates by another factor than those of the other nodes, and by more than chance. The factor of a node is the median of its files.
 *
 * @param estimates seconds by file; NaN: there is none, or it is a guess
 */
export function speedsOf({ seconds, nodes, lanes }: Observed, estimates: Float64Array): Float64Array {
  /** By node: the logarithms of recorded over estimated time. */
  const ratios = lanes.map((): number[] => []);
  for (const [file, time] of seconds.entries()) {
    const estimate = estimates[file]!;
    if (time > 0 && estimate > 0) ratios[nodes[file]!]!.push(Math.log(time / estimate));
  }
  const medians = ratios.map(median);
  const usual = median(medians.filter((_, node) => ratios[node]!.length >= MIN_FILES));
  // How much a file differs from the others of its node.
  const deviation = median(ratios.flatMap((own, node) => own.map(ratio => Math.abs(ratio - medians[node]!))));
  return Float64Array.from(ratios, (own, node) => {
    const difference = medians[node]! - usual;
    const error = (ERROR_OF_MEDIAN * deviation) / Math.sqrt(own.length);
    const isUsual = own.length < MIN_FILES || Math.abs(difference) < Math.max(MIN_DEVIATION, SIGNIFICANT_ERRORS * error);
    return isUsual ? 1 : Math.exp(-difference);
  });
}
