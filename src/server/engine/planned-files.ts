import type { Split } from './ports/splits.js';
import type { Store } from './ports/store.js';
import { refusals } from './refusal.js';
import type { PlannedTestFile } from './test-file.js';

/** Decodes the test files of a split or queue. */
export function decodeFiles(files: Buffer): PlannedTestFile[] {
  return JSON.parse(files.toString()) as PlannedTestFile[];
}

/** The paths of each node, slowest first. Throws a 503 when the split expired. */
export async function* pathsByNode({ splits }: Store, split: Split): AsyncGenerator<{ node_index: number; paths: string[] }> {
  for (let node_index = 0; node_index < split.node_total; node_index++) {
    const files = await splits.files(split, node_index);
    if (!files) throw refusals.expired('split');
    yield { node_index, paths: decodeFiles(files).map(({ path }) => path) };
  }
}

/** The paths of a split, node by node. */
export async function pathsOfSplit(store: Store, split: Split): Promise<string[]> {
  const all: string[] = [];
  for await (const { paths } of pathsByNode(store, split)) for (const path of paths) all.push(path);
  return all;
}

/** The paths of a queue, or of some of its files, in their order. */
export async function pathsOfQueue({ queues }: Store, queue: string, files?: readonly number[]): Promise<string[]> {
  const indices = files ?? Array.from({ length: await queues.size(queue) }, (_, file) => file);
  return indices.length === 0 ? [] : decodeFiles(await queues.files(queue, indices)).map(({ path }) => path);
}
