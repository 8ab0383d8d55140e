import { createHash } from 'node:crypto';
import { symlinkSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import { UsageError } from '../../../src/base/usage-error.js';
import { toldByNode } from '../../../src/node/ci/told-by-node.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { environment, repository } from './repository.js';

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');

it('tells the tree of the folder, why files may differ from it, and the addresses of the CI system', async () => {
  const { folder, git, write } = repository();
  const tree = git('rev-parse', 'HEAD^{tree}').trim();
  expect(await toldByNode(environment, [], [], folder)).toEqual({ tree, proof_keys: [] });
  write('src/a.js', 'changed');
  const ofJob = { ...environment, GITLAB_CI: 'true', CI_JOB_URL: 'https://gitlab.example.com/jobs/5' };
  expect(await toldByNode(ofJob, [], ['node 22'], join(folder, 'src'))).toEqual({
    job_url: 'https://gitlab.example.com/jobs/5',
    tree,
    tree_doubt: 'src/a.js is changed',
    proof_keys: [sha256('node 22'), sha256('folder=src/')].sort(),
  });
});

it('tells why the tree is not known, and no folder then', async () => {
  expect(await toldByNode(environment, [], ['a'], temporaryFolder())).toEqual({
    tree_doubt: expect.stringContaining('not a git repository') as string,
    proof_keys: [sha256('a')],
  });
  expect(await toldByNode({ ...environment, PATH: '/nowhere' }, [], [])).toEqual({
    tree_doubt: 'spawn git ENOENT',
    proof_keys: [],
  });
});

it('doubts a list with a test file that is not in the repository, or links to one', async () => {
  const { folder, write, commit } = repository();
  const other = temporaryFolder();
  writeFileSync(join(other, 'b.js'), '');
  symlinkSync(other, join(folder, 'src/linked'));
  symlinkSync('a.js', join(folder, 'src/same.js'));
  write('src/c.js', '');
  commit();
  const doubtOf = async (files: string[], cwd = folder) => (await toldByNode(environment, files, [], cwd)).tree_doubt;
  const [src, outside] = [join(folder, 'src'), relative(folder, join(other, 'b.js'))];
  expect(await doubtOf(['src/c.js', 'src/same.js', 'src/gone.js', join(src, 'a.js')])).toBeUndefined();
  expect(await doubtOf(['c.js', '../src/a.js'], src)).toBeUndefined();
  for (const path of [outside, join(other, 'b.js'), 'src/linked/b.js'])
    expect(await doubtOf(['src/c.js', path])).toBe(`${path} is outside of the repository`);
  expect(await doubtOf(['linked/b.js'], src)).toBe('linked/b.js is outside of the repository');
});

it('shortens a long reason', async () => {
  const { folder, write, commit } = repository();
  const path = `${`${'𝒳'.repeat(50)}/`.repeat(12)}a.js`;
  write(path, 'a');
  commit();
  write(path, 'b');
  const { tree_doubt } = await toldByNode(environment, [], [], folder);
  expect(tree_doubt).toMatch(/^𝒳+\/.*….*\/a\.js is changed$/u);
  expect([...tree_doubt!]).toHaveLength(500);
});

it('takes its keys from the lines of a variable, unless some are given', async () => {
  const keysOf = async (variables: NodeJS.ProcessEnv, texts?: readonly string[]) =>
    (await toldByNode({ ...environment, ...variables }, [], texts, temporaryFolder())).proof_keys;
  const variables = { BALLAST_PROOF_KEYS: 'node 22\r\n\n  ubuntu-24.04 \n' };
  expect(await keysOf(variables)).toEqual(['node 22', 'ubuntu-24.04'].map(sha256).sort());
  expect(await keysOf(variables, ['a'])).toEqual([sha256('a')]);
  for (const none of [{}, { BALLAST_PROOF_KEYS: '' }, { BALLAST_PROOF_KEYS: ' \n' }]) expect(await keysOf(none)).toEqual([]);
  await expect(keysOf(variables, [''])).rejects.toThrow(UsageError);
  await expect(keysOf({ BALLAST_PROOF_KEYS: 'x'.repeat(1001) })).rejects.toThrow(UsageError);
});
