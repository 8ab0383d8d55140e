import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { plainEnvironment } from '../harness/process.js';
import { startServer, temporaryFolder } from '../harness/server.js';
import { BUILD } from './suite.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** What a CI node needs of the packages, with what those need. */
const NEEDED = ['commander', 'fdir', 'picomatch', 'sax', 'semver', 'tinyglobby'];

describe('the package', () => {
  it('has the program, which splits in any folder without the packages of the server', { timeout: 60_000 }, async () => {
    const [server, folder] = [await startServer(), temporaryFolder()];
    const options = { cwd: root, encoding: 'utf8', env: plainEnvironment({ npm_config_cache: temporaryFolder() }) } as const;
    const [{ filename, files }] = JSON.parse(execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], { ...options, stdio: ['ignore', 'pipe', 'ignore'] })) as [
      { filename: string; files: { path: string }[] },
    ];
    const paths = files.map(({ path }) => path);
    expect(paths).toContain('dist/src/main.js');
    expect(paths.filter(path => !/^(dist\/src\/.*\.js|package\.json|README\.md|LICENSE)$/.test(path))).toEqual([]);
    execFileSync('tar', ['-xzf', join(folder, filename), '-C', folder]);
    for (const name of NEEDED) {
      const target = join(folder, 'package', 'node_modules', name);
      mkdirSync(dirname(target), { recursive: true });
      symlinkSync(join(root, 'node_modules', name), target);
    }
    const flags = ['--url', server.url, '--token', server.token, '--commit-hash', BUILD.commit_hash, '--branch', BUILD.branch, '--node-total', '1', '--node-index', '0', '--build-id', '1'];
    const child = spawn(process.execPath, [join(folder, 'package', 'dist/src/main.js'), 'split', '-', ...flags], { cwd: folder, env: plainEnvironment(), stdio: ['pipe', 'pipe', 'inherit'] });
    child.stdin.end('a.js\nb.js\n');
    const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect({ code, printed: printed.split('\n').sort() }).toEqual({ code: 0, printed: ['', 'a.js', 'b.js'] });
  });
});
