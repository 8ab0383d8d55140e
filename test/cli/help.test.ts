import { describe, expect, it } from 'vitest';
import { runInProcess } from '../harness/run-in-process.js';

describe('help', () => {
  it.each([
    [[], ['serve ', 'project ', 'token ', 'backup ', 'check ', 'split ', 'queue ', 'record ', 'verify ']],
    [['project'], ['create [options] <name>', 'list [options]']],
    [['token'], ['create [options] <project>', 'list [options] <project>', 'revoke [options] <token-or-id>']],
  ])('of %j lists the commands on stdout, with exit code 0', async (args, usages) => {
    const { code, stdout, stderr } = await runInProcess([...args, '--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const usage of usages) expect(stdout).toContain(`\n  ${usage}`);
  });

  it('is one JSON object for programs, of all commands or of one', async () => {
    const { code, stdout } = await runInProcess(['help', '--json']);
    expect(code).toBe(0);
    const program = JSON.parse(stdout) as { commands: { name: string; commands: { name: string }[]; options: object[] }[] };
    const names = program.commands.map(({ name }) => name);
    expect(names).toEqual(expect.arrayContaining(['serve', 'queue', 'verify', 'import']));
    expect(program.commands.find(({ name }) => name === 'token')!.commands.map(({ name }) => name)).toEqual(['create', 'list', 'revoke']);
    const verify = await runInProcess(['help', 'verify', '--json']);
    expect(JSON.parse(verify.stdout)).toMatchObject({
      name: 'verify',
      arguments: [],
      options: expect.arrayContaining([
        { flags: '--url <address>', description: 'address of the server', variable: 'BALLAST_URL' },
        expect.objectContaining({ flags: '--format <name>', choices: ['text', 'github', 'junit'], default: 'text' }),
      ]),
    });
  });

  it('of a command is what --help prints of it', async () => {
    for (const args of [['queue'], ['token', 'create']])
      expect((await runInProcess(['help', ...args])).stdout).toBe((await runInProcess([...args, '--help'])).stdout);
    expect(await runInProcess(['help', 'token', 'make'])).toMatchObject({
      code: 2,
      stderr: 'ballast: token has no command make; "ballast help" lists them\n',
    });
  });

  it.each([
    ['an unknown command', ['launch'], "error: unknown command 'launch'"],
    ['an unknown flag', ['serve', '--prot', '1'], "error: unknown option '--prot'"],
    ['no command', [], 'Usage: ballast'],
  ])('is suggested after %s, with exit code 2', async (_, args, message) => {
    const { code, stdout, stderr } = await runInProcess(args);
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toContain(message);
    expect(stderr).toContain('--help');
  });
});
