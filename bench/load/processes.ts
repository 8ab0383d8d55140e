import { type ChildProcess, type ChildProcessByStdio, fork, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { own, removeFolder, temporaryFolder } from './cleanup.js';
import type { Reply } from './answering.js';

/** The processes of a trial: no two of them share a thread. */

/** Of the project "default" of every server. */
export const TOKEN = 'a-token-for-benchmarks-0123456789abcdef';

/** As clients in the field send them. */
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
  /** A command that runs the server in its turn; `child` is then its process. */
  under?: readonly string[];
  /** More flags of `serve`. */
  flags?: readonly string[];
  /** Kept after `stop`; without it the server has a folder of its own, which is gone then. */
  dataDir?: string;
  /** Its event loop can be watched: see loop-delay.ts. */
  isWatched?: boolean;
}

export interface Server {
  pid: number;
  url: string;
  dataDir: string;
  child: ChildProcess;
  /** From spawning it to its first line of output with an address. */
  startMilliseconds: number;
  post(path: string, body: object): Promise<void>;
  get(path: string): Promise<any>;
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

/** The real program. */
export async function startServer({ nodeArgs = [], under = [], flags = [], dataDir, isWatched }: ServerOptions = {}): Promise<Server> {
  const folder = dataDir ?? temporaryFolder();
  const probe = isWatched ? ['--import', new URL('./probe.js', import.meta.url).href] : [];
  const serve = [fileOf('src/main.js'), 'serve', '--port', '0', '--data-dir', folder, '--log-level', 'warn', ...flags];
  const [command, ...args] = [...under, process.execPath, ...nodeArgs, ...probe, ...serve];
  const from = performance.now();
  const child = own(
    spawn(command!, args, {
      env: { ...process.env, BALLAST_BOOTSTRAP_TOKEN: TOKEN },
      stdio: ['ignore', 'pipe', 'inherit', ...(isWatched ? (['ipc'] as const) : [])],
    }),
  ) as ChildProcessByStdio<null, Readable, null>;
  const stop = async () => {
    await end(child);
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
      startMilliseconds,
      async post(path, body) {
        await request(path, { method: 'POST', body: JSON.stringify(body) });
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

/** Sends a child a message; resolves with its answer. */
export async function ask<Answer>(child: ChildProcess, question: object): Promise<Answer> {
  const reply = new Promise<Reply<Answer>>((resolve, reject) => {
    const ended = () => reject(new Error(`a process of the bench ended with ${child.exitCode ?? child.signalCode}`));
    const answered = (message: unknown) => {
      child.off('exit', ended);
      resolve(message as Reply<Answer>);
    };
    child.once('exit', ended).once('message', answered);
    // It may have ended before.
    child.send(question, error => error && ended());
  });
  const given = await reply;
  if ('error' in given) throw new Error(given.error);
  return given.answer;
}

/** A program, by its path from the project's root, that answers each message with one: see answering.ts. */
export class Helper<Question extends object, Answer> {
  readonly child: ChildProcess;

  constructor(script: `${string}.js`) {
    this.child = own(fork(fileOf(script)));
  }

  get pid(): number {
    return this.child.pid!;
  }

  ask<A extends Answer>(question: Question): Promise<A> {
    return ask<A>(this.child, question);
  }

  stop(): Promise<void> {
    return end(this.child);
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill('SIGTERM');
  await once(child, 'exit');
}

/** A file of the compiled project. */
function fileOf(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url));
}
