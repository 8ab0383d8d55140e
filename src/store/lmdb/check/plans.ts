import { buildDigest } from '../../../engine/keys.js';
import { wasReassigned } from '../../../engine/queue/batch.js';
import type { TestFileList } from '../../../engine/suites/compare-lists.js';
import { digestOfList } from '../../../list-digest.js';
import { decodeBasis } from '../../../planning/estimating/basis.js';
import { BASIS, blocksOfQueue, readFiles, weightsOfQueue } from '../codecs/file-blocks.js';
import { filesOfNode } from '../codecs/split-files.js';
import { willExpire } from '../deleted-projects.js';
import type { Parts } from '../parts.js';
import { batchesOf } from '../queue-cache.js';
import type { QueueRecord, SplitRecord } from '../records.js';
import type { Tables } from '../tables.js';
import { readBlob } from '../writes/blobs.js';
import { type Problem, problemOf, type Seen } from './problem.js';

/** Problems of splits and queues: files that are missing or listed twice, and batches that do not fit. */
export function* problemsOfPlans(parts: Parts, seen: Seen): Generator<Problem> {
  for (const { key, value: split } of parts.splits.getRange()) {
    seen('splits');
    yield* problemsOfSplit(parts, key, split);
  }
  const led = new Set<string>();
  for (const { key, value: id } of parts.queuesOfNodeBuild.getRange()) {
    const queue = parts.queues.get(id);
    const problem = problemOf('queuesOfNodeBuild', key);
    if (!queue) yield problem(`leads to queue ${id}, which does not exist`, () => parts.queuesOfNodeBuild.remove(key));
    else if (led.has(id) || (!queue.copied && queue.name !== key))
      yield problem(`leads to queue ${id}, which belongs to another key`, null);
    led.add(id);
  }
  for (const { key: id, value: queue } of parts.queues.getRange()) {
    seen('queues');
    if (!led.has(id)) {
      // No other record has the key of a copy.
      const repair = queue.copied
        ? null
        : () => parts.queuesOfNodeBuild.ifNoExists(queue.name, () => void parts.queuesOfNodeBuild.put(queue.name, id));
      yield { table: 'queues', key: id, what: 'is found by no request', repair };
    }
    yield* problemsOfQueue(parts, id, queue);
  }
  for (const { key, value: id } of parts.queuesOfBuild.getRange()) {
    if (parts.queues.get(id)?.build === key) continue;
    yield {
      table: 'queuesOfBuild',
      key,
      what: `leads to queue ${id}, which belongs to another build or does not exist`,
      repair: () => parts.queuesOfBuild.remove(key),
    };
  }
}

function* problemsOfSplit(parts: Parts, key: string, split: SplitRecord): Generator<Problem> {
  const problem = (what: string): Problem => ({ table: 'splits', key, what, repair: null });
  if (!parts.forecasts.doesExist(split.id)) yield problem('has no forecast');
  const paths: string[] = [];
  for (let node = 0; node < split.node_total; node++) {
    try {
      const files = filesOfNode(parts, split.id, node);
      if (!files) yield problem(`has no files for node ${node}`);
      else for (const path of pathsIn(files)) paths.push(path);
    } catch (error) {
      yield problem(`has files for node ${node} that cannot be read: ${(error as Error).message}`);
    }
  }
  const twice = firstTwice(paths);
  if (twice !== undefined) yield problem(`has the file ${JSON.stringify(twice)} twice`);
  if (isOther(split.list, paths)) yield problem('has other files than its list');
  yield* problemsOfBasis(parts, split.id, paths.length, problem);
}

function* problemsOfBasis(parts: Parts, id: string, files: number, problem: (what: string) => Problem): Generator<Problem> {
  const bytes = readBlob(parts, id, BASIS);
  if (!bytes) yield problem('has no basis of estimates');
  try {
    if (bytes) decodeBasis(bytes, files);
  } catch (error) {
    yield problem((error as Error).message);
  }
}

