import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { killAtExit, removeFolder, temporaryFolder } from './cleanup.js';
import { TOKEN } from './client.js';

/** The program of the server and of the commands. */
export const MAIN = fileURLToPath(new URL('../../src/main.js', import.meta.url));

export interface ServerOptions {
  /** The command of another version of the program; by default this one. It gets no arguments of Node. */
  program?: readonly string[] | undefined;
  nodeArgs?: readonly string[];
  /** The folder for CPU profiles of the server. */
  cpuProf?: string | undefined;
  /** A command that runs the server, such as strace. `child` is then the process of that command. */
  under?: readonly string[];
  /** Additional flags of `serve`. */
  flags?: readonly string[];
  /** Kept after `stop`. By default the server has a temporary folder. */
  dataDir?: string;
  /** The URL of the database that it serves instead of a folder. */
  database?: string;
  /** Of the project "default"; null: the first server of a store draws it, and prints it. */
  token?: string | null;
  env?: NodeJS.ProcessEnv;
  /** The server exchanges messages with this process. */
  hasChannel?: boolean;
  /** Its log is kept, and not shown. */
  keepsLog?: boolean;
}

export interface Server {
  pid: number;
  url: string;
  dataDir: string;
  child: ChildProcess;
  /** Its output so far. */
  stdout(): string;
  /** Its log so far, if it is kept. */
  stderr(): string;
  /** From its spawn to its line with the URL. */
  startMilliseconds: number;
  /** Resolves with its exit code when it has ended and its output is read; null: a signal ended it. */
  ended: Promise<number | null>;
  /** Sends a signal: SIGTERM, if none is named. Resolves like `ended`, also if it had ended. */
  stop(signal?: NodeJS.Signals): Promise<number | null>;
}

/** Runs `serve` in a process of its own, which is killed when this one exits. Resolves when the server listens, on a free port of loopback. */
export async function startServer({
  program,
  nodeArgs = [],
  cpuProf,
  under = [],
  flags = [],
  dataDir,
  database,
  token = TOKEN,
  env = process.env,
  hasChannel = false,
  keepsLog = false,
}: ServerOptions = {}): Promise<Server> {
  const folder = dataDir ?? temporaryFolder();
  const profile = cpuProf === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${cpuProf}`];
  const place = database === undefined ? ['--data-dir', folder] : [];
  const serve = ['serve', '--port', '0', ...place, '--log-level', 'warn', ...flags];
  const [command, ...args] = [...under, ...(program ?? [process.execPath, ...nodeArgs, ...profile, MAIN]), ...serve];
  const from = performance.now();
  const child: ChildProcess = killAtExit(
    spawn(command!, args, {
      env: { ...env, BALLAST_BOOTSTRAP_TOKEN: token ?? undefined, BALLAST_DATABASE_URL: database ?? '' },
      stdio: ['ignore', 'pipe', keepsLog ? 'pipe' : 'inherit', ...(hasChannel ? (['ipc'] as const) : [])],
    }),
  );
  let [stdout, stderr] = ['', ''];
  child.stderr?.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout!.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const printed = /listens on (http:\S+) .*\n/.exec(stdout)?.[1];
      if (printed !== undefined) resolve(printed);
    });
    const fail = (code: number | null) =>
      reject(new Error(`cannot start the server: it ended with ${code ?? child.signalCode} and printed: ${stdout}${stderr}`));
    ended.then(fail, reject);
  });
  return {
    pid: child.pid!,
    url,
    dataDir: folder,
    child,
    stdout: () => stdout,
    stderr: () => stderr,
    startMilliseconds: performance.now() - from,
    ended,
    async stop(signal = 'SIGTERM') {
      child.kill(signal);
      const code = await ended;
      if (dataDir === undefined) removeFolder(folder);
      return code;
    },
  };
}
