import { randomUUID } from 'node:crypto';
import { CANCEL, HEARTBEAT, type NodeProcess, RECORDING, SPLIT, startProcess } from '../../test/testbed/node-process.js';
import { invariant } from './invariants.js';

/** Builds as CI systems run them. They check the invariants of splits and queues. */

export interface Build {
  key: { commit_hash: string; branch: string; node_total: number };
  mode: 'split' | 'queue' | 'queue without uuids' | 'test queue' | 'test queue that a node leaves';
  files: readonly TestFile[];
}

export interface TestFile {
  path: string;
}

interface Request {
  commit_hash: string;
  node_index: number;
  /** A repeated request with either of these gets the same answer. */
  batch_uuid?: string;
  node_uuid?: string;
  [more: string]: unknown;
}

/** Sends a request and returns the parsed answer. A node sends one request at a time; the same answers lead to the same requests. */
export type Post = (path: string, body: Request) => Promise<any>;

const NODES = 3;
const LARGE_SUITE = 1500;

export const suite = (name: string, files: number): TestFile[] =>
  Array.from({ length: files }, (_, i) => ({ path: `spec/${name}/${i}_spec.rb` }));
export const sortedPaths = (files: readonly TestFile[]) =>
  files
    .map(({ path }) => path)
    .sort()
    .join();

/** Draws a build of a random mode and size. */
export function drawBuild(random: () => number, commit_hash: string): Build {
  const files = suite(commit_hash, random() < 0.1 ? LARGE_SUITE : 10 + Math.floor(90 * random()));
  const kind = random();
  const testQueue = kind < 0.75 ? 'test queue' : 'test queue that a node leaves';
  const mode = kind < 0.25 ? 'split' : kind < 0.5 ? 'queue' : kind < 0.88 ? testQueue : 'queue without uuids';
  return { key: { commit_hash, branch: 'main', node_total: NODES }, mode, files };
}

/**
 * Plays a build from the first request of its nodes to their recordings. Checks that each file is handed out, exactly once if requests have
 * uuids, and that splits do not change.
 */
export function play(post: Post, build: Build): Promise<void> {
  if (build.mode === 'split') return playSplit(post, build);
  if (build.mode === 'test queue that a node leaves') return playLeftQueue(post, build);
  return build.mode === 'test queue' ? playTestQueue(post, build) : playQueue(post, build);
}

/** Checks that a played build is recorded completely. */
export async function expectComplete(get: (path: string) => Promise<unknown>, { key }: Build): Promise<void> {
  await get(`/v1/builds/completeness?commit_hash=${key.commit_hash}&branch=${key.branch}&node_total=${key.node_total}`);
}

async function playQueue(post: Post, { key, mode, files }: Build): Promise<void> {
  const build = { ...key, node_build_id: '1' };
  const paths = files.map(({ path }) => path);
  const ranByNode = await eachNode(build, async node => {
    const batchUuid = mode === 'queue' ? randomUUID : null;
    const process = startProcess({ mode: 'queue', fields: node, paths, connects: false, batchUuid }, post);
    const ran = await runRest(process);
    await record(post, node, ran);
    return ran;
  });
  const ran = ranByNode.flat();
  invariant(new Set(ran).size === files.length, `queue ${key.commit_hash} did not hand out every file`);
  if (mode === 'queue') invariant(ran.sort().join() === sortedPaths(files), `queue ${key.commit_hash} handed out a file twice`);
}

/**
 * Each node dies with its second batch, after a file of the first failed, and is retried: it must get the failed file and the lost batch.
 * At the end every green node is retried: it must get nothing.
 */
