import { describe, expect, it } from 'vitest';
import { runScript } from './script.js';

describe('npm run kills', () => {
  it('kills a server while nodes use it, and reports that nothing was lost', async () => {
    const { code, output } = await runScript('kills', '--times', '1', '--builds', '1', '--seed', '5');
    expect(output).toMatch(
      /^1 kills \(seed 5\), \d+ answers: every file of \d+ builds was handed out and recorded; store sound after each kill; slowest start \d+ ms\n$/,
    );
    expect(code).toBe(0);
  });
});
