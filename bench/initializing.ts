import { setTimeout as sleep } from 'node:timers/promises';
import { median } from '../src/server/planning/estimating/median.js';
import { printStep } from '../test/testbed/progress.js';
import { startServer } from '../test/testbed/server.js';
import { Connections, expectAnswer } from './load/connections.js';
import { cpuBetween, readCpu } from './load/cpu.js';
import { FILES_IN_ANSWER } from './load/messages.js';
import { initializeTemplate, type ListKind, type PlanKind, planPaths, recordAll, recordSome } from './load/suite-bodies.js';
import type { Template } from './load/template.js';
import type { Result } from './results.js';

/** Time that an idle server takes to create a queue or a split from a whole suite. */

export interface InitializingOptions {
  times: number;
  /** Files and nodes. */
  sizes?: readonly (readonly [files: number, nodes: number])[];
}

/** Requests of each kind before the measurement, until all code is compiled. */
const WARM_UP = 3;
/** Milliseconds between a recording and an initialisation: nodes of other builds record all the time. */
const AFTER_RECORDING = 150;

const SIZES = [
  [10_000, 64],
  [100_000, 200],
] as const;

const head = ['initialised', 'timings', 'list', 'body MB', 'median ms', 'max ms', 'JSON.parse ms', 'ratio', 'max ratio', 'server CPU ms'];

export async function initializing({ times, sizes = SIZES }: InitializingOptions): Promise<Result[]> {
  const rows: string[][] = [];
  for (const size of sizes) {
    printStep(`initialising ${size[0]} files`);
    rows.push(...(await measureSize(size, times)));
  }
  const legend =
    `Time from sending the body to receiving the answer: ${times} requests after ${WARM_UP} for warm-up, in sequence on an idle server, each for a new build. ` +
    'The client has prepared the body. timings: whether the paths were recorded before, in two builds; if so, a node of another build records 20 of them 150 ms before each request, as in CI. ' +
    'list: the same as in the request before, with ten paths that no request had, or with such paths only. ' +
    'JSON.parse: median for the same body, in the client. ratio: median ms, and max ms, over JSON.parse ms. server CPU: all threads, per request.';
  return [{ title: 'Initialising', head, rows, legend }];
}

async function measureSize([files, nodes]: readonly [number, number], times: number): Promise<string[][]> {
  const server = await startServer();
  const connections = new Connections(server.url, 1);
  try {
    const rows = [];
    let round = 0;
    for (const isKnown of [false, true]) {
      if (isKnown) await recordAll(connections, files);
      for (const what of ['queue', 'split'] as const) {
        // A list of new paths has no known timings.
        const lists: ListKind[] = isKnown ? ['changed', 'same'] : ['new', 'changed', 'same'];
        for (const list of lists) {
          const template = initializeTemplate(what, files, nodes, list);
          const initialize = async () => {
            if (isKnown) {
              await recordSome(connections, files, round);
              await sleep(AFTER_RECORDING);
            }
            return initializeOnce(connections, what, template.body(round++));
          };
          const row = await measureKind(initialize, template, server.pid, times);
          rows.push([`${what}: ${files} files, ${nodes} nodes`, isKnown ? 'known' : 'none', list, ...row]);
        }
      }
    }
    return rows;
  } finally {
    connections.close();
    await server.stop();
  }
}

async function initializeOnce(connections: Connections, what: PlanKind, body: Buffer): Promise<number> {
  const answer = await connections.post(planPaths[what], body);
  expectAnswer(answer, 200, FILES_IN_ANSWER);
  return answer.milliseconds;
}

async function measureKind(initialize: () => Promise<number>, template: Template, pid: number, times: number): Promise<string[]> {
  const milliseconds: number[] = [];
  for (let i = 0; i < WARM_UP; i++) await initialize();
  const before = readCpu(pid);
  for (let i = 0; i < times; i++) milliseconds.push(await initialize());
  const { all } = cpuBetween(before, readCpu(pid));
  const parse = median(Array.from({ length: times + WARM_UP }, (_, round) => timeOfParse(template.body(round))).slice(WARM_UP));
  const typical = median(milliseconds);
  const max = Math.max(...milliseconds);
  const cells = [template.bytes / 1e6, typical, max, parse, typical / parse, max / parse];
  return [...cells.map(value => value.toFixed(1)), ((all * 1000) / times).toFixed(0)];
}

/** Milliseconds that JSON.parse takes for a body. */
function timeOfParse(body: Buffer): number {
  const text = body.toString();
  const from = performance.now();
  JSON.parse(text);
  return performance.now() - from;
}
