import { readFiles, weightsOfQueue } from '../../../src/store/lmdb/codecs/file-blocks.js';
import { filesOfNode } from '../../../src/store/lmdb/codecs/split-files.js';
import type { Parts } from '../../../src/store/lmdb/parts.js';
import { upTo } from '../contract/fixtures.js';

/** Stores the files of a queue as store versions up to 11 have them: 64 in each blob. */
export async function storeOldBlocks(parts: Parts, queue: string): Promise<void> {
  const all = upTo(weightsOfQueue(parts, queue).length);
  const texts = (JSON.parse(readFiles(parts, queue, all).toString()) as object[]).map(file => `,${JSON.stringify(file)}`);
  const blobs = upTo(Math.ceil(all.length / 64)).map(block => oldBlock(texts.slice(64 * block, 64 * (block + 1))));
  await replaceBlobs(parts, queue, blobs);
}

/** Stores the files of a split as store versions 8 to 11 have them: those of a node in each blob. */
export async function storeNodesApart(parts: Parts, split: string, nodes: number): Promise<void> {
  await replaceBlobs(
    parts,
    split,
    upTo(nodes).map(node => Buffer.from(filesOfNode(parts, split, node)!)),
  );
}

function oldBlock(texts: readonly string[]): Buffer {
  const table = Buffer.alloc(4 * 64);
  let end = 0;
  for (let file = 0; file < 64; file++) table.writeUInt32LE((end += Buffer.byteLength(texts[file] ?? '')), 4 * file);
  return Buffer.concat([table, Buffer.from(texts.join(''))]);
}

async function replaceBlobs({ blobs }: Parts, owner: string, files: readonly Buffer[]): Promise<void> {
  await Promise.all(Array.from(blobs.getKeys({ start: [owner, 0], end: [owner, Infinity] }), key => blobs.remove(key)));
  await Promise.all(files.map((bytes, part) => blobs.put([owner, part], bytes)));
}
