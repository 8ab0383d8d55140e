import type { FileOutcome } from '../../src/protocol/file-outcome.js';
import { fileOfPiece, pieceOf } from '../../src/protocol/piece-path.js';
import type { Client } from '../harness/client.js';
import type { Clock } from '../harness/clock.js';
import type { Fields } from '../harness/messages.js';
import { HEARTBEAT, QUEUE, RECORDING, SPLIT, type TEST_QUEUE } from '../testbed/node-process.js';

/** A CI run whose nodes ask one after another, so that its play always goes the same way. */
export interface CiRun {
  route: typeof SPLIT | typeof QUEUE | typeof TEST_QUEUE;
  build: { commit_hash: string; branch: string; node_total: number };
  /** The id that its CI system gave it. */
  ci_run: string;
  suite: readonly string[];
  /** Seconds of the test files that do not take what they usually take. */
  seconds?: Readonly<Record<string, number>>;
  /** Outcomes other than passed. A `flaky` file fails, and passes when it is retried. */
  outcomes?: Readonly<Record<string, FileOutcome>>;
  /** What its nodes say with each request. */
  told?: Fields;
  /** Its last node pulls once, and is not heard again. */
  dies?: true;
}

/** A node of a queue between two requests, as a fixture keeps it. */
export interface QueueNode {
  route: string;
  fields: Fields;
  pulls: number;
  /** Its last request, and the answer. */
  request: Fields;
  answer: any;
}

/** Sends a request, which must be answered with what it asked for. */
export async function post(client: Client, path: string, body: Fields): Promise<any> {
  const { status, text, json } = await client.post(path, body);
  if (status >= 300) throw new Error(`${path} was answered with ${status}: ${text}`);
  return json;
}

export function startNode({ route, build, ci_run, told }: CiRun, node_index: number): QueueNode {
  const process = route === QUEUE ? { node_build_id: ci_run } : { test_queue_id: ci_run, node_uuid: `process ${node_index} of ${ci_run}` };
  return { route, fields: { ...build, node_index, ...process, ...told }, pulls: 0, request: {}, answer: null };
}

/** Asks for the next batch. @param told what the node says of its last one, where it reports batches */
export async function pull(client: Client, node: QueueNode, suite: readonly string[], told: Fields = {}): Promise<string[]> {
  const { route, fields, pulls, answer } = node;
  const isFirst = pulls === 0;
  const batch =
    route === QUEUE
      ? { batch_uuid: `batch ${pulls} of node ${String(fields.node_index)}`, ...(isFirst && { test_files: suite.map(path => ({ path })) }) }
      : { batch_index: pulls, ...(isFirst ? { paths: suite } : { batch_id: answer.batch_id, failed_paths: [], ...told }) };
  node.request = { ...fields, can_initialize_queue: isFirst, attempt_connect_to_queue: false, ...batch };
  node.answer = await post(client, route, node.request);
  node.pulls += 1;
  return pathsOf(node);
}

/** The files of a node's last batch. */
export function pathsOf({ answer }: QueueNode): string[] {
  return answer.paths ?? answer.test_files.map(({ path }: { path: string }) => path);
}

/** Plays a CI run to its end. */
export async function play(client: Client, clock: Clock, run: CiRun): Promise<void> {
  const ran = run.route === SPLIT ? await playSplit(client, clock, run) : await playQueue(client, clock, run);
  for (const [node_index, files] of ran.entries()) {
    if (run.dies && node_index === run.build.node_total - 1) continue;
    await recordNode(client, run, node_index, files);
  }
}

export interface RanFile {
  path: string;
  time_execution: number;
  outcome: FileOutcome;
}

/** Records what a node ran, and tells the test cases of long files. */
export async function recordNode(client: Client, run: CiRun, node_index: number, files: readonly RanFile[]): Promise<void> {
  const node = { ...run.build, node_index, ci_build_id: run.ci_run };
  const told = files.filter(({ path }) => casesOf(path).length > 0).map(toldFile);
  if (run.told?.pieces && told.length > 0) await post(client, '/v2/test_cases', { ...node, runner: run.told.pieces, files: told });
  const test_files = files.map(({ outcome, ...file }) => ({ ...file, ...(outcome !== 'passed' && { outcome }) }));
  await post(client, RECORDING, { ...node, tells_outcomes: true, test_files });
}

