import { type Segments, toSegments } from '../../../engine/segments.js';
import type { PathTimes } from '../../../planning/estimating/estimate.js';
import { plannedFiles } from './planned-files.js';

/**
 * The test files of each node of a split, in `blobs` under [split id, node_index]: a JSON array of PlannedTestFile. Up to store
 * version 7 it was the whole answer to the node, {"build_distribution_id":"...","node_index":0,"test_files":[...]}.
 */

const BRACKET = 0x5b;

/** @param nodes the files of each node, as indices into the estimates */
export function encodeSplitFiles(files: PathTimes, nodes: readonly (readonly number[])[]): Segments {
  const { text, ends } = plannedFiles(files);
  return toSegments(
    nodes.map(indices => {
      const listed = indices.map(file => text.slice(ends[file - 1] ?? 0, ends[file])).join('');
      return `[${listed.slice(1)}]`;
    }),
  );
}

/** The JSON array in a blob of any version. */
export function filesInBlob(blob: Buffer): Buffer {
  // In an old answer, the text before the array has no bracket.
  return blob[0] === BRACKET ? blob : blob.subarray(blob.indexOf(BRACKET), blob.lastIndexOf('}'));
}
