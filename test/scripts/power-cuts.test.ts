import { describe, expect, it } from 'vitest';
import { reasonNotTraceable } from '../../scripts/chaos/power-cuts/trace.js';
import { runScript } from './script.js';

describe('npm run power-cuts', () => {
  it('resumes from the images that power cuts leave, and reports that nothing was lost', async ({ skip }) => {
    const reason = reasonNotTraceable();
    if (reason !== null) skip(reason);
    const { code, output } = await runScript('power-cuts', '--images', '1', '--seconds', '0.4', '--seed', '5');
    expect(output).toMatch(
      /^1 power cuts \(seed 5\) during \d+ builds, \d+ answers: store sound after each, no acknowledged data lost, every build succeeded\n$/,
    );
    expect(code).toBe(0);
  });
});
