import { durationText } from '../duration.js';

/** What the reason for a part of a split is made of. Durations are seconds. */
export interface PartFacts {
  node_index: number;
  nodeTotal: number;
  files: number;
  /** The estimates of its files together. */
  weight: number;
  /** The mean of all nodes. */
  mean: number;
  /** The most of a node, and the least that the node with most could have in any split; NaN: unknown. */
  makespan: number;
  bound: number;
  /** The split was made for an earlier CI run of the build. */
  isReused: boolean;
}

/** Why a node got this part of a split, in a few sentences. */
export function partReason({ node_index, nodeTotal, files, weight, mean, makespan, bound, isReused }: PartFacts): string {
  const sentences = [nodeTotal === 1 ? `Node ${node_index} is the only node, so it got all files.` : METHOD];
  if (nodeTotal > 1) {
    const work = files === 0 ? 'got no files' : `got ${durationText(weight)} of work`;
    sentences.push(`Node ${node_index} ${work}; the mean of the ${nodeTotal} nodes is ${durationText(mean)}.`);
    if (!Number.isNaN(makespan + bound))
      sentences.push(
        `The node with the most work has ${durationText(makespan)}; in no split of whole files could it have less than ${durationText(bound)}.`,
      );
  }
  if (isReused) sentences.push('The split was made for an earlier CI run of this build, and later ones get the same.');
  return sentences.join(' ');
}

const METHOD =
  'A split gives each file, the longest first, to the node with the least work, and then moves files between nodes to even them out.';
