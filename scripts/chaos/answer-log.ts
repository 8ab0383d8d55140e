import { type QueueKey, queueKey } from '../../src/server/engine/keys.js';
import { decodeFiles, indicesOf } from '../../src/server/engine/planned-files.js';
import type { Store } from '../../src/server/engine/ports/store.js';
import { isRequeued, movedFiles } from '../../src/server/engine/queue/batch.js';
import { QUEUE, RECORDING, TEST_QUEUE } from '../../test/testbed/node-process.js';
import { type Post, sortedPaths, type TestFile } from './builds.js';
import { invariant } from './invariants.js';

type Body = Parameters<Post>[1] & { branch: string; node_total: number; test_files: TestFile[] };

/** A batch as a node got it. */
interface Batch {
  node_index: number;
  batch_uuid: string | undefined;
  /** Only of /v2. */
  batch_id: number | undefined;
  /** Sorted. */
  paths: string;
}

interface Node {
  commit_hash: string;
  branch: string;
  node_total: number;
  node_index: number;
}

/** The answers that nodes got, to compare them with what a store has. */
export class AnswerLog {
  readonly #batches = new Map<string, { node: Node; ci_run: string; batches: Batch[] }>();
  /** The sorted paths that each node recorded. */
  readonly #runs = new Map<string, { node: Node; runs: string[] }>();

  /** Wraps `send` to log each answer. */
  record(send: Post): Post {
    return async (path, body) => {
      const reply: unknown = await send(path, body);
      this.#add(path, body as Body, reply);
      return reply;
    };
  }

  #add(path: string, body: Body, reply: any): void {
    if (path === RECORDING) {
      const key = `${body.commit_hash} ${body.node_index}`;
      const known = this.#runs.get(key) ?? { node: body, runs: [] };
      known.runs.push(sortedPaths(body.test_files));
      this.#runs.set(key, known);
    } else if (path === QUEUE || path === TEST_QUEUE) {
      const ci_run = String(body.node_build_id ?? body.test_queue_id);
      const known = this.#batches.get(body.commit_hash) ?? { node: body, ci_run, batches: [] };
      const { node_index, batch_uuid } = body;
      const paths = sortedPaths(reply.test_files ?? reply.paths.map((path: string) => ({ path })));
      if (paths !== '') known.batches.push({ node_index, batch_uuid, batch_id: reply.batch_id, paths });
      this.#batches.set(body.commit_hash, known);
    }
  }

  /**
   * Checks that a store has every batch that a node got, and every recorded run once, and that each file of a queue belongs to one node:
   * not to one that left, and gave it back.
   *
   * @param isChecked whether a commit is checked; the others lost what was acknowledged
   */
  async expectStored(store: Store, isChecked: (commit_hash: string) => boolean = () => true): Promise<void> {
    const [project] = await store.access.projects();
    for (const { node, ci_run, batches } of this.#batches.values())
      if (isChecked(node.commit_hash)) await expectBatches(store, queueKey(project!.id, node, ci_run), batches);
    for (const { node, runs } of this.#runs.values()) {
      if (!isChecked(node.commit_hash)) continue;
      const build = await store.builds.find(project!.id, node);
      const heads = build ? await store.builds.runs(build.number, node.node_index) : [];
      const name = `node ${node.node_index} of ${node.commit_hash}`;
      invariant(heads.length === runs.length, `${name} recorded ${runs.length} times, and the store has ${heads.length} runs`);
      for (const [i, head] of heads.entries()) {
        const { paths } = (await store.builds.run(build!.number, head))!;
        invariant(paths.sort().join() === runs[i], `run ${head.run} of ${name} is not as it was recorded`);
      }
    }
  }
}

async function expectBatches(store: Store, key: QueueKey, batches: readonly Batch[]): Promise<void> {
  const name = `the queue of ${key.build.commit_hash}`;
  const queue = await store.queues.find(key);
  if (!queue) return invariant(false, `${name} is lost`);
  const files = decodeFiles((await store.plans.files(queue.id, await indicesOf(store.plans, queue.id)))!);
  const stored = (await store.queues.batches(queue.id)).map(batch => ({ ...batch, paths: sortedPaths(batch.files.map(i => files[i]!)) }));
  for (const { node_index, batch_uuid, batch_id, paths } of batches) {
    const isStored = stored.some(
      batch =>
        batch.node_index === node_index &&
        batch.paths === paths &&
        (batch_uuid === undefined || batch.batch_uuid === batch_uuid) &&
        (batch_id === undefined || batch.seq === batch_id),
    );
    invariant(isStored, `${name} has no batch of node ${node_index} with ${paths.slice(0, 100)}, which that node got`);
  }
  const owners = new Map<number, number>();
  for (const batch of stored) {
    const { node_index } = batch;
    const back = new Set(isRequeued(batch) ? movedFiles(batch) : []);
    for (const file of batch.files) {
      if (back.has(file)) continue;
      const owner = owners.get(file) ?? node_index;
      invariant(owner === node_index, `${name} handed ${files[file]!.path} to the nodes ${owner} and ${node_index}`);
      owners.set(file, node_index);
    }
  }
  invariant(owners.size === files.length, `${name} has files that no node has`);
}
