import type { Client, Reply } from './client.js';

export type Fields = Record<string, unknown>;

/** The build of every message, unless a test gives another one. */
export const buildKey = { commit_hash: 'c0ffee1', branch: 'main', node_total: 2 };

export const uuidPattern = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/;

/** Returns test files as a client lists them. */
export function testFiles(paths: readonly string[]): { path: string }[] {
  return paths.map(path => ({ path }));
}

/** Returns test files as a client records them, from seconds by path. */
export function timedTestFiles(seconds: Readonly<Record<string, number>>): { path: string; time_execution: number }[] {
  return Object.entries(seconds).map(([path, time_execution]) => ({ path, time_execution }));
}

/** Returns a number of different paths, sorted. */
export function manyPaths(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `spec/models/model_${String(i).padStart(6, '0')}_spec.rb`);
}

/** Returns the paths in an answer. */
export function pathsIn(reply: Reply): string[] {
  return (reply.json.test_files as { path: string }[]).map(({ path }) => path);
}

export function sortPaths(paths: Iterable<string>): string[] {
  return [...paths].sort();
}

export function subsetMessage(more: Fields = {}): Fields {
  return { ...buildKey, node_index: 0, test_files: timedTestFiles({ 'a_spec.rb': 1.5, 'b_spec.rb': 0.25 }), ...more };
}

export function splitMessage(more: Fields = {}): Fields {
  return { ...buildKey, node_index: 0, cache_read_attempt: true, ci_build_id: '100', user_seat: 'Jo** Do*', ...more };
}

export function queueMessage(more: Fields = {}): Fields {
  return {
    ...buildKey,
    node_index: 0,
    can_initialize_queue: true,
    attempt_connect_to_queue: true,
    node_build_id: '100',
    user_seat: 'Jo** Do*',
    ...more,
  };
}

/** A pull of a client that reports its batches. */
export function testQueueMessage(more: Fields = {}): Fields {
  const pull = { can_initialize_queue: false, attempt_connect_to_queue: false, batch_index: 0 };
  return { ...buildKey, node_index: 0, node_uuid: 'a process', test_queue_id: '100', user_seat: 'Jo** Do*', ...pull, ...more };
}

/** Records a run of a node. Throws if the server refuses it. */
export async function record(client: Client, more: Fields = {}): Promise<void> {
  const reply = await client.post('/v1/build_subsets', subsetMessage(more));
  if (reply.status !== 201) throw new Error(`not recorded: ${reply.status} ${reply.text}`);
}

/** Returns the id of the newest build that a query finds. */
export async function newestBuild(client: Client, query = ''): Promise<string> {
  return (await client.get(`/v1/builds${query}`)).json.data[0].id as string;
}

/** Regular mode: reads the split from the cache. */
export function readSplit(client: Client, more: Fields = {}): Promise<Reply> {
  return client.post('/v1/build_distributions/subset', splitMessage(more));
}

/** Regular mode: sends the list of all test files. */
export function startSplit(client: Client, paths: readonly string[], more: Fields = {}): Promise<Reply> {
  const message = splitMessage({ cache_read_attempt: false, test_files: testFiles(paths), ...more });
  return client.post('/v1/build_distributions/subset', message);
}

/** Queue mode: a node's first request. */
export function connect(client: Client, more: Fields = {}, headers: Record<string, string> = {}): Promise<Reply> {
  return client.post('/v1/queues/queue', queueMessage(more), headers);
}

/** Queue mode: the request with the list of all test files. */
export function initialise(client: Client, paths: readonly string[], more: Fields = {}): Promise<Reply> {
  return connect(client, { attempt_connect_to_queue: false, test_files: testFiles(paths), ...more });
}

/** Queue mode: the third and later requests. */
export function pull(client: Client, more: Fields = {}, headers: Record<string, string> = {}): Promise<Reply> {
  return connect(client, { can_initialize_queue: false, attempt_connect_to_queue: false, ...more }, headers);
}

/** Pulls until the end of the queue. Returns the paths in the order in which they were handed out. */
export async function pullAll(client: Client, more: Fields = {}): Promise<string[]> {
  const paths: string[] = [];
  for (;;) {
    const batch = pathsIn(await pull(client, more));
    if (batch.length === 0) return paths;
    paths.push(...batch);
  }
}
