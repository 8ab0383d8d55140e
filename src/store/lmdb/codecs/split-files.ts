import { asBuffer, type Segments, segment } from '../../../bytes.js';
import type { NewSplit } from '../../../engine/ports/splits.js';
import type { Suite } from '../../../engine/suites/suite.js';
import type { PathTimes } from '../../../planning/estimating/estimate.js';
import { type BlobParts, type Blobs, blobStepOf, piecesPerBlob, readBlobAgain } from '../writes/blobs.js';
import { BASIS } from './file-blocks.js';
import { PlannedFileWriter } from './planned-files.js';

/**
 * The test files of each node of a split: a JSON array of PlannedTestFile, in `blobs` under [split id, node_index]. Several adjacent nodes of a
 * large split have one blob, under the first of them: the end of the array of each (4 bytes, little-endian, from the end of this table), then
 * the arrays. The second key tells how many they are.
 */

const END = 4;
const [OPENING_BRACKET, CLOSING_BRACKET] = Buffer.from('[]');

/** @param nodes the files of each node, as indices into the plan */
export function encodeSplitFiles(files: PathTimes<Suite>, nodes: readonly (readonly number[])[]): Segments {
  const step = piecesPerBlob(nodes.length, files.order.length);
  const tableBytes = tableBytesOf(step);
  const ends = new Uint32Array(Math.ceil(nodes.length / step));
  const writer = new PlannedFileWriter(files, 2 * nodes.length + tableBytes * ends.length);
  const { at: begin, bytes } = writer;
  for (let blob = 0; blob < ends.length; blob++) {
    let endAt = writer.at;
    const start = (writer.at += tableBytes);
    for (const planned of nodes.slice(step * blob, step * (blob + 1))) {
      writeArray(writer, planned);
      if (tableBytes > 0) endAt = bytes.writeUInt32LE(writer.at - start, endAt);
    }
    // The last blob may have fewer nodes.
    bytes.fill(0, endAt, start);
    ends[blob] = writer.at - begin;
  }
  return { bytes: new Uint8Array(bytes.subarray(begin, writer.at)), ends };
}

function writeArray(writer: PlannedFileWriter, planned: readonly number[]): void {
  const start = writer.at;
  if (planned.length === 0) writer.at += 1;
  for (let i = 0; i < planned.length; i++) writer.write(planned[i]!);
  // The bracket takes the place of the first comma.
  writer.bytes[start] = OPENING_BRACKET!;
  writer.writeByte(CLOSING_BRACKET!);
}

/** The blobs of a split: the files of its nodes, then the basis of their estimates. */
export function blobsOfSplit({ files, basis }: Pick<NewSplit, 'files' | 'basis'>, nodes: number): Blobs {
  const { length } = files.ends;
  // The step that the files were encoded with: `piecesPerBlob` returns the smallest that makes so few blobs.
  const step = Math.ceil(nodes / length);
  return {
    count: length + 1,
    blob: i => (i < length ? { part: step * i, bytes: segment(files, i) } : { part: BASIS, bytes: asBuffer(basis) }),
  };
}

/** The JSON array of a node; null: the split expired, or has no such node. */
export function filesOfNode(parts: BlobParts, split: string, node: number): Buffer | null {
  const keyStep = blobStepOf(parts, split);
  const place = node % keyStep;
  const blob = readBlobAgain(parts, split, node - place);
  if (!blob || keyStep === 1) return blob ?? null;
  const table = tableBytesOf(keyStep);
  const start = place === 0 ? 0 : blob.readUInt32LE(END * (place - 1));
  const end = blob.readUInt32LE(END * place);
  return end === 0 ? null : blob.subarray(table + start, table + end);
}

/** A node alone in its blob needs no table. */
function tableBytesOf(keyStep: number): number {
  return keyStep === 1 ? 0 : END * keyStep;
}
