import type { Segments } from '../../../engine/segments.js';
import type { PathTimes } from '../../../planning/estimating/estimate.js';
import { PlannedFileWriter } from './planned-files.js';

/**
 * The test files of each node of a split, in `blobs` under [split id, node_index]: a JSON array of PlannedTestFile. Up to store
 * version 7 it was the whole answer to the node, {"build_distribution_id":"...","node_index":0,"test_files":[...]}.
 */

const [OPENING_BRACKET, CLOSING_BRACKET] = Buffer.from('[]');

/** @param nodes the files of each node, as indices into the plan */
export function encodeSplitFiles(files: PathTimes, nodes: readonly (readonly number[])[]): Segments {
  const writer = new PlannedFileWriter(files, 2 * nodes.length);
  const { at: begin, bytes } = writer;
  const ends = new Uint32Array(nodes.length);
  for (const [node, planned] of nodes.entries()) {
    const start = writer.at;
    if (planned.length === 0) writer.at += 1;
    for (let i = 0; i < planned.length; i++) writer.write(planned[i]!);
    // The bracket takes the place of the first comma.
    bytes[start] = OPENING_BRACKET!;
    writer.writeByte(CLOSING_BRACKET!);
    ends[node] = writer.at - begin;
  }
  return { bytes: new Uint8Array(bytes.subarray(begin, writer.at)), ends };
}

/** The JSON array in a blob of any version. */
export function filesInBlob(blob: Buffer): Buffer {
  // In an old answer, the text before the array has no bracket.
  return blob[0] === OPENING_BRACKET ? blob : blob.subarray(blob.indexOf(OPENING_BRACKET!), blob.lastIndexOf('}'));
}
