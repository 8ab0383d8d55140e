import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { plainEnvironment } from '../harness/process.js';
import { startServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { BUILD } from './test-project.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
/** The program without its pages, and the packages that a CI node needs, with their dependencies. */
const MADE_OF =
  /^(dist\/src\/(?!dashboard).*\.js|dist\/src\/licences\.txt|node_modules\/(@streamparser\/json|commander|fdir|picomatch|sax|semver|tinyglobby)\/.*|package\.json|README\.md|LICENSE)$/;

describe('the package', () => {
  it('has everything that a CI node needs, in any folder', { timeout: 60_000 }, async () => {
    const [server, folder] = [await startServer(), temporaryFolder()];
    const options = { cwd: root, encoding: 'utf8', env: plainEnvironment({ npm_config_cache: temporaryFolder() }) } as const;
    const [{ filename, files }] = JSON.parse(
      execFileSync('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', folder], {
        ...options,
        stdio: ['ignore', 'pipe', 'ignore'],
      }),
    ) as [{ filename: string; files: { path: string }[] }];
    const paths = files.map(({ path }) => path);
    expect(paths).toEqual(expect.arrayContaining(['dist/src/main.js', 'node_modules/sax/package.json']));
    expect(paths.filter(path => !MADE_OF.test(path))).toEqual([]);
    execFileSync('tar', ['-xzf', join(folder, filename), '-C', folder]);
    const { commit_hash, branch } = BUILD;
    const identity = ['--commit-hash', commit_hash, '--branch', branch, '--node-total', '1', '--build-id', '1'];
    const flags = ['--url', server.url, '--token', server.token, ...identity];
    const program = join(folder, 'package', 'dist/src/main.js');
    writeFileSync(join(folder, 'times.json'), '{"build_subsets":[]}');
    // Reading an export needs no package of the server.
    const imported = spawnSync(process.execPath, [program, 'import', '--dry-run', 'times.json'], { cwd: folder, encoding: 'utf8' });
    expect(imported.stderr).toContain('the build.commit_hash is missing');
    const child = spawn(process.execPath, [program, 'split', '-', ...flags], {
      cwd: folder,
      env: plainEnvironment(),
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end('a.js\nb.js\n');
    const [printed, [code]] = await Promise.all([text(child.stdout), once(child, 'exit')]);
    expect({ code, printed: printed.split('\n').sort() }).toEqual({ code: 0, printed: ['', 'a.js', 'b.js'] });
  });
});
