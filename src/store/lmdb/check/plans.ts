import { isHandedOn } from '../../../engine/queue/batch.js';
import { digestOfList } from '../../../list-digest.js';
import { blockCount, blocksOfQueue, pathsOf, weightsOfQueue } from '../file-blocks.js';
import type { Parts } from '../open.js';
import { batchesOf } from '../open-queue.js';
import { isOtherList } from '../other-lists.js';
import type { QueueRecord, SplitRecord } from '../records.js';
import { answerOfSplit } from '../splits.js';
import { type Problem, problemOf, type Seen } from './problem.js';

/** Splits and queues: that all their files are there, once, and who has them. */
export function* problemsOfPlans(store: Parts, seen: Seen): Generator<Problem> {
  for (const { key, value: split } of store.splits.getRange()) {
    seen('splits');
    yield* problemsOfSplit(store, key, split);
  }
  const led = new Set<string>();
  for (const { key, value: id } of store.queuesOfNodeBuild.getRange()) {
    const queue = store.queues.get(id);
    const problem = problemOf('queuesOfNodeBuild', key);
    if (!queue) yield problem(`leads to queue ${id}, which is not there`, () => store.queuesOfNodeBuild.remove(key));
    else if (led.has(id) || (!queue.repeats && queue.name !== key)) yield problem(`leads to queue ${id}, which is another one's`, null);
    led.add(id);
  }
  for (const { key: id, value: queue } of store.queues.getRange()) {
    seen('queues');
    if (!led.has(id)) {
      // Of a copy nothing else tells what it was for.
      const repair = queue.repeats
        ? null
        : () => store.queuesOfNodeBuild.ifNoExists(queue.name, () => void store.queuesOfNodeBuild.put(queue.name, id));
      yield { table: 'queues', key: id, what: 'is found by no request', repair };
    }
    yield* problemsOfQueue(store, id, queue);
  }
  for (const { key, value: id } of store.queuesOfBuild.getRange()) {
    if (store.queues.get(id)?.build === key) continue;
    yield {
      table: 'queuesOfBuild',
      key,
      what: `leads to queue ${id}, which is another build's or not there`,
      repair: () => store.queuesOfBuild.remove(key),
    };
  }
}

function* problemsOfSplit(store: Parts, key: string, split: SplitRecord): Generator<Problem> {
  const problem = (what: string): Problem => ({ table: 'splits', key, what, repair: null });
  if (!store.forecasts.doesExist(split.id)) yield problem('has no forecast');
  const paths: string[] = [];
  for (let node = 0; node < split.node_total; node++) {
    const answer = answerOfSplit(store, split, node);
    if (!answer) {
      yield problem(`has no answer for node ${node}`);
      continue;
    }
    try {
      const { node_index, test_files } = JSON.parse(answer.toString()) as { node_index: number; test_files: { path: string }[] };
      if (node_index !== node) yield problem(`has for node ${node} the answer to node ${node_index}`);
      for (const { path } of test_files) paths.push(path);
    } catch (error) {
      yield problem(`has for node ${node} what cannot be read: ${(error as Error).message}`);
    }
  }
  const twice = firstTwice(paths);
  if (twice !== undefined) yield problem(`has the file ${JSON.stringify(twice)} twice`);
  if (isOtherList(split.list, digestOfList(paths))) yield problem('has other files than it was made of');
}

function* problemsOfQueue(store: Parts, id: string, { node_total, list }: QueueRecord): Generator<Problem> {
  const problem = (what: string): Problem => ({ table: 'queues', key: id, what, repair: null });
  if (!store.forecasts.doesExist(id)) yield problem('has no forecast');
  let files = 0;
  try {
    const weights = weightsOfQueue(store, id);
    files = weights.length;
    if (blocksOfQueue(store, id) !== blockCount(files))
      yield problem(`has ${files} weights and ${blocksOfQueue(store, id)} blocks of files`);
    if (!weights.every((weight, i) => weight > 0 && (i === 0 || weight <= weights[i - 1]!))) yield problem('has weights in disorder');
    const all = Array.from(weights, (_, file) => file);
    const paths = pathsOf(store, id, all);
    if (paths.length !== files) yield problem(`has ${files} weights and ${paths.length} files`);
    const twice = firstTwice(paths);
    if (twice !== undefined) yield problem(`has the file ${JSON.stringify(twice)} twice`);
    if (isOtherList(list, digestOfList(paths))) yield problem('has other files than it was made of');
  } catch (error) {
    yield problem(`has files that cannot be read: ${(error as Error).message}`);
    return;
  }
  const taken = new Map<number, number>();
  for (const batch of batchesOf(store, id)) {
    const { seq, node_index } = batch;
    // What was handed out again, and what went from a silent node to another.
    const again = batch.again || isHandedOn(batch);
    if (node_index >= node_total) yield problem(`handed batch ${seq} to node ${node_index} of ${node_total}`);
    for (const file of batch.files) {
      if (file >= files) yield problem(`handed file ${file} of ${files} out with batch ${seq}`);
      else if (!again && taken.has(file)) yield problem(`handed file ${file} out with batch ${taken.get(file)}, and with batch ${seq}`);
      if (!again) taken.set(file, seq);
    }
  }
}

function firstTwice(paths: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return paths.find(path => seen.size === seen.add(path).size);
}