async function playSplit(client: Client, clock: Clock, run: CiRun): Promise<RanFile[][]> {
  const ran: RanFile[][] = [];
  for (let node_index = 0; node_index < run.build.node_total; node_index++) {
    const fields = { ...run.build, node_index, ci_build_id: run.ci_run, cache_read_attempt: false, ...run.told };
    const answer = await post(client, SPLIT, { ...fields, test_files: run.suite.map(path => ({ path })) });
    ran.push(answer.test_files.map(({ path }: { path: string }) => runFile(run, path, false)));
  }
  clock.advance({ seconds: Math.max(...ran.map(secondsOf)) });
  return ran;
}

async function playQueue(client: Client, clock: Clock, run: CiRun): Promise<RanFile[][]> {
  const nodes = Array.from({ length: run.build.node_total }, (_, i) => startNode(run, i));
  const ran = nodes.map((): RanFile[] => []);
  const atWork = new Set(nodes);
  while (atWork.size > 0) {
    for (const node of atWork) {
      const batch = node.pulls === 0 ? [] : pathsOf(node).map(path => runFile(run, path, node.answer.is_retry === true));
      // The others work meanwhile.
      clock.advance({ seconds: 1 + Math.round(secondsOf(batch) / nodes.length) });
      if (run.told?.sends_heartbeats) for (const other of atWork) if (other.pulls > 0) await post(client, HEARTBEAT, other.fields);
      ran[nodes.indexOf(node)]!.push(...batch);
      await pull(client, node, run.suite, reportOf(run, batch));
      const isLast = pathsOf(node).length === 0 && node.answer.pull_again_in === undefined;
      if (isLast || (run.dies && node === nodes.at(-1))) atWork.delete(node);
    }
  }
  return ran;
}

/** What a node reports of a batch that it ran. */
export function reportOf({ told }: CiRun, batch: readonly RanFile[]): Fields {
  const failed_paths = batch.filter(({ outcome }) => outcome === 'failed').map(({ path }) => path);
  return { failed_paths, ...(told?.sends_heartbeats === true && { times: batch.map(file => file.time_execution) }) };
}

export function runFile({ suite, seconds = {}, outcomes = {}, ci_run }: CiRun, path: string, isRetry: boolean): RanFile {
  const file = fileOfPiece(path);
  const usual = seconds[file] ?? 8 + ((5 * suite.indexOf(file)) % 23) + ((Number(ci_run) * 7 + suite.indexOf(file)) % 5) / 4;
  const { count } = pieceOf(path) ?? { count: 1 };
  const outcome = outcomes[file] ?? 'passed';
  return { path, time_execution: usual / count, outcome: outcome !== 'flaky' ? outcome : isRetry ? 'passed' : 'failed' };
}

const secondsOf = (files: readonly RanFile[]) => files.reduce((sum, file) => sum + file.time_execution, 0);

/** The file that queues cut into pieces. */
export const LONG_FILE = 'tests/test_größe.py';
const CASES = Array.from({ length: 12 }, (_, i) => `TestSize::test_case[${i}]`);

/** The test cases of a file, or of a piece, which come in turn. */
function casesOf(path: string): string[] {
  const { number, count } = pieceOf(path) ?? { number: 1, count: 1 };
  return fileOfPiece(path) === LONG_FILE ? CASES.filter((_, i) => i % count === number - 1) : [];
}

function toldFile({ path, time_execution: seconds }: RanFile): Fields {
  const names = casesOf(path);
  const cases = names.map(name => ({ name, seconds: seconds / names.length, outcome: 'passed' }));
  return { path, ...(pieceOf(path) && { is_piece: true }), seconds, cases };
}
