import { chmodSync, mkdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { readTree, type TreeState } from '../../../src/node/ci/work-tree.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { at, environment, type Repository, repository } from './repository.js';
import { startPython } from './tree-in-python.js';

const readInPython = startPython();
let alike = 0;

/** A repository whose folder lib is a submodule. */
function withSubmodule(): { outer: Repository; lib: Repository } {
  const outer = repository();
  outer.git('submodule', '--quiet', 'add', repository().folder, 'lib');
  outer.commit();
  return { outer, lib: at(join(outer.folder, 'lib')) };
}

/** Reads a tree with the client, and expects the same of the plugin of pytest. */
async function read(of: Repository, path = '', variables: NodeJS.ProcessEnv = {}, seconds?: number): Promise<TreeState> {
  const asked = [join(of.folder, path), { ...environment, ...variables }, seconds] as const;
  const state = await readTree(...asked);
  const { folder } = { folder: '', ...state };
  // Python has other words for a program or a folder that does not exist.
  const why = state.why?.includes('ENOENT') ? expect.stringContaining('No such file') : state.why;
  if (readInPython) {
    expect(await readInPython(...asked)).toEqual([state.tree, folder, why]);
    alike += 1;
  }
  return state;
}
const treeOf = ({ git }: Repository) => git('--no-replace-objects', 'rev-parse', 'HEAD^{tree}').trim();
const clean = (of: Repository, folder = '') => ({ tree: treeOf(of), folder, why: null });
const changed = (of: Repository, why: unknown, folder = '') => ({ tree: treeOf(of), folder, why });

const POINTER = `version https://git-lfs.github.com/spec/v1\noid sha256:${'0'.repeat(64)}\nsize 9\n`;

describe('a clean checkout', () => {
  it('has the tree of its commit', async () => {
    const made = repository();
    expect(await read(made)).toEqual({ tree: expect.stringMatching(/^[0-9a-f]{40}$/), folder: '', why: null });
    expect(await read(made)).toEqual(clean(made));
    // Another commit may have the same tree.
    made.git('commit', '-q', '--allow-empty', '-m', 'again');
    expect(await read(made)).toEqual(clean(made));
  });

  it('may be a repository with SHA-256', async () => {
    const made = repository('--object-format=sha256');
    expect(await read(made)).toEqual({ tree: expect.stringMatching(/^[0-9a-f]{64}$/), folder: '', why: null });
  });

  it('says the folder in the repository', async () => {
    const made = repository();
    made.write('packages/a b/x.js', '');
    made.commit();
    expect(await read(made, 'packages/a b')).toEqual(clean(made, 'packages/a b/'));
    symlinkSync('packages/a b', join(made.folder, 'ignored-link'));
    expect(await read(made, 'ignored-link')).toEqual(clean(made, 'packages/a b/'));
  });

  it('may be detached, shallow, a linked work tree, or have ignored files', async () => {
    const made = repository();
    made.write('ignored/x', 'x');
    expect(await read(made)).toEqual(clean(made));
    const parent = temporaryFolder();
    made.git('worktree', 'add', '-q', '--detach', join(parent, 'linked'));
    expect(await read(at(join(parent, 'linked')))).toEqual(clean(made));
    made.git('commit', '-q', '--allow-empty', '-m', 'two');
    made.git('clone', '-q', '--depth=1', `file://${made.folder}`, join(parent, 'shallow'));
    expect(await read(at(join(parent, 'shallow')))).toEqual(clean(made));
  });

  it('stays as it is', async () => {
    const made = repository();
    // Git would write the new times into the index.
    utimesSync(join(made.folder, 'src/a.js'), 1, 1);
    const files = () => made.git('ls-files', '--debug') + statSync(join(made.folder, '.git/index')).mtimeMs;
    const before = files();
    expect(await read(made)).toEqual(clean(made));
    expect(files()).toBe(before);
  });

  it('may have paths that are hard to write', async () => {
    const made = repository();
    for (const name of [' a b ', 'line\nbreak', 'tab\tand "quotes"', 'größe']) made.write(name, name);
    writeFileSync(Buffer.concat([Buffer.from(`${made.folder}/`), Buffer.from([0x66, 0xff])]), '');
    made.commit();
    expect(await read(made)).toEqual(clean(made));
    made.write('line\nbreak', 'changed');
    expect(await read(made)).toEqual(changed(made, 'line\nbreak is changed'));
  });

  it('is the same with the clients of Ballast, which a job fetches', async () => {
    const made = repository();
    for (const name of ['ballast.mjs', 'ballast-vitest.mjs', 'src/ballast_pytest.py']) made.write(name, '');
    expect(await read(made)).toEqual(clean(made));
  });

  it('may be named by variables', async () => {
    const made = repository();
    const { folder } = made;
    expect(await read(made, 'src', { GIT_DIR: join(folder, '.git'), GIT_WORK_TREE: folder })).toEqual(clean(made, 'src/'));
    expect(await read(made, '', { GIT_DIR: '.git' })).toEqual(clean(made));
    // Then the folder is the work tree.
    expect(await read(made, 'src', { GIT_DIR: '../.git' })).toEqual(changed(made, '.gitignore is deleted'));
    expect(await read(repository(), '', { GIT_DIR: join(folder, '.git'), GIT_WORK_TREE: folder })).toEqual({
      tree: null,
      why: 'the folder is in no work tree',
    });
  });

  it('is read whatever other variables say', async () => {
    const made = repository();
    made.git('update-index', '--assume-unchanged', 'src/a.js');
    expect(await read(made, 'src', { GIT_LITERAL_PATHSPECS: '1' })).toEqual(changed(made, 'src/a.js is marked assume-unchanged', 'src/'));
    made.git('update-index', '--no-assume-unchanged', 'src/a.js');
    expect(await read(made, '', { GIT_TRACE: '1', GIT_TRACE_SETUP: '1', GIT_TRACE_PERFORMANCE: '1', LC_ALL: 'de_DE.UTF-8' })).toEqual(
      clean(made),
    );
  });
});

type Change = [name: string, change: (made: Repository) => void, why: string];

const changes: Change[] = [
  ['a file with another text', ({ write }) => write('src/a.js', 'other\n'), 'src/a.js is changed'],
  ['a file with another text of the same length', ({ write }) => write('src/a.js', 'b\n'), 'src/a.js is changed'],
  [
    'a staged change',
    ({ write, git }) => {
      write('src/a.js', 'other\n');
      git('add', '-A');
    },
    'src/a.js is changed',
  ],
  [
    'a staged change that was reverted in the file',
    ({ write, git }) => {
      write('src/a.js', 'other\n');
      git('add', '-A');
      write('src/a.js', 'a\n');
    },
    'src/a.js is changed',
  ],
  ['a deleted file', ({ folder }) => rmSync(join(folder, 'src/a.js')), 'src/a.js is deleted'],
  ['a file that only the index lost', ({ git }) => git('rm', '-q', '--cached', 'src/a.js'), 'src/a.js is deleted'],
  ['a renamed file', ({ git }) => git('mv', 'src/a.js', 'src/c.js'), 'src/a.js is deleted'],
  ['a program that was none', ({ folder }) => chmodSync(join(folder, 'src/a.js'), 0o755), 'src/a.js is changed'],
  [
    'another mode, which the repository ignores',
    ({ folder, git }) => {
      git('config', 'core.fileMode', 'false');
      chmodSync(join(folder, 'src/a.js'), 0o755);
    },
    'src/a.js is changed',
  ],
  [
    'a file in place of a link, which the repository ignores',
    ({ folder, git, write, commit }) => {
      symlinkSync('a.js', join(folder, 'src/link'));
      commit();
      git('config', 'core.symlinks', 'false');
      rmSync(join(folder, 'src/link'));
      write('src/link', 'a.js');
    },
    'src/link is changed',
  ],
  ['a new file', ({ write }) => write('new file.txt', ''), 'new file.txt is not committed'],
  [
    'a new file beside clients of Ballast',
    ({ write }) => {
      for (const path of ['ballast.mjs', 'src/ballast-jest.mjs', 'x']) write(path, '');
    },
    'x is not committed',
  ],
  ['a file with a name like one of Ballast', ({ write }) => write('my-ballast.mjs', ''), 'my-ballast.mjs is not committed'],
  ['a new folder', ({ write }) => write('new/x/y.txt', ''), 'new/ is not committed'],
  [
    'a staged new file',
    ({ write, git }) => {
      write('new.txt', 'new');
      git('add', 'new.txt');
    },
    'new.txt is not committed',
  ],
  [
    'a new file that is to be added',
    ({ write, git }) => {
      write('new.txt', 'new');
      git('add', '--intent-to-add', 'new.txt');
    },
    'new.txt is not committed',
  ],
  [
    'a new file, whose name differs from another one in its case',
    ({ write, git }) => {
      git('config', 'core.ignoreCase', 'true');
      write('src/A.js', 'a\n');
    },
    'src/A.js is not committed',
  ],
  [
    'a new file where the status shows none',
    ({ write, git }) => {
      git('config', 'status.showUntrackedFiles', 'no');
      write('new.txt', 'new');
    },
    'new.txt is not committed',
  ],
  [
    'a changed file that the index has as unchanged',
    ({ write, git }) => {
      git('update-index', '--assume-unchanged', 'src/b.js');
      write('src/b.js', 'other\n');
    },
    'src/b.js is marked assume-unchanged',
  ],
  [
    'a marked file that is unchanged',
    ({ git }) => git('update-index', '--assume-unchanged', 'src/b.js'),
    'src/b.js is marked assume-unchanged',
  ],
  [
    'marked files in a repository that marks all',
    ({ folder, git }) => {
      git('config', 'core.ignoreStat', 'true');
      rmSync(join(folder, 'src/b.js'));
      git('checkout', '-q', '--', 'src/b.js');
    },
    'src/b.js is marked assume-unchanged',
  ],
  [
    'a file that the index skips',
    ({ folder, git }) => {
      git('update-index', '--skip-worktree', 'src/b.js');
      rmSync(join(folder, 'src/b.js'));
    },
    'src/b.js is marked skip-worktree: the checkout is sparse',
  ],
  [
    'a file that the index skips, and has as unchanged',
    ({ git }) => {
      git('update-index', '--skip-worktree', 'src/b.js');
      git('update-index', '--assume-unchanged', 'src/b.js');
    },
    'src/b.js is marked assume-unchanged',
  ],
  [
    'a sparse checkout',
    ({ git }) => git('sparse-checkout', 'set', '--cone', 'docs'),
    'src/a.js is marked skip-worktree: the checkout is sparse',
  ],
  [
    'a sparse checkout with a sparse index',
    ({ git }) => git('sparse-checkout', 'set', '--cone', '--sparse-index', 'docs'),
    'src/a.js is marked skip-worktree: the checkout is sparse',
  ],
  [
    'a change that a monitor of the file system does not tell',
    ({ folder, git, write }) => {
      writeFileSync(join(folder, '.git/silent'), '#!/bin/sh\nprintf "token\\0"\n', { mode: 0o755 });
      git('config', 'core.fsmonitor', '.git/silent');
      git('config', 'core.fsmonitorHookVersion', '2');
      git('config', 'core.untrackedCache', 'true');
      git('status');
      git('status');
      write('src/a.js', 'longer than before\n');
      if (git('status', '--porcelain') !== '') throw new Error('Git does not believe the monitor');
    },
    'src/a.js is changed',
  ],
  [
    'conflicts',
    ({ git, write, commit }) => {
      git('checkout', '-q', '-b', 'topic');
      write('src/a.js', 'theirs\n');
      commit();
      git('checkout', '-q', 'main');
      write('src/a.js', 'ours\n');
      commit();
      try {
        git('merge', 'topic');
      } catch {}
    },
    'src/a.js has a conflict',
  ],
  [
    'a repository within that is no submodule',
    ({ folder, git }) => {
      git('init', '-q', 'inner');
      const inner = at(join(folder, 'inner'));
      inner.write('x', '');
      inner.commit();
    },
    'inner/ is not committed',
  ],
  [
    'an object that stands for another one',
    ({ git }) => git('replace', 'HEAD', git('commit-tree', '-m', 'other', 'HEAD:src').trim()),
    'refs/replace has objects that stand for others',
  ],
  [
    'attributes of the repository alone',
    ({ folder }) => {
      mkdirSync(join(folder, '.git/info'), { recursive: true });
      writeFileSync(join(folder, '.git/info/attributes'), '*.bin -filter\n');
    },
    'info/attributes has attributes that are not committed',
  ],
  [
    'a pointer of Git LFS',
    ({ write, commit }) => {
      write('.gitattributes', 'deep/**/*.bin filter=lfs diff=lfs merge=lfs -text\n');
      write('deep/er/x.bin', POINTER);
      commit();
    },
    'deep/er/x.bin is a pointer of Git LFS',
  ],
  [
    'a file of another filter',
    ({ write, commit }) => {
      write('.gitattributes', '*.secret filter=git-crypt\ndocs/** -filter\n');
      write('docs/b.secret', 'no filter');
      write('keys/a.secret', 'encrypted?');
      commit();
    },
    'keys/a.secret has what a filter made of it',
  ],
];

describe('what counts as a change:', () => {
  it.each(changes)('%s', async (_, change, why) => {
    const made = repository();
    change(made);
    expect(await read(made)).toEqual(changed(made, why));
    // Also from a folder that has nothing to do with it.
    expect(await read(made, 'docs').then(state => state.tree && { ...state, folder: '' })).toEqual(changed(made, why));
  });
});

it.each([
  ['core.checkStat', 'minimal'],
  ['core.trustctime', 'false'],
])('a file with another text of the same length and time counts as a change, even with %s=%s', async (name, value) => {
  const made = repository();
  const setTime = () => utimesSync(join(made.folder, 'src/a.js'), 1, 1);
  setTime();
  made.git('update-index', '--refresh');
  made.git('config', name, value);
  // Git compares whole seconds.
  await sleep(1100);
  made.write('src/a.js', 'b\n');
  setTime();
  expect(await read(made)).toEqual(changed(made, 'src/a.js is changed'));
});

describe('a file of Git LFS', () => {
  it('is unchanged where it was downloaded', async () => {
    const made = repository();
    // Like git-lfs, it stores a pointer.
    made.git('config', 'filter.lfs.clean', `cat >/dev/null; printf '${POINTER.replaceAll('\n', '\\n')}'`);
    made.write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n');
    made.write('a.bin', 'downloaded');
    made.write('empty.bin', '');
    symlinkSync('nowhere', join(made.folder, 'link.bin'));
    made.commit();
    expect(made.git('show', 'HEAD:a.bin')).toBe(POINTER);
    expect(await read(made, 'src')).toEqual(clean(made, 'src/'));
    // A filter that is not installed.
    made.git('config', '--unset', 'filter.lfs.clean');
    utimesSync(join(made.folder, 'a.bin'), 1, 1);
    expect(await read(made)).toEqual(changed(made, 'a.bin is changed'));
  });
});

describe('a folder that Git ignores', () => {
  it('is not what the tree has', async () => {
    const made = repository();
    made.write('ignored/x.js', 'x');
    expect(await read(made, 'ignored')).toEqual(changed(made, 'no file in ignored/ is committed', 'ignored/'));
  });
});

describe('a submodule', () => {
  it('is unchanged if all in it is', async () => {
    const { outer, lib } = withSubmodule();
    expect(await read(outer)).toEqual(clean(outer));
    expect(await read(outer, 'src', { GIT_DIR: join(outer.folder, '.git'), GIT_WORK_TREE: outer.folder })).toEqual(clean(outer, 'src/'));
    expect(await read(lib)).toEqual(clean(lib));
  });

  const inside: Change[] = [
    ['another commit', lib => lib.git('commit', '-q', '--allow-empty', '-m', 'two'), 'lib is changed'],
    ['a changed file', ({ write }) => write('src/a.js', 'other\n'), 'in the submodule lib, src/a.js is changed'],
    ['a new file', ({ write }) => write('new.txt', ''), 'in the submodule lib, new.txt is not committed'],
    [
      'a marked file',
      ({ git, write }) => {
        git('update-index', '--assume-unchanged', 'src/a.js');
        write('src/a.js', 'other\n');
      },
      'in the submodule lib, src/a.js is marked assume-unchanged',
    ],
    [
      'a new file where its status shows none',
      ({ git, write }) => {
        git('config', 'status.showUntrackedFiles', 'no');
        write('new.txt', '');
      },
      'in the submodule lib, new.txt is not committed',
    ],
  ];

  it.each(inside)('is changed with %s, even if settings ignore it', async (_, change, why) => {
    const { outer, lib } = withSubmodule();
    for (const setting of ['submodule.lib.ignore', 'diff.ignoreSubmodules']) outer.git('config', setting, 'all');
    outer.git('config', 'submodule.recurse', 'true');
    outer.git('config', 'status.submoduleSummary', 'true');
    change(lib);
    expect(outer.git('status', '--porcelain')).toBe('');
    expect(await read(outer)).toEqual(changed(outer, why));
    expect(await read(outer, 'src')).toEqual(changed(outer, why, 'src/'));
  });

  it('is changed if one within it is', async () => {
    const { outer } = withSubmodule();
    const most = repository();
    most.git('submodule', '--quiet', 'add', outer.folder, 'deps/outer');
    most.git('submodule', '--quiet', 'update', '--init', '--recursive');
    most.commit();
    expect(await read(most)).toEqual(clean(most));
    most.write('deps/outer/lib/new.txt', '');
    expect(await read(most)).toEqual(changed(most, 'in the submodule deps/outer, in the submodule lib, new.txt is not committed'));
  });

  it('must be checked out', async () => {
    const { outer } = withSubmodule();
    outer.git('submodule', '--quiet', 'deinit', '-f', 'lib');
    expect(await read(outer)).toEqual(changed(outer, 'the submodule lib is not checked out'));
    outer.write('lib/src/a.js', 'a\n');
    expect(await read(outer)).toEqual(changed(outer, 'the submodule lib is not checked out'));
    expect(await read(outer, 'lib')).toEqual(changed(outer, 'no file in lib/ is committed', 'lib/'));
    rmSync(join(outer.folder, 'lib'), { recursive: true });
    expect(await read(outer)).toEqual(changed(outer, 'lib is deleted'));
  });
});

describe('there is no tree', () => {
  const none = (why: unknown) => ({ tree: null, why });

  it('without a checkout', async () => {
    const made = at(temporaryFolder());
    expect(await read(made)).toEqual(none(expect.stringMatching(/^not a git repository/)));
    made.git('init', '-q');
    expect(await read(made)).toEqual(none('there is no commit yet'));
    expect(await read(made, 'missing')).toEqual(none('spawn git ENOENT'));
  });

  it('without a work tree', async () => {
    const made = repository();
    const noWorkTree = none('the folder is in no work tree');
    expect(await read(made, '.git')).toEqual(noWorkTree);
    const bare = join(temporaryFolder(), 'bare');
    made.git('clone', '-q', '--bare', made.folder, bare);
    expect(await read(at(bare))).toEqual(noWorkTree);
    made.git('config', 'core.worktree', temporaryFolder());
    expect(await read(made)).toEqual(noWorkTree);
  });

  it('where the path of the folder cannot be told from others', async () => {
    const made = repository();
    made.write('line\nbreak/x', '');
    made.commit();
    expect(await read(made, 'line\nbreak')).toEqual(none('the path of the folder has a line break, or is not UTF-8'));
  });

  it('if Git is missing, refuses, warns, or hangs', async () => {
    const made = repository();
    expect(await read(made, '', { PATH: made.folder })).toEqual(none('spawn git ENOENT'));
    expect(await read(made, '', { GIT_TEST_ASSUME_DIFFERENT_OWNER: '1' })).toEqual(
      none(expect.stringMatching(/^detected dubious ownership/)),
    );
    const slow = temporaryFolder();
    writeFileSync(join(slow, 'git'), '#!/bin/sh\nexec sleep 30\n', { mode: 0o755 });
    const variables = { PATH: `${slow}${delimiter}${environment.PATH}` };
    expect(await read(made, '', variables, 0.1)).toEqual(none('git took longer than 0.1 s'));
    made.git('mv', '.gitignore', 'rules');
    symlinkSync('rules', join(made.folder, '.gitignore'));
    made.commit();
    expect(await read(made)).toEqual(none(expect.stringMatching(/^unable to access '.gitignore'/)));
  });
});

it.skipIf(!readInPython)('is read by the plugin of pytest, too', () => expect(alike).toBeGreaterThan(80));
