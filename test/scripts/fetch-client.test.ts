import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { globSync } from 'tinyglobby';
import { describe, expect, it, onTestFinished } from 'vitest';
import { ciSystems } from '../../src/dashboard/pages/set-up/ci-systems.js';
import { runners } from '../../src/dashboard/pages/set-up/runners.js';
import { snippetOf } from '../../src/dashboard/pages/set-up/snippet.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const files = globSync(['README.md', 'src/docs/**/*.md', 'scripts/ci/**'], { cwd: root });
const snippets = ciSystems.flatMap(system =>
  runners.map(runner => snippetOf(system, runner, { url: 'http://ballast:8080', nodes: 2, token: null })),
);
const texts = [...files.map(path => readFileSync(join(root, path), 'utf8')), ...snippets];

describe('a job that fetches its client', () => {
  it('does so in the same way in README, guides, ready-made jobs and on the Set-up page', () => {
    const fetches = texts.flatMap(text => [...text.matchAll(/curl [^\n]*\/ballast[\w-]*\.(?:mjs|py)(?!\.sha256)/g)]);
    expect(fetches.length).toBeGreaterThan(20);
    for (const [command] of fetches) expect(command).toMatch(/^curl -fsSO? --retry 6 --retry-connrefused /);
  });

  it('takes only a program that prints its version, in all ready-made jobs', () => {
    const jobs = texts.flatMap(text => [...text.matchAll(/curl [^\n]*-o [^\n]* &&\n.* \|\|\n.*\n/g)].map(([lines]) => lines));
    expect(jobs).toHaveLength(texts.join('').match(/curl -fsS [^\n]*-o /g)!.length);
    const forms = jobs.map(lines => lines.replaceAll(/"?(?:\$RUNNER_TEMP\/)?(ballast(?:-new)?\.mjs)"?/g, '$1').replaceAll(/\n +/g, '\n'));
    expect(new Set(forms).size).toBe(1);
  });

  it('waits while the server restarts', async () => {
    const server = createServer((_, response) => response.end('client')).listen(0, '127.0.0.1');
    await once(server, 'listening');
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    server.close();
    await once(server, 'close');
    const folder = temporaryFolder();
    const url = `http://127.0.0.1:${port}/ballast.mjs`;
    const curl = spawn('curl', ['-v', '-fsSO', '--retry', '6', '--retry-connrefused', url], { cwd: folder });
    let stderr = '';
    curl.stderr.on('data', (bytes: Buffer) => {
      stderr += bytes.toString();
      if (stderr.includes('refused') && !server.listening) server.listen(port, '127.0.0.1');
    });
    const [code] = (await once(curl, 'close')) as [number];
    expect(code, stderr).toBe(0);
    expect(readFileSync(join(folder, 'ballast.mjs'), 'utf8')).toBe('client');
  });
});
