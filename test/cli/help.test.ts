import { describe, expect, it } from 'vitest';
import { runInProcess } from '../harness/run-in-process.js';

describe('help', () => {
  it('lists the commands on stdout, with exit code 0', async () => {
    const { code, stdout, stderr } = await runInProcess(['--help']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of ['serve', 'project', 'token', 'backup', 'check', 'split', 'queue', 'record', 'verify'])
      expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
  });

  it('lists the subcommands of project and token', async () => {
    const [project, token] = await Promise.all([runInProcess(['project', '--help']), runInProcess(['token', '--help'])]);
    expect([project.code, token.code]).toEqual([0, 0]);
    for (const usage of ['create [options] <name>', 'list [options]']) expect(project.stdout).toContain(usage);
    for (const usage of ['create [options] <project>', 'list [options] <project>', 'revoke [options] <token-or-id>']) {
      expect(token.stdout).toContain(usage);
    }
  });

  it('prints the version of the package', async () => {
    const { code, stdout } = await runInProcess(['--version']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
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
