import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished } from 'vitest';
import { MAIN, type Server, type ServerOptions, startServer } from '../testbed/server.js';
import { Client, TOKEN } from './client.js';
import { httpServer } from './http-server.js';
import { temporaryFolder } from './temporary-folder.js';

export type ServerProcess = Client & Server;

export interface ServeOptions extends Pick<ServerOptions, 'dataDir' | 'token' | 'flags' | 'env' | 'under'> {
  /** Registers what kills the server: by default after the test. */
  end?: (kill: () => void) => void;
}

/** Runs `serve` in a new process. Resolves when the server listens. */
export async function spawnServer({
  dataDir = temporaryFolder(),
  token = TOKEN,
  flags = [],
  env = {},
  end = onTestFinished,
  ...more
}: ServeOptions = {}): Promise<ServerProcess> {
  const server = await startServer({
    ...more,
    dataDir,
    token,
    flags: ['--log-level', 'info', ...flags],
    env: plainEnvironment({ BALLAST_HTTP_SERVER: httpServer, ...env }),
    keepsLog: true,
  });
  end(() => void server.child.kill('SIGKILL'));
  return Object.assign(new Client(server.url, token ?? ''), server);
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
  const child = spawn(process.execPath, [MAIN, ...args], { env: plainEnvironment(env), stdio: 'pipe', cwd });
  child.stdin.on('error', () => {}).end(stdin);
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, stdout, stderr };
}
