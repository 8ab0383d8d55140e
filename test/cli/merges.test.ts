import { expect, it } from 'vitest';
import { SharedServer } from '../harness/server.js';
import { at, type Repository } from '../node/ci/repository.js';
import { TestProject } from './test-project.js';

const shared = new SharedServer();
const GLOB = 'test/*.sh';

type Answer = 'tested' | 'spared';
type Step = [what: string, change: (repository: Repository) => void, expected: Answer | 'red'];

const change =
  (path: string, text = path) =>
  ({ write, commit }: Repository) => {
    write(path, text);
    commit();
  };
const git =
  (...args: string[]) =>
  (repository: Repository) =>
    void repository.git(...args);
const start = (branch: string, from = 'main') => git('checkout', '-q', '-b', branch, from);
const onMain = (...args: string[]) => inOrder(git('checkout', '-q', 'main'), git(...args));
const emptyCommit = git('commit', '-q', '--allow-empty', '-m', 'nothing');
const inOrder =
  (...changes: ((repository: Repository) => void)[]) =>
  (repository: Repository) => {
    for (const each of changes) each(repository);
  };

/** What is checked out, one after the other, and what CI does with it. */
const HISTORY: Step[] = [
  ['the first commit', change('src/a'), 'tested'],
  ['a branch', inOrder(start('login'), change('src/login')), 'tested'],
  ['its merge, with a commit', onMain('merge', '-q', '--no-ff', '-m', 'merge', 'login'), 'spared'],
  ['a branch with another test file', inOrder(start('cart'), change('test/cart.sh')), 'tested'],
  ['its merge, as a fast-forward', onMain('merge', '-q', '--ff-only', 'cart'), 'spared'],
  ['a branch of two commits', inOrder(start('mail'), change('src/mail'), change('src/mail', 'again')), 'tested'],
  ['its merge, squashed', inOrder(onMain('merge', '-q', '--squash', 'mail'), git('commit', '-q', '-m', 'mail')), 'spared'],
  ['a commit that changes nothing', emptyCommit, 'spared'],
  ['a branch of the commit before', inOrder(start('search', 'main~1'), change('src/search')), 'tested'],
  ['the same on a base of the same tree', git('rebase', '-q', 'main'), 'spared'],
  ['its merge', onMain('merge', '-q', '--ff-only', 'search'), 'spared'],
  ['a change of main', change('src/a', 'changed'), 'tested'],
  ['its revert', git('revert', '--no-edit', 'HEAD'), 'spared'],
  ['the revert of that', git('revert', '--no-edit', 'HEAD'), 'spared'],
  ['one pull request', inOrder(start('one'), change('src/one')), 'tested'],
  ['another one', inOrder(start('two'), change('src/two')), 'tested'],
  ['the first in a merge queue', inOrder(start('queue'), git('merge', '-q', '--no-ff', '-m', 'one', 'one')), 'spared'],
  ['the second behind it', git('merge', '-q', '--no-ff', '-m', 'two', 'two'), 'tested'],
  ['main with both', onMain('merge', '-q', '--ff-only', 'queue'), 'spared'],
  ['a branch', inOrder(start('late'), change('src/late')), 'tested'],
  ['a change of main meanwhile', inOrder(git('checkout', '-q', 'main'), change('src/b')), 'tested'],
  ['the merge of the branch', git('merge', '-q', '--no-ff', '-m', 'late', 'late'), 'tested'],
  ['the branch on the main of before', inOrder(start('later', 'late'), git('rebase', '-q', 'main~1')), 'spared'],
  ['a branch that fails', inOrder(start('red'), change('src/red')), 'red'],
  ['the same once more', emptyCommit, 'tested'],
  ['its merge, squashed', inOrder(onMain('merge', '-q', '--squash', 'red'), git('commit', '-q', '-m', 'red')), 'spared'],
];

it('spares each CI run of a tree that was green before, however its commit came to be, and no other', async () => {
  const server = await shared.project();
  const suite = new TestProject(['test/a.sh', 'test/b.sh']);
  const repository = at(suite.folder);
  repository.git('init', '-q');
  const green = new Set<string>();
  const seen: string[] = [];
  for (const [i, [what, prepare, expected]] of HISTORY.entries()) {
    prepare(repository);
    const [tree, commit, branch] = ['HEAD^{tree}', 'HEAD', '--abbrev-ref HEAD'].map(name =>
      repository.git('rev-parse', ...name.split(' ')).trim(),
    );
    const variables = {
      BALLAST_BUILD_ID: String(i),
      BALLAST_COMMIT_HASH: commit,
      BALLAST_BRANCH: branch,
      BALLAST_NODE_TOTAL: '1',
      FAILING: expected === 'red' ? 'test/a.sh' : '',
    };
    const { code } = await suite.run(server, 0, ['proved', GLOB], variables);
    expect([what, code]).toEqual([what, green.has(tree!) ? 0 : 1]);
    const answer: Answer = code === 0 ? 'spared' : 'tested';
    seen.push(`${what}: ${answer}`);
    if (answer === 'spared') continue;
    const queue = await suite.run(server, 0, ['queue', GLOB, ...suite.runner], variables);
    expect([what, queue.code]).toEqual([what, expected === 'red' ? 1 : 0]);
    if (queue.code === 0) green.add(tree!);
  }
  expect(seen).toEqual(HISTORY.map(([what, , expected]) => `${what}: ${expected === 'red' ? 'tested' : expected}`));
  expect(seen.filter(text => text.endsWith('spared'))).toHaveLength(12);
});
