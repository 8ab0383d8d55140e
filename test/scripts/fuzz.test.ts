import { describe, expect, it } from 'vitest';
import { runScript } from './script.js';

describe('npm run fuzz', () => {
  it('sends malformed requests, and reports the answers', async () => {
    const { code, output } = await runScript('fuzz', '--requests', '800', '--seed', '5');
    expect(output).toMatch(/^8\d\d requests \(seed 5\): \d+ x 200, .*\d+ x 422.*; \d+ valid builds succeeded; store sound\n$/);
    expect(code).toBe(0);
  });
});
