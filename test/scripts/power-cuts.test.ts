import { describe, expect, it } from 'vitest';
import { whyNotTraced } from '../../scripts/chaos/power-cuts/trace.js';
import { runScript } from './script.js';

describe('npm run power-cuts', () => {
  it('goes on from what power cuts leave on a disk, and tells that nothing was lost', async ({ skip }) => {
    const why = whyNotTraced();
    if (why !== null) skip(why);
    const { code, printed } = await runScript('power-cuts', '--images', '1', '--seconds', '1', '--seed', '5');
    expect(printed).toMatch(
      /^1 power cuts \(seed 5\) within \d+ builds, \d+ answers: the store sound after each, nothing lost of what was acknowledged, every build whole\n$/,
    );
    expect(code).toBe(0);
  });
});
