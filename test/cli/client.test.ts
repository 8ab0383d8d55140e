import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { plainEnvironment } from '../harness/process.js';
import { startServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { BUILD } from './test-project.js';

/** More takes longer to fetch than a CI node should wait. */
const MAX_BYTES = 440_000;

/** A runner loads its file on every start. */
const MAX_BYTES_OF_RUNNER = 57_000;

describe('the client that a server hands out', () => {
  it('is one small file that needs nothing but Node', async () => {
    const [server, folder] = [await startServer(), temporaryFolder()];
    const answer = await fetch(`${server.url}/ballast.mjs`);
    expect({ status: answer.status, type: answer.headers.get('Content-Type') }).toEqual({
      status: 200,
      type: 'text/javascript; charset=utf-8',
    });
    const program = Buffer.from(await answer.arrayBuffer());
    expect(program.length).toBeLessThan(MAX_BYTES);
    const checksum = await (await fetch(`${server.url}/ballast.mjs.sha256`)).text();
    expect(checksum).toBe(`${createHash('sha256').update(program).digest('hex')}  ballast.mjs\n`);
    // Its address may end in /v1, as the one that the client gets.
    for (const base of ['/v1', '/v1/'])
      expect(Buffer.from(await (await fetch(`${server.url}${base}/ballast.mjs`)).arrayBuffer()).equals(program)).toBe(true);
    expect((await fetch(`${server.url}/v1/ballast-none.mjs`)).status).toBe(404);
    writeFileSync(join(folder, 'ballast.mjs'), program);
    writeFileSync(join(folder, 'times.json'), '{"build_subsets":[]}');
    const options = { cwd: folder, env: plainEnvironment() };
    const imported = spawnSync(process.execPath, ['ballast.mjs', 'import', '--dry-run', 'times.json'], { ...options, encoding: 'utf8' });
    expect(imported.stderr).toContain('the build.commit_hash is missing');
    const served = spawnSync(process.execPath, ['ballast.mjs', 'serve'], { ...options, encoding: 'utf8' });
    expect({ code: served.status, stderr: served.stderr }).toEqual({ code: 2, stderr: expect.stringContaining('not those of the server') });
    const { commit_hash, branch } = BUILD;
    const identity = ['--commit-hash', commit_hash, '--branch', branch, '--node-total', '1', '--build-id', '1'];
    const flags = ['--url', server.url, '--token', server.token, ...identity];
    const child = spawn(process.execPath, ['ballast.mjs', 'split', '-', ...flags], { ...options, stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end('a.js\nb.js\n');
    const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect({ code, printed: printed.split('\n').sort() }).toEqual({ code: 0, printed: ['', 'a.js', 'b.js'] });
  });

  it.each(['jest', 'node-test', 'playwright', 'vitest'])('is for %s a smaller file that needs nothing but Node', async runner => {
    const [server, folder] = [await startServer(), temporaryFolder()];
    const name = `ballast-${runner}.mjs`;
    const program = Buffer.from(await (await fetch(`${server.url}/${name}`)).arrayBuffer());
    expect(program.length).toBeLessThan(MAX_BYTES_OF_RUNNER);
    const checksum = await (await fetch(`${server.url}/${name}.sha256`)).text();
    expect(checksum).toBe(`${createHash('sha256').update(program).digest('hex')}  ${name}\n`);
    writeFileSync(join(folder, name), program);
    const load = `import('./${name}').then(({ default: main }) => console.log(typeof main))`;
    expect(spawnSync(process.execPath, ['-e', load], { cwd: folder, encoding: 'utf8' })).toMatchObject({
      stdout: 'function\n',
      stderr: '',
    });
  });

  it('is nothing else', async () => {
    const server = await startServer();
    for (const path of ['/ballast-mocha.mjs', '/ballast-jest.mjs.br'])
      expect({ path, status: (await fetch(server.url + path)).status }).toEqual({ path, status: 404 });
  });
});
