import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const script = fileURLToPath(new URL('../../scripts/kills.js', import.meta.url));

describe('npm run kills', () => {
  it('kills a server while nodes work with it, and tells that nothing was lost', async () => {
    const child = spawn(process.execPath, [script, '--times', '3', '--builds', '3', '--seed', '5'], { stdio: ['ignore', 'pipe', 'pipe'] });
    let printed = '';
    for (const stream of [child.stdout, child.stderr]) stream.setEncoding('utf8').on('data', (text: string) => (printed += text));
    const [code] = (await once(child, 'close')) as [number | null];
    expect(printed).toMatch(/^3 kills \(seed 5\), \d+ answers: \d+ builds, each of their files handed out and recorded; store sound after each kill; slowest start \d+ ms\n$/);
    expect(code).toBe(0);
  });
});
