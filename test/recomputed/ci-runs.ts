import type { Client } from '../harness/client.js';
import type { Clock } from '../harness/clock.js';
import { type Fields, timedTestFiles } from '../harness/messages.js';

/** CI runs in virtual time, over HTTP. What is kept of them is what was said over the wire: who asked when, and what it was told. */

export interface Asked {
  at: number;
  node: number;
  /** The files in the answer, with the times in it; null: never measured. */
  got: { path: string; estimate: number | null }[];
  /** The first request of a process. */
  isFirst: boolean;
  /** What failed in the batch before, if the client says so. */
  failed: string[] | null;
}

export interface Recorded {
  at: number;
  node: number;
  times: { path: string; seconds: number }[];
}

/** A CI run, as its requests tell it. Times are milliseconds since 1970. */
export interface Log {
  mode: Mode;
  commit_hash: string;
  nodes: number;
  /** The files that were listed to make the plan; empty: recordings only. */
  planned: string[];
  asked: Asked[];
  recorded: Recorded[];
}

/** `reports`: a queue whose client reports what failed. */
export type Mode = 'queue' | 'reports' | 'split' | 'recordings';

/** What becomes of a node. Durations are seconds. */
export interface Node {
  /** After the start of the CI run; null: it never comes. */
  start?: number | null;
  /** How much longer its files take. */
  slow?: number;
  /** It dies while it runs this batch, the first is 0. */
  dies?: number;
  /** How long after that its job is retried. */
  returns?: number;
}

export interface Plan {
  mode: Mode;
  commit_hash: string;
  /** Seconds of each file on a usual node. */
  files: Readonly<Record<string, number>>;
  nodes: readonly Node[];
  fails?: readonly string[];
  /** Seconds after the start at which everything stops: the build is cancelled, or looked at while it runs. */
  until?: number;
  /** What each batch takes besides its tests, in seconds (default: 1.5). */
  batch?: number;
  /** What each file takes on a usual node besides the time that is recorded, in seconds (default: none). */
  hidden?: number;
}

/** How far into a batch a node dies, in seconds. */
const DEATH = 2;
const BRANCH = 'main';

/** Plays a CI run. It leaves the clock of the server at its end. */
export async function playCiRun(client: Client, clock: Clock, plan: Plan): Promise<Log> {
  const began = clock.millis;
  const { mode, commit_hash, nodes, files } = plan;
  const planned = mode === 'recordings' ? [] : Object.keys(files);
  const run: Run = { client, clock, plan, log: { mode, commit_hash, nodes: nodes.length, planned, asked: [], recorded: [] } };
  const due = nodes.flatMap((node, index) => (node.start === null ? [] : [{ at: began, steps: steps(run, index, node) }]));
  for (;;) {
    const [next] = due.sort((a, b) => a.at - b.at);
    if (!next || next.at > began + 1000 * (plan.until ?? Infinity)) break;
    clock.millis = next.at;
    const { done, value } = await next.steps.next();
    if (done) due.splice(due.indexOf(next), 1);
    else next.at += Math.round(1000 * value);
  }
  if (plan.until !== undefined) clock.millis = began + 1000 * plan.until;
  return run.log;
}

interface Run {
  client: Client;
  clock: Clock;
  plan: Plan;
  log: Log;
}

/** The life of a node. It yields the seconds that pass. */
async function* steps(run: Run, node: number, { start, slow = 1, dies, returns }: Node): AsyncGenerator<number, void> {
  const { mode, files, nodes, fails = [], batch: batchSeconds = 1.5, hidden = 0 } = run.plan;
  yield start ?? 0;
  let ran: { path: string; seconds: number }[] = [];
  let failed: string[] = [];
  let process = 0;
  let last: number | null = null;
  for (let batch = 0; ; batch++) {
    const mine = Object.keys(files).filter((_, i) => i % nodes.length === node);
    const asked: Answer =
      mode === 'recordings' ? { paths: batch === 0 ? mine : [], id: null } : await ask(run, node, { process, last, failed });
    if (asked.paths.length === 0) break;
    if (dies === batch) {
      yield DEATH;
      if (returns === undefined) return;
      yield returns;
      [ran, failed, last] = [[], [], null];
      process++;
      continue;
    }
    const times = asked.paths.map(path => ({ path, seconds: Math.round(1000 * files[path]! * slow) / 1000 }));
    ran.push(...times);
    failed = asked.paths.filter(path => fails.includes(path));
    last = asked.id;
    yield batchSeconds + times.reduce((sum, { seconds }) => sum + seconds + hidden * slow, 0);
    if (mode === 'split' || mode === 'recordings') break;
  }
  if (ran.length === 0) return;
  const test_files = timedTestFiles(Object.fromEntries(ran.map(({ path, seconds }) => [path, seconds])));
  await send(run, '/v1/build_subsets', { node_index: node, test_files });
  run.log.recorded.push({ at: run.clock.millis, node, times: ran });
}

interface Answer {
  paths: string[];
  /** The number of the batch. */
  id: number | null;
}

interface Before {
  process: number;
  /** The batch that it ran. */
  last: number | null;
  failed: string[];
}

/** Asks for files as clients do: first without the list of all files, then, if there is no plan yet, with it. */
async function ask(run: Run, node: number, { process, last, failed }: Before): Promise<Answer> {
  const { mode, commit_hash, files } = run.plan;
  const { asked, planned } = run.log;
  const own = asked.filter(each => each.node === node);
  const isFirst = last === null;
  const list = planned.map(path => ({ path }));
  const id = `run of ${commit_hash}`;
  const common = { node_index: node, user_seat: 'Jo** Do*' };
  const request = (isConnecting: boolean): [path: string, message: Fields] => {
    const how = { can_initialize_queue: isFirst, attempt_connect_to_queue: isFirst && isConnecting };
    const all = isFirst && !isConnecting;
    if (mode === 'split')
      return [
        '/v1/build_distributions/subset',
        { ...common, ci_build_id: id, cache_read_attempt: isConnecting, ...(all && { test_files: list }) },
      ];
    if (mode === 'queue') return ['/v1/queues/queue', { ...common, ...how, node_build_id: id, ...(all && { test_files: list }) }];
    const client = { test_queue_id: id, node_uuid: `${node}.${process}`, batch_index: own.length, wants_times: true };
    const batch = isFirst ? {} : { batch_id: last, failed_paths: failed };
    return ['/v2/queues/queue', { ...common, ...how, ...client, ...batch, ...(all && { paths: Object.keys(files) }) }];
  };
  let answer = await send(run, ...request(true));
  if (answer.code !== undefined) answer = await send(run, ...request(false));
  const paths: string[] = answer.paths ?? answer.test_files.map(({ path }: { path: string }) => path);
  const got = paths.map((path, i) => ({ path, estimate: answer.times?.[i] ?? answer.test_files?.[i].time_execution ?? null }));
  asked.push({ at: run.clock.millis, node, got, isFirst, failed: mode === 'reports' && !isFirst ? failed : null });
  return { paths, id: mode === 'reports' ? answer.batch_id : own.length };
}

async function send({ client, plan: { commit_hash, nodes } }: Run, path: string, message: Fields): Promise<any> {
  const reply = await client.post(path, { commit_hash, branch: BRANCH, node_total: nodes.length, ...message });
  if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`);
  return reply.json;
}
