import type { Plans } from './ports/plans.js';
import type { Split } from './ports/splits.js';
import type { Store } from './ports/store.js';
import { refusals } from './refusal.js';
import type { PlannedTestFile } from './test-file.js';

/** Decodes the test files of a split or queue. */
export function decodeFiles(files: Buffer): PlannedTestFile[] {
  return JSON.parse(files.toString()) as PlannedTestFile[];
}

/** The paths of each node, slowest first. Throws a 503 when the split expired. */
export async function* pathsByNode({ plans }: Store, split: Split): AsyncGenerator<{ node_index: number; paths: string[] }> {
  for (let node_index = 0; node_index < split.node_total; node_index++) {
    const files = await plans.files(split.id, node_index);
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

/** The paths of a queue, or of some of its files, in their order. Throws a 503 when the queue expired. */
export async function pathsOfQueue({ plans }: Store, queue: string, files?: readonly number[]): Promise<string[]> {
  const indices = files ?? (await indicesOf(plans, queue));
  if (indices.length === 0) return [];
  const listed = await plans.files(queue, indices);
  if (!listed) throw refusals.expired('queue');
  return decodeFiles(listed).map(({ path }) => path);
}

/** The indices of the files of a queue. Throws a 503 when the queue expired. */
export async function indicesOf(plans: Plans, queue: string): Promise<number[]> {
  const weights = await plans.part(queue, 'weights');
  if (!weights) throw refusals.expired('queue');
  return Array.from(weights.keys());
}
