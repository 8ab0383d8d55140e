import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished } from 'vitest';
import { Client, TOKEN } from './client.js';
import { httpServer } from './http-server.js';
import { temporaryFolder } from './temporary-folder.js';

export const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));

export interface ServerProcess extends Client {
  dataDir: string;
  child: ChildProcess;
  /** The output so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
  /** Sends a signal; resolves with the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

export interface ServeOptions {
  dataDir?: string;
  /** The bootstrap token; null makes the first start print a token. */
  token?: string | null;
  flags?: readonly string[];
  env?: NodeJS.ProcessEnv;
  /** A command prefix that runs the server, such as strace. */
  under?: readonly string[];
  /** Registers what kills the server: by default after the test. */
  end?: (kill: () => void) => void;
}

/** Runs `serve` in a new process. Resolves when the server listens. */
export async function spawnServer({
  dataDir = temporaryFolder(),
  token = TOKEN,
  flags = [],
  env = {},
  under = [],
  end = onTestFinished,
}: ServeOptions = {}): Promise<ServerProcess> {
  const [command, ...args] = [...under, process.execPath, main, 'serve', '--port', '0', '--data-dir', dataDir, ...flags] as [
    string,
    ...string[],
  ];
  const bootstrap = token === null ? {} : { BALLAST_BOOTSTRAP_TOKEN: token };
  const child = spawn(command, args, {
    env: plainEnvironment({ BALLAST_HTTP_SERVER: httpServer, ...bootstrap, ...env }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  end(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const address = /listens on (http:\S+) .*\n/.exec(stdout)?.[1];
      if (address) resolve(address);
    });
    void ended.then(code => reject(new Error(`the server ended with ${code} and printed: ${stdout}${stderr}`)));
  });
  const stop = (signal: NodeJS.Signals) => {
    child.kill(signal);
    return ended;
  };
  return Object.assign(new Client(url, token ?? ''), { dataDir, child, stdout: () => stdout, stderr: () => stderr, ended, stop });
}

/** Variables of the CI system that runs these tests. */
const CI_VARIABLES =
  /^(BALLAST_|CI$|CI_|GITHUB_|GITLAB_|CIRCLE|BUILDKITE|TF_BUILD|SYSTEM_|BITBUCKET_|SEMAPHORE|TRAVIS|APPVEYOR|DRONE|CF_|CIRRUS_|HEROKU_|CODEBUILD_|TEAMCITY_|JENKINS_)/;

/** Returns the environment without the variables of a CI system. */
export function plainEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !CI_VARIABLES.test(name))), ...more };
}

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** A run that ended with a code, and whose stderr has a text or a match; with `stdout`, that was all of it. */
export function ended(code: number, stderr: string | RegExp, stdout?: string): Partial<Run> {
  const message = typeof stderr === 'string' ? expect.stringContaining(stderr) : expect.stringMatching(stderr);
  return { code, stderr: message as string, ...(stdout !== undefined && { stdout }) };
}

/** All that a run printed that ended with a code and a sentence. */
export const said = (code: number, sentence: string): Run => ({ code, stdout: '', stderr: `ballast: ${sentence}\n` });

/** A run that printed this, and nothing on stderr. */
export const printed = (stdout: unknown, code = 0) => ({ code, stdout, stderr: '' });

/** Runs a command of the program in a new process. */
export async function runBallast(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { cwd, stdin = '' }: { cwd?: string; stdin?: string } = {},
): Promise<Run> {
  const child = spawn(process.execPath, [main, ...args], { env: plainEnvironment(env), stdio: 'pipe', cwd });
  child.stdin.on('error', () => {}).end(stdin);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, stdout, stderr };
}
