import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { text } from 'node:stream/consumers';
import { expect, it } from 'vitest';
import { plainEnvironment } from '../harness/process.js';
import { SharedServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const server = new SharedServer();

it('the commands of the README that follow the start of a server run in their order, from an empty folder', async () => {
  const readme = readFileSync(new URL('../../../README.md', import.meta.url), 'utf8').split('\n## The first split')[1]!;
  const { url, token } = await server.project();
  const script = [...readme.matchAll(/^```sh\n(.*?)^```/gms)]
    .map(([, block]) => block!)
    .join('')
    .replaceAll('http://127.0.0.1:8080', url)
    .replaceAll('3f0c…', token);
  const shell = spawn('sh', ['-e'], { cwd: temporaryFolder(), env: plainEnvironment(), stdio: ['pipe', 'pipe', 'pipe'] });
  shell.stdin.end(script);
  const [stdout, stderr, [code]] = await Promise.all([text(shell.stdout), text(shell.stderr), once(shell, 'close')]);
  expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('2 test files') });
  expect(stdout).toMatch(/ 201 Created.*"time_execution":41\.5.*complete: 2 of 2 test files/s);
});
