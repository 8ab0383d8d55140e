import type { RecordedTestFile } from '../src/server/engine/test-file.js';
import { median } from '../src/server/planning/estimating/median.js';
import { requestJson } from '../test/testbed/client.js';
import { RECORDING, SPLIT } from '../test/testbed/node-process.js';
import { printStep } from '../test/testbed/progress.js';
import { seededRandom } from '../test/testbed/random.js';
import { type Server, startServer } from '../test/testbed/server.js';
import { residual } from '../test/testbed/synthetic.js';
import { Connections } from './load/connections.js';
import { cpuBetween, readCpu } from './load/cpu.js';
import { longTestPath, NODES, testFiles } from './load/messages.js';
import { recordAll } from './load/suite-bodies.js';
import type { Result } from './results.js';

/** Time that a server takes to play a suite with many numbers of nodes. */

export interface WhatIfOptions {
  times: number;
  files?: number;
  /** The largest number of nodes; all from 1 on are played. */
  nodes?: number;
}

/** Requests of each kind before the measurement, until all code is compiled. */
const WARM_UP = 3;

const head = ['request', 'mode', 'median ms', 'max ms', 'main thread ms', 'server CPU ms'];

export async function whatIf({ times, files = 10_000, nodes = 64 }: WhatIfOptions): Promise<Result[]> {
  const server = await startServer();
  try {
    printStep(`playing ${files} files`);
    const connections = new Connections(server.url, 1);
    await recordAll(connections, files);
    connections.close();
    const { test_files } = testFiles(files, longTestPath);
    await recordSplit(server, test_files);
    const [{ id }] = (await requestJson(server.url, '/v1/builds')).data;
    const rows: string[][] = [];
    for (const mode of ['queue', 'split'] as const) {
      const played = `nodes=1..${nodes}&mode=${mode}`;
      const plan = { branch: 'main', nodes: `1..${nodes}`, mode, test_files };
      rows.push(['POST /v1/plan', mode, ...(await measure(server, times, () => requestJson(server.url, '/v1/plan', plan)))]);
      rows.push([
        'GET what_if',
        mode,
        ...(await measure(server, times, () => requestJson(server.url, `/v1/builds/${id}/what_if?${played}`))),
      ]);
    }
    const legend =
      `${files} files, each with 1 to ${nodes} nodes: ${times} requests after ${WARM_UP} for warm-up, in sequence on an idle server. what_if also ` +
      'plays the 20 longest files in pieces and three other methods. Times of the client; server CPU: all threads, per request.';
    return [{ title: 'What if', head, rows, legend }];
  } finally {
    await server.stop();
  }
}

/** Records a build that was planned, whose times deviate from their estimates. */
async function recordSplit(server: Server, test_files: readonly { path: string }[]): Promise<void> {
  const random = seededRandom(test_files.length);
  const build = { commit_hash: 'planned', branch: 'main', node_total: NODES };
  for (let node_index = 0; node_index < NODES; node_index++) {
    const node = { ...build, node_index };
    const part = await requestJson(server.url, SPLIT, { ...node, ci_build_id: '1', cache_read_attempt: false, test_files });
    const ran = part.test_files.map(({ path, time_execution }: RecordedTestFile) => ({
      path,
      time_execution: time_execution * residual(random),
    }));
    await requestJson(server.url, RECORDING, { ...node, test_files: ran });
  }
}

async function measure(server: Server, times: number, send: () => Promise<unknown>): Promise<string[]> {
  for (let i = 0; i < WARM_UP; i++) await send();
  const before = readCpu(server.pid);
  const milliseconds: number[] = [];
  for (let i = 0; i < times; i++) {
    const from = performance.now();
    await send();
    milliseconds.push(performance.now() - from);
  }
  const { main, all } = cpuBetween(before, readCpu(server.pid));
  const each = (seconds: number) => ((seconds * 1000) / times).toFixed(0);
  return [median(milliseconds).toFixed(0), Math.max(...milliseconds).toFixed(0), each(main), each(all)];
}
