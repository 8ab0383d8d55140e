import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { printedUrl } from '../../bench/load/server.js';
import { Client } from './server.js';

export const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));

export interface ServerProcess extends Client {
  child: ChildProcess;
  /** kill -9; resolves when the process is gone. */
  kill(): Promise<void>;
  /** Sends a signal; resolves with the exit code. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
}

/** The real program as a process of its own, killed after the test. */
export async function spawnServer(dataDir: string, token = 'a-token-for-tests-0123456789abcdef'): Promise<ServerProcess> {
  const child = spawn(process.execPath, [main, 'serve', '--port', '0', '--data-dir', dataDir], {
    env: { ...process.env, BALLAST_BOOTSTRAP_TOKEN: token },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit');
  onTestFinished(() => void child.kill('SIGKILL'));
  const url = await printedUrl(child);
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    const [code] = (await exited) as [number | null];
    return code;
  };
  return Object.assign(new Client(url, token), {
    child,
    stop,
    kill: async () => {
      await stop('SIGKILL');
    },
  });
}

/** What a CI system would tell of the build that these tests are themselves part of. */
const OF_CI = /^(BALLAST_|CI$|CI_|GITHUB_|GITLAB_|CIRCLE|BUILDKITE|TF_BUILD|SYSTEM_|BITBUCKET_|SEMAPHORE|TRAVIS|APPVEYOR|DRONE|CF_|CIRRUS_|HEROKU_|CODEBUILD_|TEAMCITY_|JENKINS_)/;

/** The environment of a command, as if no CI system were here. */
export function plainEnvironment(more: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv {
  return { ...Object.fromEntries(Object.entries(process.env).filter(([name]) => !OF_CI.test(name))), ...more };
}

export interface Run {
  code: number | null;
  stdout: string;
  stderr: string;
}

/** Runs a command of the program to its end. */
export async function runBallast(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { cwd, stdin = '' }: { cwd?: string; stdin?: string } = {},
): Promise<Run> {
  const child = spawn(process.execPath, [main, ...args], { env: plainEnvironment(env), stdio: 'pipe', cwd });
  child.stdin.on('error', () => {}).end(stdin);
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}
