import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';

const program = `
  import { hardExit } from '${new URL('../../../src/cli/process/exit.js', import.meta.url).href}';
  process.on('exit', () => console.log('an orderly end'));
  hardExit();
  setInterval(() => {}, 1000);`;
const run = (command: string, ...args: string[]) =>
  spawnSync(command, [...args, process.execPath, '--input-type=module', '-e', program], { encoding: 'utf8', timeout: 10_000 });

describe('a hard exit', () => {
  it('also ends the first process of a container, which its own signals do not end', ({ skip }) => {
    const container = ['--user', '--map-root-user', '--pid', '--fork', '--kill-child'];
    if (spawnSync('unshare', [...container, 'true']).status !== 0) skip('this user may not make a container (unshare)');
    const { signal, stdout, error } = run('unshare', ...container);
    expect({ stdout, error }).toEqual({ stdout: '', error: undefined });
    expect(signal).toMatch(/^SIG(SEGV|ABRT|TRAP|ILL)$/);
  });
});
