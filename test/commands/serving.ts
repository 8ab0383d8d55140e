import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';
import { httpServer } from '../harness/http-server.js';

const main = fileURLToPath(new URL('../../src/main.js', import.meta.url));

export interface Serving {
  url: string;
  child: ChildProcess;
  /** All that was printed so far. */
  stdout(): string;
  stderr(): string;
  /** Resolves with the exit code. */
  ended: Promise<number | null>;
}

/**
 * Runs `serve` as an operator does, with only these settings; resolves when it listens. Killed after the test.
 * @param under a command that runs the server in its own place
 */
export async function serving(args: readonly string[], env: Record<string, string> = {}, under: readonly string[] = []): Promise<Serving> {
  const inherited = Object.entries(process.env).filter(([name]) => !name.startsWith('BALLAST_'));
  const [command, ...words] = [...under, process.execPath, main, 'serve', '--port', '0', ...args] as [string, ...string[]];
  const child = spawn(command, words, {
    env: { ...Object.fromEntries(inherited), BALLAST_HTTP_SERVER: httpServer, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const ended = once(child, 'close').then(([code]) => code as number | null);
  let stdout = '';
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  const url = await new Promise<string>((resolve, reject) => {
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
      const found = /listens on (http:\S+) .*\n/.exec(stdout)?.[1];
      if (found) resolve(found);
    });
    void ended.then(code => reject(new Error(`the server ended with ${code} and printed: ${stdout}${stderr}`)));
  });
  return { url, child, stdout: () => stdout, stderr: () => stderr, ended };
}
