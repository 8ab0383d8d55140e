import { Readable, Writable } from 'node:stream';
import { plainEnvironment, type Run } from './process.js';

/** Thrown for process.exit, which does not return. */
class Exit extends Error {}

const program = new URL('../../src/cli/program.js', import.meta.url).href;
let runs = 0;
let previous: Promise<unknown> = Promise.resolve();

/**
 * Runs a command of the program in the process of the test, which takes a tenth of the time of a new process. Only one command runs at a
 * time, because it replaces the arguments, the environment, the folder and the streams of the process. A command that handles signals or
 * starts processes needs a new process: use runBallast.
 */
export function runInProcess(
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
  { cwd = process.cwd(), stdin = '' }: { cwd?: string; stdin?: string | Buffer } = {},
): Promise<Run> {
  const run = previous.then(() => runExclusively(args, env, cwd, stdin));
  previous = run.catch(() => {});
  return run;
}

async function runExclusively(args: readonly string[], env: NodeJS.ProcessEnv, cwd: string, stdin: string | Buffer): Promise<Run> {
  const output = { stdout: '', stderr: '' };
  let code: number | null = null;
  const stream = (name: keyof typeof output) =>
    new Writable({
      decodeStrings: false,
      write(chunk: string | Buffer, _, done) {
        // Output after process.exit has no effect.
        if (code === null) output[name] += chunk.toString();
        done();
      },
    });
  const exit = (exitCode: number) => {
    code ??= exitCode;
    throw new Exit();
  };
  const environment = Object.fromEntries(Object.entries(plainEnvironment(env)).filter(([, value]) => value !== undefined));
  const replaced = {
    argv: [process.execPath, 'ballast', ...args],
    env: environment,
    exit,
    stdout: stream('stdout'),
    stderr: stream('stderr'),
    stdin: Readable.from([typeof stdin === 'string' ? Buffer.from(stdin) : stdin]),
  };
  const originals = Object.fromEntries(Object.keys(replaced).map(name => [name, Object.getOwnPropertyDescriptor(process, name)!]));
  const folder = process.cwd();
  for (const [name, value] of Object.entries(replaced)) Object.defineProperty(process, name, { value, configurable: true, writable: true });
  process.chdir(cwd);
  process.exitCode = undefined;
  try {
    // The program runs when it is loaded, and Node loads each URL once.
    await import(/* @vite-ignore */ `${program}?run=${++runs}`);
    code ??= (process.exitCode as number | undefined) ?? 0;
  } catch (error) {
    if (!(error instanceof Exit)) throw error;
  } finally {
    process.exitCode = undefined;
    process.chdir(folder);
    Object.defineProperties(process, originals);
  }
  return { code, ...output };
}
