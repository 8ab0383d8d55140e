import type { Policy } from '../../test/testbed/queue-simulation.js';

/** Other ways to hand out the files of a queue. */

/** A fixed number of files, slowest first. Most queues use 1. */
export const fixedSize =
  (count: number): Policy =>
  files => {
    const left = [...files.keys()];
    return () => left.splice(0, count);
  };

/** One file at a time, in the order of a runner's list (here: pseudo-random). */
export const oneAtATimeAsListed: Policy = files => {
  const order = [...files.keys()].sort((a, b) => ((a * 7919) % files.length) - ((b * 7919) % files.length) || a - b);
  return () => order.splice(0, 1);
};

/** Batches of the remaining time over twice the nodes, but at least three times the cost of a pull (guided self-scheduling by time). */
export const guided: Policy = (files, { nodes, pullCost }) => {
  let left = files.reduce((sum, { predicted }) => sum + predicted, 0);
  let next = 0;
  return () => {
    const batch: number[] = [];
    let room = Math.max(3 * pullCost, left / (2 * nodes));
    for (; next < files.length && (batch.length === 0 || files[next]!.predicted <= room); next++) {
      batch.push(next);
      room -= files[next]!.predicted;
      left -= files[next]!.predicted;
    }
    return batch;
  };
};

/** No queue: a split made before the build. Each file, longest first, goes to the least loaded node. */
export const staticSplit: Policy = (files, { nodes }) => {
  const loads = Array<number>(nodes).fill(0);
  const batches = loads.map((): number[] => []);
  for (const [file, { predicted }] of files.entries()) {
    const node = loads.indexOf(Math.min(...loads));
    loads[node]! += predicted;
    batches[node]!.push(file);
  }
  return node => batches[node]!.splice(0);
};
