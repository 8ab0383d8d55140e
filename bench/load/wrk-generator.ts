import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exitOnSignals, killAtExit, removeFolder, temporaryFolder } from '../../test/testbed/cleanup.js';
import { answerMessages } from '../../test/testbed/worker-messages.js';
import type { Cpu } from './cpu.js';
import type { Load, Outcome } from './load.js';
import { ROUND } from './messages.js';
import { requestTexts } from './prepared-requests.js';
import { ThreadCpu } from './thread-cpu.js';
import { meanLatency, percentile, withoutCorrection } from './wrk-latencies.js';

/** A load by wrk with one thread, in whole seconds. The process is a worker, which runs wrk for each load. */

/** wrk runs the source. */
const SCRIPT = fileURLToPath(new URL('../../../bench/load/wrk.lua', import.meta.url));
/** JSON escapes it. */
const SEPARATOR = '\x1e';

/** The report that wrk.lua prints. */
interface Printed {
  answers: number;
  /** Connections that failed, answers after the timeout. */
  errors: number;
  /** Answers with a status of 400 or more. */
  refused: number;
  microseconds: number;
  /** Answers whose status and body were compared, and those that differed. */
  checked: number;
  mismatches: number;
  bodyBytes: number;
  latencies: [number, number][];
  next: number;
}

async function generate(load: Load): Promise<Outcome> {
  if (load.amount !== undefined) throw new Error('wrk cannot end a load after a number of answers: use another generator');
  const { answers, errors, refused, microseconds, checked, mismatches, bodyBytes, latencies, next, cpu } = await runWrk(load);
  const measured = withoutCorrection(new Map(latencies), meanLatency(answers, microseconds, load.connections));
  return {
    answers,
    failures: errors + (load.expected === null ? refused : mismatches),
    seconds: microseconds / 1e6,
    p50Milliseconds: percentile(measured, 50) / 1000,
    p99Milliseconds: percentile(measured, 99) / 1000,
    meanAnswerBytes: checked === 0 ? 0 : Math.round(bodyBytes / checked),
    next,
    cpu,
  };
}

async function runWrk(load: Load): Promise<Printed & { cpu: Cpu }> {
  const folder = temporaryFolder();
  const file = join(folder, 'requests');
  writeFileSync(file, requestTexts(load).join(SEPARATOR));
  const flags = ['--threads', '1', '--connections', load.connections, '--duration', `${Math.ceil(load.seconds)}s`, '--timeout', '10s'];
  const checks = load.expected === null ? [] : [load.status, load.expected];
  const args = [...flags, '--script', SCRIPT, load.url, '--', file, load.from, ROUND, ...checks].map(String);
  const wrk = killAtExit(spawn('wrk', args, { stdio: ['ignore', 'pipe', 'pipe'] }));
  const cpu = new ThreadCpu(wrk.pid!);
  try {
    let output = '';
    for (const stream of [wrk.stderr!, wrk.stdout!]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
    const [code, signal] = (await once(wrk, 'close')) as [number | null, string | null];
    const printed = output.trimEnd().split('\n').at(-1)!;
    if (code !== 0 || !printed.startsWith('{')) throw new Error(`wrk exited with ${code ?? signal} and printed: ${output}`);
    const outcome = JSON.parse(printed) as Printed;
    return { ...outcome, cpu: cpu.during(outcome.microseconds / 1e6) };
  } finally {
    cpu.stop();
    removeFolder(folder);
  }
}

exitOnSignals();
answerMessages(generate);