async function playTestQueue(post: Post, { key, files }: Build): Promise<void> {
  const build = { ...key, test_queue_id: '1' };
  const paths = files.map(({ path }) => path);
  /** Its uuid is the same when the build is played again. */
  const processOf = (node: typeof build & Node, number: number) => {
    const node_uuid = `process ${number} of node ${node.node_index} of ${node.commit_hash}`;
    return startProcess({ mode: 'test queue', fields: { ...node, node_uuid }, paths, connects: false }, post);
  };
  const ranByNode = await eachNode(build, async node => {
    const dying = processOf(node, 1);
    const first = (await dying.next()).paths;
    const failed = first.slice(0, 1);
    const lost = first.length > 0 ? (await dying.next(failed)).paths : [];
    const retry = processOf(node, 2);
    const batch = (await retry.next()).paths;
    const due = [...failed, ...lost];
    invariant(
      due.length === 0 || batch.join() === due.join(),
      `node ${node.node_index} of queue ${key.commit_hash} was retried and did not get its failed and its lost files`,
    );
    const ran = [...first, ...(due.length === 0 ? batch : lost), ...(batch.length > 0 ? await runRest(retry) : [])];
    await record(post, node, ran);
    return ran;
  });
  invariant(ranByNode.flat().sort().join() === sortedPaths(files), `queue ${key.commit_hash} did not hand out every file exactly once`);
  const rest = await eachNode(build, async node => (await processOf(node, 3).next()).paths);
  invariant(rest.flat().length === 0, `queue ${key.commit_hash} handed out files to a green node that was retried`);
}

/** A node is cancelled with its second batch, half of which passed: the others must get the rest. */
async function playLeftQueue(post: Post, { key, files }: Build): Promise<void> {
  const build = { ...key, test_queue_id: '1' };
  const paths = files.map(({ path }) => path);
  let leave = () => {};
  const hasLeft = new Promise<void>(resolve => (leave = resolve));
  const ranByNode = await eachNode(build, async node => {
    const own = { ...node, node_uuid: `process of node ${node.node_index} of ${node.commit_hash}` };
    const process = startProcess({ mode: 'test queue', fields: { ...own, sends_heartbeats: true }, paths, connects: false }, post);
    const ran = (await process.next()).paths;
    if (node.node_index === 0) {
      const { paths: batch, answer } = await process.next();
      const passed = batch.slice(0, batch.length / 2);
      if (ran.length > 0) {
        await post(HEARTBEAT, own);
        await post(CANCEL, { ...own, batch_id: answer.batch_id, failed_paths: batch.slice(passed.length) });
      }
      leave();
      ran.push(...passed);
    } else {
      await hasLeft;
      ran.push(...(await runRest(process)));
    }
    await record(post, node, ran);
    return ran;
  });
  invariant(
    ranByNode.flat().sort().join() === sortedPaths(files),
    `queue ${key.commit_hash}, which a node left, did not hand out every file exactly once`,
  );
}

/** Runs what a process gets until the end of its queue. */
async function runRest(process: NodeProcess): Promise<string[]> {
  const ran: string[] = [];
  for (;;) {
    const { paths } = await process.next();
    if (paths.length === 0) return ran;
    for (const path of paths) ran.push(path);
  }
}

async function playSplit(post: Post, { key, files }: Build): Promise<void> {
  const build = { ...key, ci_build_id: '1' };
  const ask = () =>
    eachNode(build, async node => {
      const reply = await post(SPLIT, { ...node, cache_read_attempt: false, test_files: files });
      return reply as { test_files: TestFile[] };
    });
  const first = await ask();
  invariant(
    sortedPaths(first.flatMap(({ test_files }) => test_files)) === sortedPaths(files),
    `split ${key.commit_hash} does not have every file exactly once`,
  );
  for (const [node_index, { test_files }] of first.entries()) {
    const ran = test_files.map(({ path }) => path);
    await record(post, { ...build, node_index }, ran);
  }
  invariant(JSON.stringify(await ask()) === JSON.stringify(first), `split ${key.commit_hash} changed when it was requested again`);
}

interface Node {
  commit_hash: string;
  node_index: number;
}

function record(post: Post, node: Node, ran: readonly string[]): Promise<void> {
  return post(RECORDING, { ...node, test_files: [...new Set(ran)].map(path => ({ path, time_execution: 1 })) });
}

function eachNode<T, B extends Build['key']>(build: B, run: (node: B & Node) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: build.node_total }, (_, node_index) => run({ ...build, node_index })));
}
