import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it, vi } from 'vitest';
import { initialise, manyPaths, pathsIn, pull, pullAll, record, sortPaths } from '../harness/messages.js';
import { plainEnvironment, spawnServer } from '../harness/process.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { MAIN } from '../testbed/server.js';

const guide = readFileSync(fileURLToPath(new URL('../../../src/docs/operate/backups.md', import.meta.url)), 'utf8');

/** The block of commands of the guide that has a text. */
const recipe = (text: string) =>
  [...guide.matchAll(/^```sh\n(.*?)^```/gms)].map(([, block]) => block!).find(block => block.includes(text))!;

/** Stands for npm in a clone. */
const NPM = `#!/bin/sh
[ "$1 $2 $3 $4" = 'run -s ballast --' ] || exit 9
shift 4
exec "${process.execPath}" "${MAIN}" "$@"
`;

it('the recipes of the guide make a snapshot, and restore it when the folder is lost: builds, tokens and open queues are there', async () => {
  const clone = temporaryFolder();
  const dataDir = join(clone, 'data');
  const bin = join(clone, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'npm'), NPM);
  chmodSync(join(bin, 'npm'), 0o755);
  const inClone = (commands: string) => commands.replaceAll('/mnt/backup', join(clone, 'other-disk'));
  const run = (commands: string) =>
    execFileSync('sh', ['-ec', inClone(commands)], {
      cwd: clone,
      env: plainEnvironment({ PATH: `${bin}:${process.env.PATH}` }),
      encoding: 'utf8',
    });

  const before = await spawnServer({ dataDir });
  const paths = manyPaths(300);
  const queue = { node_total: 2, node_build_id: '7' };
  await initialise(before, paths, { ...queue, skip_pull: true });
  const handed = pathsIn(await pull(before, queue));
  await record(before, { commit_hash: 'recorded' });
  await before.stop('SIGKILL');

  const [makeFolder, serve] = recipe('--snapshot-every').split('npm start -- ') as [string, string];
  mkdirSync(join(clone, 'other-disk'));
  run(makeFolder);
  const server = await spawnServer({ dataDir, flags: serve.trim().split(' ').map(inClone) });
  await vi.waitFor(() => expect(server.stderr()).toContain('made a snapshot'), 20_000);
  await server.stop('SIGKILL');
  rmSync(dataDir, { recursive: true });

  expect(run(recipe('cp '))).toMatch(/^sound; checked /);
  expect(readdirSync(dataDir)).toContain('ballast.lmdb');
  const after = await spawnServer({ dataDir, token: null });
  // The token is that of the lost folder.
  Object.assign(after, { token: before.token });
  expect((await after.get('/v1/builds')).json.data).toMatchObject([{ commit_hash: 'recorded' }]);
  const rest = await pullAll(after, { ...queue, node_index: 1 });
  expect(sortPaths([...handed, ...rest])).toEqual(paths);
});
