import { describe, expect, it } from 'vitest';
import { runScript } from './script.js';

describe('npm run fuzz', () => {
  it('sends malformed requests, and reports the answers', async () => {
    const { code, output } = await runScript('fuzz', '--requests', '300', '--seed', '5');
    expect(output).toMatch(/^3\d\d requests \(seed 5\): \d+ x 200, .*\d+ x 422.*; \d+ valid builds succeeded; store sound\n$/);
    expect(code).toBe(0);
  });
});
