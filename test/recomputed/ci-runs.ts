import type { Client } from '../harness/client.js';
import type { Clock } from '../harness/clock.js';
import { type Fields, timedTestFiles } from '../harness/messages.js';
import { type NodeProcess, RECORDING, startProcess } from '../testbed/node-process.js';

/** CI runs in virtual time, over HTTP. What is kept of them is what was said over the wire: who asked when, and what it was told. */

export interface Asked {
  at: number;
  node: number;
  /** The files in the answer, with the times in it; null: never measured. */
  got: { path: string; estimate: number | null }[];
  /** The first request of a process. */
  isFirst: boolean;
  /** Failures in the batch before, if the client says so. */
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

/** Plan of a node. Durations are seconds. */
export interface Node {
  /** After the start of the CI run; null: it never comes. */
  start?: number | null;
  /** Factor by which its files take longer. */
  slow?: number;
  /** Batch during which the node dies, the first is 0. */
  dies?: number;
  /** Time after that at which its job is retried. */
  returns?: number;
  /** Time that each of its batches takes besides its tests (default: that of the plan). */
  batch?: number;
  /** Time after its end at which its job is run once more: it gets what is left, and records that. */
  again?: number;
}

export interface Plan {
  mode: Mode;
  commit_hash: string;
  /** The id of the CI run (default: one for each commit). */
  ci_run?: string;
  /** Seconds of each file on a usual node. */
  files: Readonly<Record<string, number>>;
  nodes: readonly Node[];
  fails?: readonly string[];
  /** Seconds after the start at which everything stops: the build is cancelled, or looked at while it runs. */
  until?: number;
  /** Time that each batch takes besides its tests, in seconds (default: 1.5). */
  batch?: number;
  /** Time that each file takes on a usual node besides the time that is recorded, in seconds (default: none). */
  hidden?: number;
}

/** Time within a batch at which a node dies, in seconds. */
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
async function* steps(run: Run, node: number, { start, slow = 1, dies, returns, batch: own, again }: Node): AsyncGenerator<number, void> {
  const { mode, files, nodes, fails = [], batch: batchSeconds = 1.5, hidden = 0 } = run.plan;
  yield start ?? 0;
  const mine = Object.keys(files).filter((_, i) => i % nodes.length === node);
  let ran: { path: string; seconds: number }[] = [];
  let failed: string[] = [];
  let processes = 0;
  let process = processOf(run, node, processes);
  let isFirst = true;
  for (let batch = 0; ; batch++) {
    const paths = mode === 'recordings' ? mine : await ask(run, node, process, isFirst, failed);
    if (paths.length === 0) break;
    if (dies === batch) {
      yield DEATH;
      if (returns === undefined) return;
      yield returns;
      [ran, failed, isFirst] = [[], [], true];
      process = processOf(run, node, ++processes);
      continue;
    }
    const times = paths.map(path => ({ path, seconds: Math.round(1000 * files[path]! * slow) / 1000 }));
    ran.push(...times);
    failed = paths.filter(path => fails.includes(path));
    isFirst = false;
    yield (own ?? batchSeconds) + times.reduce((sum, { seconds }) => sum + seconds + hidden * slow, 0);
    if (mode === 'split' || mode === 'recordings') break;
  }
  if (ran.length > 0) await record(run, node, ran);
  if (again === undefined) return;
  yield again;
  await ask(run, node, processOf(run, node, ++processes), true, []);
  yield 1;
  await record(run, node, []);
}

async function record(run: Run, node_index: number, times: Recorded['times']): Promise<void> {
  const test_files = timedTestFiles(Object.fromEntries(times.map(({ path, seconds }) => [path, seconds])));
  await send(run, RECORDING, { node_index, test_files });
  run.log.recorded.push({ at: run.clock.millis, node: node_index, times });
}

/** Modes of the requests. Where a node only records, it asks for nothing. */
const MODES = { queue: 'queue', reports: 'test queue', split: 'split', recordings: 'split' } as const;

function processOf(run: Run, node_index: number, number: number): NodeProcess {
  const mode = MODES[run.plan.mode];
  const id = run.plan.ci_run ?? `run of ${run.plan.commit_hash}`;
  const ofMode = {
    split: { ci_build_id: id },
    queue: { node_build_id: id },
    'test queue': { test_queue_id: id, node_uuid: `${node_index}.${number}`, wants_times: true },
  }[mode];
  const fields = { node_index, user_seat: 'Jo** Do*', ...ofMode };
  return startProcess({ mode, fields, paths: run.log.planned }, (path, body) => send(run, path, body));
}

async function ask(run: Run, node: number, process: NodeProcess, isFirst: boolean, failed: string[]): Promise<string[]> {
  const { paths, answer } = await process.next(failed);
  const got = paths.map((path, i) => ({ path, estimate: answer.times?.[i] ?? answer.test_files?.[i].time_execution ?? null }));
  const reported = run.plan.mode === 'reports' && !isFirst ? failed : null;
  run.log.asked.push({ at: run.clock.millis, node, got, isFirst, failed: reported });
  return paths;
}

async function send({ client, plan: { commit_hash, nodes } }: Run, path: string, message: Fields): Promise<any> {
  const reply = await client.post(path, { commit_hash, branch: BRANCH, node_total: nodes.length, ...message });
  if (reply.status >= 300) throw new Error(`${path}: ${reply.status} ${reply.text}`);
  return reply.json;
}
