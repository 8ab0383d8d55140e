import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { killAtExit, removeFolder, temporaryFolder, terminate } from './cleanup.js';

/** The program of the server and of the commands. */
export const MAIN = fileURLToPath(new URL('../src/main.js', import.meta.url));

/** The token of the project "default" of every server. */
export const TOKEN = 'a-token-for-benchmarks-0123456789abcdef';

/** Headers as commercial clients send them. */
export const headers = {
  'Content-Type': 'application/json',
  Accept: 'application/json',
  'KNAPSACK-PRO-CLIENT-NAME': 'knapsack_pro',
  'KNAPSACK-PRO-CLIENT-VERSION': '7.14.0',
  'KNAPSACK-PRO-TEST-SUITE-TOKEN': TOKEN,
  'KNAPSACK-PRO-CI-PROVIDER': 'GitHub Actions',
};

export interface ServerOptions {
  nodeArgs?: readonly string[];
  /** The folder for CPU profiles of the server. */
  cpuProf?: string | undefined;
  /** A command that runs the server. `child` is then the process of that command. */
  wrapper?: readonly string[];
  /** Additional flags of `serve`. */
  flags?: readonly string[];
  /** Kept after `stop`. By default the server has a temporary folder. */
  dataDir?: string;
  /** The URL of the database that it serves instead of a folder. */
  database?: string;
  /** The delay of its event loop can be measured: see probe.ts. */
  measuresLoopDelay?: boolean;
  /** The last lines of its log are kept, and not shown. */
  keepsLog?: boolean;
}

const KEPT_LINES = 20;

export interface Server {
  pid: number;
  url: string;
  dataDir: string;
  child: ChildProcess;
  /** The last lines of its log, oldest first, if they are kept. */
  lastLines: readonly string[];
  /** From its spawn to its first line of output with a URL. */
  startMilliseconds: number;
  /** The answer; null: it is empty. */
  post(path: string, body: object): Promise<any>;
  get(path: string): Promise<any>;
  stop(): Promise<void>;
}

/** Resolves with the URL that a server prints when it listens. Rejects if the server exits first. */
export function printedUrl(child: ChildProcessByStdio<null, Readable, null>): Promise<string> {
  let printed = '';
  return new Promise((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      printed += text;
      const url = /http:\/\/\S+/.exec(printed)?.[0];
      if (url) resolve(url);
    });
    child.once('exit', (code, signal) =>
      reject(new Error(`cannot start the server: it exited with ${code ?? signal} and printed: ${printed}`)),
    );
  });
}

/** Starts the real program in a process of its own. */
export async function startServer({
  nodeArgs = [],
  cpuProf,
  wrapper = [],
  flags = [],
  dataDir,
  database,
  measuresLoopDelay,
  keepsLog,
}: ServerOptions = {}): Promise<Server> {
  const folder = dataDir ?? temporaryFolder();
  const probe = measuresLoopDelay ? ['--import', new URL('../bench/load/probe.js', import.meta.url).href] : [];
  const profile = cpuProf === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProf}`];
  const place = database === undefined ? ['--data-dir', folder] : [];
  const serve = [MAIN, 'serve', '--port', '0', ...place, '--log-level', 'warn', ...flags];
  const [command, ...args] = [...wrapper, process.execPath, ...nodeArgs, ...profile, ...probe, ...serve];
  const from = performance.now();
  const child = killAtExit(
    spawn(command!, args, {
      env: { ...process.env, BALLAST_BOOTSTRAP_TOKEN: TOKEN, BALLAST_DATABASE_URL: database ?? '' },
      stdio: ['ignore', 'pipe', keepsLog ? 'pipe' : 'inherit', ...(measuresLoopDelay ? (['ipc'] as const) : [])],
    }),
  ) as ChildProcessByStdio<null, Readable, null>;
  const lastLines: string[] = [];
  const log = child.stderr as Readable | null;
  if (log) createInterface(log).on('line', line => lastLines.push(line) > KEPT_LINES && lastLines.shift());
  const stop = async () => {
    await terminate(child);
    if (dataDir === undefined) removeFolder(folder);
  };
  try {
    const url = await printedUrl(child);
    const startMilliseconds = performance.now() - from;
    const request = async (path: string, init: RequestInit) => {
      const response = await fetch(url + path, { ...init, headers });
      const text = await response.text();
      if (!response.ok) throw new Error(`${init.method} ${path} was answered with ${response.status}: ${text}`);
      return text;
    };
    return {
      pid: child.pid!,
      url,
      dataDir: folder,
      child,
      lastLines,
      startMilliseconds,
      async post(path, body) {
        const answer = await request(path, { method: 'POST', body: JSON.stringify(body) });
        return answer === '' ? null : (JSON.parse(answer) as unknown);
      },
      async get(path) {
        return JSON.parse(await request(path, { method: 'GET' })) as unknown;
      },
      stop,
    };
  } catch (error) {
    await stop();
    throw error;
  }
}
