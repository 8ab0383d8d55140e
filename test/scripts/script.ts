import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { onTestFinished } from 'vitest';

/** Runs a script to its end. Returns its exit code and its output. */
export async function runScript(path: string, ...args: string[]): Promise<{ code: number | null; output: string }> {
  const script = fileURLToPath(new URL(`../../scripts/${path}.js`, import.meta.url));
  const child = spawn(process.execPath, [script, ...args], { stdio: ['ignore', 'pipe', 'pipe'] });
  // A test that takes too long leaves no script behind.
  onTestFinished(() => void child.kill('SIGTERM'));
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (output += text));
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, output };
}
