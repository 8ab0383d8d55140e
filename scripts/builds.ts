import { randomUUID } from 'node:crypto';
import { must } from './promises.js';

/** Builds as CI runs them, that hold the server to what it promises them. */

export interface Build {
  key: { commit_hash: string; branch: string; node_total: number };
  mode: 'split' | 'queue' | 'queue without uuids';
  files: readonly TestFile[];
}

export interface TestFile {
  path: string;
}

interface Request {
  commit_hash: string;
  node_index: number;
  batch_uuid?: string;
  [more: string]: unknown;
}

/** Sends a request and gives its answer, parsed. A node sends one at a time, and the same ones when it is answered the same. */
export type Post = (path: string, body: Request) => Promise<any>;

export const QUEUE = '/v1/queues/queue';
export const SPLIT = '/v1/build_distributions/subset';
const SUBSETS = '/v1/build_subsets';

const NODES = 3;
const LARGE_SUITE = 1500;

export const suite = (name: string, files: number): TestFile[] => Array.from({ length: files }, (_, i) => ({ path: `spec/${name}/${i}_spec.rb` }));
export const sorted = (files: readonly TestFile[]) => files.map(({ path }) => path).sort().join();

/** A build of any kind. */
export function drawBuild(random: () => number, commit_hash: string): Build {
  const files = suite(commit_hash, random() < 0.1 ? LARGE_SUITE : 10 + Math.floor(90 * random()));
  const kind = random();
  const mode = kind < 0.3 ? 'split' : kind < 0.8 ? 'queue' : 'queue without uuids';
  return { key: { commit_hash, branch: 'main', node_total: NODES }, mode, files };
}

/** Plays a build from the first request of its nodes to their records: each file is handed out, with uuids once, and splits stay as they are. */
export function play(post: Post, build: Build): Promise<void> {
  return build.mode === 'split' ? playSplit(post, build) : playQueue(post, build);
}

/** That a build which was played is recorded, whole. */
export async function expectComplete(get: (path: string) => Promise<unknown>, { key }: Build): Promise<void> {
  await get(`/v1/builds/completeness?commit_hash=${key.commit_hash}&branch=${key.branch}&node_total=${key.node_total}`);
}

async function playQueue(post: Post, { key, mode, files }: Build): Promise<void> {
  const build = { ...key, node_build_id: '1' };
  const handed = await eachNode(build, async node => {
    const ask = (phase: object) => post(QUEUE, { ...node, ...phase, ...(mode === 'queue' && { batch_uuid: randomUUID() }) });
    const ran: TestFile[] = [];
    let reply = await ask({ can_initialize_queue: true, attempt_connect_to_queue: false, test_files: files });
    while (reply.test_files.length > 0) {
      ran.push(...reply.test_files);
      reply = await ask({ can_initialize_queue: false, attempt_connect_to_queue: false });
    }
    await record(post, node, ran);
    return ran;
  });
  const all = handed.flat();
  must(new Set(all.map(({ path }) => path)).size === files.length, `of the queue ${key.commit_hash} a file was never handed out`);
  if (mode === 'queue') must(sorted(all) === sorted(files), `of the queue ${key.commit_hash} a file was handed out twice`);
}

async function playSplit(post: Post, { key, files }: Build): Promise<void> {
  const build = { ...key, ci_build_id: '1' };
  const ask = () =>
    eachNode(build, async node => {
      const reply = await post(SPLIT, { ...node, cache_read_attempt: false, test_files: files });
      return reply as { test_files: TestFile[] };
    });
  const first = await ask();
  must(sorted(first.flatMap(({ test_files }) => test_files)) === sorted(files), `the split ${key.commit_hash} has not every file once`);
  for (const [node_index, { test_files }] of first.entries()) await record(post, { ...build, node_index }, test_files);
  must(JSON.stringify(await ask()) === JSON.stringify(first), `the split ${key.commit_hash} is another one when it is asked for again`);
}

interface Node {
  commit_hash: string;
  node_index: number;
}

function record(post: Post, node: Node, ran: readonly TestFile[]): Promise<void> {
  const paths = new Set(ran.map(({ path }) => path));
  return post(SUBSETS, { ...node, test_files: [...paths].map(path => ({ path, time_execution: 1 })) });
}

function eachNode<T, B extends Build['key']>(build: B, run: (node: B & Node) => Promise<T>): Promise<T[]> {
  return Promise.all(Array.from({ length: build.node_total }, (_, node_index) => run({ ...build, node_index })));
}