function* problemsOfQueue(parts: Parts, id: string, queue: QueueRecord): Generator<Problem> {
  const { node_total, list } = queue;
  const problem = (what: string): Problem => ({ table: 'queues', key: id, what, repair: null });
  if (!parts.forecasts.doesExist(id)) yield problem('has no forecast');
  let files = 0;
  try {
    const weights = weightsOfQueue(parts, id);
    files = weights.length;
    const blocks = blocksOfQueue(parts, id, files);
    if (blocks.found !== blocks.expected) yield problem(`has ${files} weights and ${blocks.found} blocks of files`);
    if (!weights.every((weight, i) => weight > 0 && (i === 0 || weight <= weights[i - 1]!))) yield problem('has weights in disorder');
    const all = Array.from(weights, (_, file) => file);
    const paths = files === 0 ? [] : pathsIn(readFiles(parts, id, all));
    if (paths.length !== files) yield problem(`has ${files} weights and ${paths.length} files`);
    const twice = firstTwice(paths);
    if (twice !== undefined) yield problem(`has the file ${JSON.stringify(twice)} twice`);
    if (isOther(list, paths)) yield problem('has other files than its list');
  } catch (error) {
    yield problem(`has files that cannot be read: ${(error as Error).message}`);
    return;
  }
  yield* problemsOfBasis(parts, id, files, problem);
  const taken = new Map<number, number>();
  for (const batch of batchesOf(parts, id)) {
    const { seq, node_index } = batch;
    // A repeated batch, or one that was reassigned from a silent node.
    const isRepeated = batch.isReplay || wasReassigned(batch);
    if (node_index >= node_total) yield problem(`handed batch ${seq} to node ${node_index} of ${node_total}`);
    for (const file of batch.files) {
      if (file >= files) yield problem(`handed file ${file} of ${files} out with batch ${seq}`);
      else if (!isRepeated && taken.has(file))
        yield problem(`handed file ${file} out with batch ${taken.get(file)}, and with batch ${seq}`);
      if (!isRepeated) taken.set(file, seq);
    }
  }
}

function firstTwice(paths: readonly string[]): string | undefined {
  const seen = new Set<string>();
  return paths.find(path => seen.size === seen.add(path).size);
}

function pathsIn(list: Buffer): string[] {
  return (JSON.parse(list.toString()) as { path: string }[]).map(({ path }) => path);
}

/** Whether paths differ from those of a list. */
function isOther(list: TestFileList, paths: readonly string[]): boolean {
  return list.digest !== digestOfList(paths);
}

/** Problems of CI runs and of the indexes that find them. */
export function* problemsOfCiRuns(tables: Tables, seen: Seen): Generator<Problem> {
  const { ciRuns, ciRunKeys, ciRunsOfBuild, expiry } = tables;
  for (const { key, value } of ciRuns.getRange()) {
    seen('ciRuns');
    const [project, created_at, id] = key;
    const problem = problemOf('ciRuns', key);
    const found = ciRunKeys.get(id);
    if (!found) yield problem('is not found by its id', () => ciRunKeys.put(id, [project, created_at]));
    else if (found[0] !== project || found[1] !== created_at) yield problem('has the id of another CI run', () => ciRuns.remove(key));
    const ofBuild: [string, number, string] = [buildDigest(project, value), created_at, id];
    if (!ciRunsOfBuild.doesExist(ofBuild)) yield problem('is not found by its build', () => ciRunsOfBuild.put(ofBuild, project));
    if (!willExpire(tables, [created_at, 'ci_run', id]))
      yield problem('would never expire', () => expiry.put([created_at, 'ci_run', id], true));
  }
  for (const { key: id, value } of ciRunKeys.getRange()) {
    if (ciRuns.doesExist([...value, id])) continue;
    yield { table: 'ciRunKeys', key: id, what: 'leads to a CI run that does not exist', repair: () => ciRunKeys.remove(id) };
  }
  for (const { key, value: project } of ciRunsOfBuild.getRange()) {
    const [build, created_at, id] = key;
    const record = ciRuns.get([project, created_at, id]);
    if (record && buildDigest(project, record) === build) continue;
    yield { table: 'ciRunsOfBuild', key, what: 'leads to a CI run that does not exist', repair: () => ciRunsOfBuild.remove(key) };
  }
}
