import { type ChildProcess, type ChildProcessByStdio, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';

/** The processes of a trial: no two of them share a thread. */

const TOKEN = 'a-token-for-benchmarks-0123456789abcdef';

/** As clients in the field send them. */
export const headers = {
  'Content-Type': 'application/json',
  Accept: 'application/json',
  'KNAPSACK-PRO-CLIENT-NAME': 'knapsack_pro',
  'KNAPSACK-PRO-CLIENT-VERSION': '7.14.0',
  'KNAPSACK-PRO-TEST-SUITE-TOKEN': TOKEN,
  'KNAPSACK-PRO-CI-PROVIDER': 'GitHub Actions',
};

export interface Server {
  pid: number;
  url: string;
  post(path: string, body: object): Promise<void>;
  stop(): Promise<void>;
}

/** The address that a server prints when it listens; rejects when it ends before. */
export function printedUrl(child: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const found = /http:\/\/\S+/.exec(printed)?.[0];
      if (found) resolve(found);
    });
    child.once('exit', code => reject(new Error(`the server ended with ${code} and printed: ${printed}`)));
  });
}

/** The real program on a folder of its own, which is gone after `stop`. */
export async function startServer(nodeArgs: readonly string[] = []): Promise<Server> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ballast-bench-'));
  const flags = ['--port', '0', '--data-dir', dataDir, '--log-level', 'warn'];
  const child = spawn(process.execPath, [...nodeArgs, fileOf('../../src/main.js'), 'serve', ...flags], {
    env: { ...process.env, BALLAST_BOOTSTRAP_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await printedUrl(child);
  return {
    pid: child.pid!,
    url,
    async post(path, body) {
      const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) });
      const text = await response.text();
      if (!response.ok) throw new Error(`POST ${path} was answered with ${response.status}: ${text}`);
    },
    async stop() {
      await end(child);
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** A program of this folder that answers each message with one. */
export class Helper<Question extends object, Answer> {
  readonly #child: ChildProcess;

  constructor(script: 'bare.js' | 'generator.js') {
    this.#child = fork(fileOf(script));
    this.#child.once('exit', code => this.#child.emit('error', new Error(`${script} ended with ${code}`)));
  }

  get pid(): number {
    return this.#child.pid!;
  }

  async ask(question: Question): Promise<Answer> {
    this.#child.send(question);
    const [answer] = (await once(this.#child, 'message')) as [Answer];
    return answer;
  }

  async stop(): Promise<void> {
    this.#child.removeAllListeners('exit');
    await end(this.#child);
  }
}

/** Seconds of a process so far; zeros where there is no Linux /proc. */
export interface Cpu {
  /** All its threads ran. */
  all: number;
  /** Its main thread ran. */
  main: number;
  /** Its main thread had something to do, but no core was free. */
  starved: number;
}

export function cpuOf(pid: number): Cpu {
  // The second field, a name in parentheses, may hold anything.
  const stat = fieldsOf(`/proc/${pid}/stat`, /^.*\) /);
  const [ran = 0, starved = 0] = fieldsOf(`/proc/${pid}/task/${pid}/schedstat`);
  return { all: ((stat[11] ?? 0) + (stat[12] ?? 0)) / 100, main: ran / 1e9, starved: starved / 1e9 };
}

function fieldsOf(file: string, skip = /^/): number[] {
  try {
    return readFileSync(file, 'utf8').replace(skip, '').split(' ').map(Number);
  } catch {
    return [];
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

function fileOf(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url));
}
