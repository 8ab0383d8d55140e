import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { CommandRunner } from '../../../../src/node/client/command/command-runner.js';
import { temporaryFolder } from '../../../harness/temporary-folder.js';

/** Time for what is told to end. Shells that tests start take some of it. */
const GRACE_MILLISECONDS = 700;

/** Runs a script that writes to $READY before it hangs. Returns what it wrote to $SAID, too. */
async function runHanging(script: string, program = ['sh', '-c']) {
  const folder = temporaryFolder();
  const [READY, SAID] = [join(folder, 'ready'), join(folder, 'said')];
  const reached = () => vi.waitFor(() => expect(existsSync(READY)).toBe(true), 20_000);
  const runner = new CommandRunner(GRACE_MILLISECONDS);
  const result = await runner.run([...program, script], { ...process.env, READY, SAID }, 'inherit', { seconds: 0.1, reached });
  return { ...result, said: existsSync(SAID) ? readFileSync(SAID, 'utf8') : '' };
}

/** Tells whether a process runs. */
function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return false;
  }
}

const HUNG = { isHung: true, startError: null };

// Only Linux tells the processes of a command, and the signals that they catch.
describe.runIf(process.platform === 'linux')('a command that runs for longer than its limit', () => {
  it('is not ended if it ends in time', async () => {
    const limit = { seconds: 60, reached: () => expect.fail('it ran for a minute') };
    expect(await new CommandRunner().run(['sh', '-c', 'exit 3'], process.env, 'inherit', limit)).toMatchObject({
      exitCode: 3,
      isHung: false,
    });
  });

  it.each([
    ['sleeps', 'echo > "$READY"; exec sleep 600', 143],
    ['loops for ever', 'echo > "$READY"; while :; do :; done', 143],
    ['ignores SIGTERM', `trap '' TERM INT HUP QUIT; echo > "$READY"; while :; do sleep 0.1; done`, 137],
    ['ends in an orderly way at SIGTERM', `trap 'exit 9' TERM; echo > "$READY"; while :; do sleep 0.1; done`, 9],
  ])('is ended if it %s', async (_, script, exitCode) => {
    expect(await runHanging(script)).toMatchObject({ ...HUNG, exitCode });
  });

  it('is ended together with a child that ignores SIGTERM and holds its output', async () => {
    const child = `trap "" TERM; echo $$ > "$SAID"; while :; do sleep 0.1; done`;
    const { said, ...result } = await runHanging(`sh -c '${child}' & echo > "$READY"; wait`);
    expect(result).toMatchObject(HUNG);
    await vi.waitFor(() => expect(isAlive(Number(said))).toBe(false));
  });

  it('gets SIGQUIT first if it prints stacks at it, and else does not', async () => {
    const waits = 'echo > "$READY"; while :; do sleep 0.1; done';
    const prints = await runHanging(`trap 'echo stacks >> "$SAID"' QUIT; trap 'echo end >> "$SAID"; exit' TERM; ${waits}`);
    expect(prints).toMatchObject({ ...HUNG, said: 'stacks\nend\n' });
    expect(await runHanging(waits)).toMatchObject({ ...HUNG, exitCode: 143 });
  });

  it('gets SIGQUIT if it is Node with --report-signal=SIGQUIT, which then writes a report', async () => {
    const script = `
      const { basename, dirname } = require('node:path');
      Object.assign(process.report, { directory: dirname(process.env.SAID), filename: basename(process.env.SAID) });
      fs.writeFileSync(process.env.READY, '');
      setInterval(() => {}, 1000);`;
    const { said, ...result } = await runHanging(script, [process.execPath, '--report-on-signal', '--report-signal=SIGQUIT', '-e']);
    expect(result).toMatchObject(HUNG);
    expect(said).toContain('"javascriptStack"');
  });

  it('is ended together with processes that left its group', async () => {
    const sleeping = `setsid sh -c 'echo $$ >> "$SAID"; exec sleep 600'`;
    const ignoring = `setsid sh -c 'trap "" TERM; echo $$ >> "$SAID"; while :; do sleep 0.1; done'`;
    // The parent of the first has ended.
    const { said, ...result } = await runHanging(`(${sleeping} &); ${ignoring} & sleep 0.3; echo > "$READY"; wait`);
    expect(result).toMatchObject(HUNG);
    await vi.waitFor(() => expect(said.trim().split('\n').map(Number).map(isAlive)).toEqual([false, false]));
  });

  it('is not waited for while a process of it stays as a zombie of one that cannot be found', async () => {
    // It has a child in the group of the command, and does not reap it.
    const parent = `env -i setsid sh -c 'echo $$ > "$0"; echo > "$1"; exec sleep 600' "$SAID" "$READY"`;
    const { said, ...result } = await runHanging(`(sh -c 'sleep 600 & exec "$0" "$@"' ${parent} &); while :; do sleep 0.1; done`);
    onTestFinished(() => void process.kill(Number(said), 'SIGKILL'));
    expect(result).toMatchObject(HUNG);
    expect(isAlive(Number(said))).toBe(true);
  });
});
