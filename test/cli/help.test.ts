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
