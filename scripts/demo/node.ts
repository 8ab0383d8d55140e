import { wholeMilliseconds } from '../../src/base/rounding.js';
import type { CasesOfFile } from '../../src/protocol/messages/cases.js';
import type { HandedPiece } from '../../src/protocol/messages/queue.js';
import { fileOfPiece } from '../../src/protocol/piece-path.js';
import { STANDBY_PULL_SECONDS } from '../../src/server/engine/queue/leases.js';
import { isFailure, type RecordedTestFile } from '../../src/server/engine/test-file.js';
import type { CiRun, NodePlan } from './ci-run.js';

/** A request of a node to the server, with its time in milliseconds since 1970. */
export type NodeRequest = PullRequest | SplitRequest | RecordRequest;

export interface PullRequest {
  kind: 'pull';
  at: number;
  /** Distinguishes the processes of the node. */
  process: string;
  batch_index: number;
  /** The batch that it has run; null: this is the first request of the process. */
  batch_id: number | null;
  failed: string[];
  /** Seconds of each of its files. */
  times: number[];
}

export interface SplitRequest {
  kind: 'split';
  at: number;
}

export interface RecordRequest {
  kind: 'record';
  at: number;
  files: RecordedTestFile[];
  /** Its reports on the test cases of long files. */
  told: ToldFile[];
}

export type ToldFile = Pick<CasesOfFile, 'path' | 'seconds' | 'cases'>;

export interface Handed {
  batch_id: number;
  paths: readonly string[];
  /** The pieces among the paths. */
  pieces: readonly HandedPiece[];
  /** Its file failed before. */
  isRetry?: true;
}

/** The answer to a request; null: no files, or the request was a recording. `later`: the node is to pull again after a while. */
export type Answer = Handed | 'later' | null;

/** A node: it yields its requests, and gets their answers. */
export type Node = Generator<NodeRequest, void, Answer>;

export function startNode(run: CiRun, plan: NodePlan): Node {
  return run.project.mode === 'queue' ? pullingNode(run, plan) : splitNode(run, plan);
}

function* pullingNode(run: CiRun, plan: NodePlan): Node {
  let at = plan.at;
  for (let process = 1; ; process++) {
    const name = `${run.id} node ${plan.node_index} process ${process}`;
    const ran = new Map<string, RecordedTestFile>();
    const told: ToldFile[] = [];
    const mayDie = process === 1 ? plan.death : null;
    let batch_id: number | null = null;
    let failed: string[] = [];
    let times: number[] = [];
    for (let batch_index = 0; ; batch_index++) {
      const handed: Answer = yield { kind: 'pull', at, process: name, batch_index, batch_id, failed, times };
      if (!handed) {
        yield { kind: 'record', at: at + 900, files: [...ran.values()], told };
        return;
      }
      if (handed === 'later') {
        at += 1000 * STANDBY_PULL_SECONDS;
        continue;
      }
      const measured = measure(run, plan, handed);
      const files = recorded(run, plan, measured, ran, handed.isRetry);
      const took = durationOf(run, files);
      if (mayDie?.batches === batch_index) {
        at += Math.round(0.6 * took);
        break;
      }
      for (const file of files) ran.set(file.path, file);
      told.push(...measured.filter(({ cases }) => cases.length > 0));
      at += took;
      batch_id = handed.batch_id;
      failed = files.filter(({ outcome }) => isFailure(outcome!)).map(({ path }) => path);
      times = files.map(({ time_execution }) => time_execution);
    }
    if (mayDie!.restart === null) return;
    at += Math.round(1000 * mayDie!.restart);
  }
}

function* splitNode(run: CiRun, plan: NodePlan): Node {
  let at = plan.at;
  let handed = yield { kind: 'split', at };
  if (!handed || handed === 'later') return;
  const files = recorded(run, plan, measure(run, plan, handed));
  if (plan.death) {
    if (plan.death.restart === null) return;
    at += Math.round(0.6 * durationOf(run, files) + 1000 * plan.death.restart);
    handed = yield { kind: 'split', at };
  }
  yield { kind: 'record', at: at + durationOf(run, files), files, told: [] };
}

/** Measures files and pieces. A piece has, besides its cases, what its file takes besides all of them. */
function measure({ seconds, cases }: CiRun, { slowness }: NodePlan, { paths, pieces }: Handed): ToldFile[] {
  return paths.map(path => {
    const file = fileOfPiece(path);
    const names = pieces.find(piece => piece.path === path)?.cases;
    const all = cases.get(file) ?? [];
    const ran = names ? all.filter(({ name }) => names.includes(name)) : all;
    const left = sumOf(all) - sumOf(ran);
    return {
      path,
      ...(names && { is_piece: true }),
      seconds: wholeMilliseconds(slowness * (seconds.get(file)! - left)),
      cases: ran.map(one => ({ name: one.name, seconds: wholeMilliseconds(slowness * one.seconds), outcome: 'passed' as const })),
    };
  });
}

/** What a node records of files. @param ran what it ran before */
function recorded(
  { failing }: CiRun,
  { broken }: NodePlan,
  measured: readonly ToldFile[],
  ran: ReadonlyMap<string, RecordedTestFile> = new Map(),
  isRetry = false,
): RecordedTestFile[] {
  return measured.map(({ path, seconds }, i) => {
    const reason = ran.size + i < broken ? 'broken' : failing.get(path);
    const passes = reason === undefined || (reason === 'flaky' && isRetry);
    const outcome = passes ? (isRetry && ran.has(path) ? 'flaky' : 'passed') : reason === 'muted' ? 'muted' : 'failed';
    return { path, time_execution: seconds, outcome };
  });
}

function sumOf(cases: readonly { seconds: number }[]): number {
  return cases.reduce((sum, { seconds }) => sum + seconds, 0);
}

/** In milliseconds, with the start of the test runner. */
function durationOf({ project }: CiRun, files: readonly RecordedTestFile[]): number {
  return Math.round(1000 * files.reduce((sum, { time_execution }) => sum + time_execution, project.boot));
}
