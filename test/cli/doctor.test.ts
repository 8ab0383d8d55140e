import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/node/doctor/finding.js';
import type { Client } from '../harness/client.js';
import { record, timedTestFiles } from '../harness/messages.js';
import { answerWith } from '../harness/proxy.js';
import { runInProcess } from '../harness/run-in-process.js';
import { SharedServer, startServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { createCertificate } from '../server/http/create-certificate.js';

const shared = new SharedServer();
const root = fileURLToPath(new URL('../../../', import.meta.url));

const JEST = ['npx', 'jest', '--reporters=default', '--reporters=jest-junit', '--runTestsByPath', '{}'];
const PROGRAMS = [
  'npx',
  'jest',
  'vitest',
  'playwright',
  'bundle',
  'python3',
  'pytest',
  'go',
  'mocha',
  'npm',
  'cypress',
  'bazel',
  'flutter',
  'mvn',
];

interface SetUp {
  server: Client;
  /** The folder of the tests. */
  folder: string;
  /** The variables of a node that is set up well. */
  environment: NodeJS.ProcessEnv;
}

/** A folder with test files and the programs of test runners, on the third node of a job of GitLab CI. */
async function setUp(files: readonly string[] = ['src/a.test.js', 'src/b.test.js', 'src/lib/c.test.js']): Promise<SetUp> {
  const [server, folder, bin] = [await shared.project(), temporaryFolder(), temporaryFolder()];
  writeFiles(folder, ...files, ...PROGRAMS.map(name => `node_modules/.bin/${name}`));
  for (const name of PROGRAMS) {
    writeFileSync(join(bin, name), '');
    chmodSync(join(bin, name), 0o755);
  }
  const ci = { GITLAB_CI: 'true', CI_NODE_INDEX: '3', CI_NODE_TOTAL: '8', CI_PIPELINE_ID: '9131', CI_COMMIT_REF_NAME: 'topic' };
  const environment = {
    ...ci,
    CI_COMMIT_SHA: 'c0ffee1',
    BALLAST_URL: server.url,
    BALLAST_TOKEN: server.token,
    JEST_JUNIT_ADD_FILE_ATTRIBUTE: 'true',
    PATH: `${bin}:${process.env.PATH}`,
  };
  return { server, folder, environment };
}

function writeFiles(folder: string, ...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), '');
  }
}

type Checked = { code: number | null; findings: Finding[] };

async function check(
  { folder, environment }: Pick<SetUp, 'folder' | 'environment'>,
  args: readonly string[],
  more: NodeJS.ProcessEnv = {},
  stdin = '',
): Promise<Checked> {
  const dashes = args.indexOf('--');
  const flags = dashes < 0 ? [...args, '--json'] : [...args.slice(0, dashes), '--json', ...args.slice(dashes)];
  const { code, stdout, stderr } = await runInProcess(['doctor', ...flags], { ...environment, ...more }, { cwd: folder, stdin });
  expect(stderr).toBe('');
  const { is_ready, findings } = JSON.parse(stdout) as { is_ready: boolean; findings: Finding[] };
  expect(is_ready).toBe(code === 0);
  expect(findings.every(({ level, remedy }) => (level === 'ok') === (remedy === null))).toBe(true);
  return { code, findings };
}

/** The finding with an id. */
const finding = ({ findings }: Checked, id: string) => findings.find(each => each.id === id);
const troubles = ({ findings }: Checked) => findings.filter(({ level }) => level !== 'ok').map(({ id }) => id);

/** Whether JUnit reports of node --test name files. */
const NODE_NAMES_FILES = Number(process.versions.node.split('.')[0]) >= 24;
const GLOB = 'src/**/*.test.js';
const GOOD = [GLOB, '--junit', 'junit.xml', '--', ...JEST];
const NO_GITLAB = { GITLAB_CI: '', CI_NODE_INDEX: '', CI_NODE_TOTAL: '' };
const GITHUB = {
  ...{ ...NO_GITLAB, GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '77001', GITHUB_RUN_ATTEMPT: '1' },
  ...{ GITHUB_HEAD_REF: '', GITHUB_REF_NAME: 'main', GITHUB_SHA: 'c0ffee1' },
};
const JENKINS = {
  ...{
    GITLAB_CI: '',
    JENKINS_URL: 'http://j',
    BUILD_TAG: 'jenkins-app-5',
    JOB_NAME: 'app',
    GIT_BRANCH: 'origin/main',
    GIT_COMMIT: 'c0ffee1',
  },
  ...{ BALLAST_NODE_INDEX: '0', BALLAST_NODE_TOTAL: '4' },
};
const CIRCLE = {
  ...{ GITLAB_CI: '', CIRCLECI: 'true', CIRCLE_NODE_INDEX: '0', CIRCLE_NODE_TOTAL: '4', CIRCLE_WORKFLOW_ID: 'w2-again' },
  ...{ CIRCLE_WORKFLOW_WORKSPACE_ID: 'w1', CIRCLE_BRANCH: 'main', CIRCLE_SHA1: 'c0ffee1', CIRCLE_BUILD_NUM: '5512' },
};

describe('ballast doctor on a node that is set up well', () => {
  it('ends with 0, and says which variables tell which node and which CI run it is', async () => {
    const checked = await check(await setUp(), GOOD);
    expect({ code: checked.code, troubles: troubles(checked) }).toEqual({ code: 0, troubles: [] });
    expect(finding(checked, 'identity.node')?.sentence).toBe(
      'node 2 of 8, counted from 0 (CI_NODE_INDEX=3, which counts from 1; CI_NODE_TOTAL=8)',
    );
    expect(finding(checked, 'identity.build_id')?.sentence).toBe('CI run 9131 (CI_PIPELINE_ID)');
    expect(finding(checked, 'server.answers')?.sentence).toMatch(/knows the token, and answers in [\d.]+ ms/);
    expect(finding(checked, 'list.first_build')?.sentence).toMatch(/^0 of 3 have timings: the project has no build yet/);
    expect(finding(checked, 'outage')?.sentence).toContain('with --fallback this node runs all 3 test files itself');
  });

  it.each([
    ['the style of tests of mocha', ['mocha', '--ui', 'bdd', '{}']],
    ['a group of tests of PHPUnit', ['vendor/bin/phpunit', '--group', 'fast', '{}']],
    [
      'a loop of the shell over the files',
      ['sh', '-c', 'for f; do phpunit --log-junit "$f.xml" "$f" || code=1; done; exit $code', 'sh', '{}'],
    ],
    ['a loop without a name for the files', ['sh', '-c', 'for f do ruby -Itest $f || exit; done', 'sh', '{}']],
    ['pytest-xdist that keeps files together', ['pytest', '-n', 'auto', '--dist', 'loadfile', '--junitxml=junit.xml', '{}']],
  ])('does not take %s for a trap', async (_, command) => {
    const node = await setUp();
    writeFiles(node.folder, 'vendor/bin/phpunit');
    chmodSync(join(node.folder, 'vendor/bin/phpunit'), 0o755);
    const checked = await check(node, [GLOB, '--junit', 'junit.xml', '--', ...command]);
    expect({ code: checked.code, troubles: troubles(checked) }).toEqual({ code: 0, troubles: [] });
  });

  it('finds an id of one digit in the variable that it is from', async () => {
    const checked = await check(await setUp(), GOOD, { BALLAST_BUILD_ID: '7', NIGHTLY: '7' });
    expect({ code: checked.code, troubles: troubles(checked) }).toEqual({ code: 0, troubles: [] });
  });

  it('does not take an id for one of the node whose index is missing', async () => {
    const checked = await check(await setUp(), GOOD, { ...NO_GITLAB, BALLAST_BUILD_ID: 'try-1', BALLAST_NODE_TOTAL: '2' });
    expect(troubles(checked)).toContain('identity.no_node_index');
    expect(troubles(checked)).not.toContain('identity.build_id_of_node');
  });

  it('believes the id of a CI run where the CI system has none', async () => {
    const codeBuild = { ...NO_GITLAB, CODEBUILD_BUILD_ARN: 'arn', CODEBUILD_RESOLVED_SOURCE_VERSION: 'c0ffee1' };
    const given = { BALLAST_BUILD_ID: 'trigger-99', BALLAST_NODE_INDEX: '0', BALLAST_NODE_TOTAL: '4', BALLAST_BRANCH: 'main' };
    const checked = await check(await setUp(), GOOD, { ...codeBuild, ...given });
    expect({ code: checked.code, troubles: troubles(checked) }).toEqual({ code: 0, troubles: [] });
  });

  it('accepts the merge of the commit of a pull request, which the job made itself', async () => {
    const node = await setUp();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
        cwd: node.folder,
        stdio: 'pipe',
        encoding: 'utf8',
      });
    git('init', '-q', '-b', 'main');
    git('commit', '-q', '--allow-empty', '-m', 'one');
    git('checkout', '-q', '-b', 'topic');
    git('commit', '-q', '--allow-empty', '-m', 'of the pull request');
    const commit = git('rev-parse', 'HEAD').trim();
    git('checkout', '-q', 'main');
    git('commit', '-q', '--allow-empty', '-m', 'of the base');
    git('merge', '-q', '--no-edit', 'topic');
    const checked = await check(node, GOOD, { CI_COMMIT_SHA: commit });
    expect({ code: checked.code, troubles: troubles(checked) }).toEqual({ code: 0, troubles: [] });
  });

  it('takes every flag of queue, so that only the name of the command is to be changed', async () => {
    const flags = ['--fail-unreported', '--trust-exit-code', '--may-be-empty', 'src/b*', '--fallback', '--retries', '1'];
    const checked = await check(await setUp(), [GLOB, '--junit', 'junit.xml', ...flags, '--', ...JEST]);
    expect({ code: checked.code, troubles: troubles(checked) }).toEqual({ code: 0, troubles: [] });
  });

  it('prints the findings under headings, with what to do below each', async () => {
    const { folder, environment } = await setUp();
    const { code, stdout, stderr } = await runInProcess(['doctor', GLOB], { ...environment, CI_PIPELINE_ID: '' }, { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toContain('Node and CI run\n  ok       the CI system is GitLab CI\n');
    expect(stdout).toMatch(/\n {2}error {4}the id of the CI run .* is not known.*\n {11}fix: set BALLAST_BUILD_ID/);
    expect(stdout).toMatch(/\n\n1 error: a run would go wrong\n$/);
  });

  it('counts the files that the server knows, and ends with 0 when few are new', async () => {
    const node = await setUp();
    await record(node.server, { test_files: timedTestFiles({ 'src/a.test.js': 1, 'src/b.test.js': 2 }) });
    const checked = await check(node, GOOD);
    expect({ code: checked.code, known: finding(checked, 'list.known')?.sentence }).toEqual({
      code: 0,
      known: '2 of 3 have timings; new, or not in the newest build: src/lib/c.test.js',
    });
  });

  it('reads the variables of another machine from a file of env or env -0', async () => {
    const { folder, environment } = await setUp();
    const { PATH, ...node } = environment;
    const lines = Object.entries({ ...node, CI_COMMIT_MESSAGE: 'two\nlines' }).map(([name, value]) => `${name}=${value}`);
    writeFileSync(join(folder, 'lines.env'), `${lines.join('\n')}\n`);
    writeFileSync(join(folder, 'nul.env'), `${lines.join('\0')}\0`);
    for (const file of ['lines.env', 'nul.env']) {
      const checked = await check({ folder, environment: { PATH, BALLAST_BUILD_ID: 'of this machine' } }, ['--environment', file, ...GOOD]);
      expect({ code: checked.code, run: finding(checked, 'identity.build_id')?.sentence }).toEqual({
        code: 0,
        run: 'CI run 9131 (CI_PIPELINE_ID)',
      });
    }
  });

  it('has no warning for any recipe of a runner', async () => {
    const guide = readFileSync(join(root, 'src/docs/connect/runners.md'), 'utf8');
    const recipes = [...guide.matchAll(/^node (?:\.\.\/)?ballast\.mjs queue (?:.*\n)+?(?=\n|#|```)/gm)].map(([text]) => text);
    expect(recipes.length).toBeGreaterThanOrEqual(15);
    const node = await setUp();
    writeFiles(node.folder, 'gradlew', 'vendor/bin/phpunit');
    for (const program of ['gradlew', 'vendor/bin/phpunit']) chmodSync(join(node.folder, program), 0o755);
    for (const recipe of recipes) {
      const command = recipe.slice(recipe.indexOf(' -- ') + 4).replace(/ < \w+\.txt/, '');
      const words = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
        .split('\0')
        .slice(0, -1);
      const checked = await check(node, [GLOB, '--junit', 'x.xml', '--', ...words]);
      const isOld = /^\s*node --test /m.test(recipe) && !NODE_NAMES_FILES;
      expect({ recipe, troubles: troubles(checked) }).toEqual({ recipe, troubles: isOld ? ['command.node_junit'] : [] });
    }
  });

  it.each([
    [['--environment', 'none.env'], 'cannot read the environment none.env'],
    [['--environment', 'src/a.test.js'], 'has no variable'],
    [['--fast'], "unknown option '--fast'"],
  ])('ends with 2 for %j', async (args, message) => {
    const { folder, environment } = await setUp();
    const run = await runInProcess(['doctor', ...args], environment, { cwd: folder });
    expect(run).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) as string });
  });
});

/** What is wrong, the variables and the arguments, and what is found: its id, its level, a part of its sentence and one of its remedy. */
type Broken = [situation: string, NodeJS.ProcessEnv, readonly string[], [string, 'warning' | 'error', string, string]];

const broken: readonly Broken[] = [
  [
    'a matrix job of GitHub Actions without a node index',
    GITHUB,
    GOOD,
    ['identity.no_node', 'error', 'tried CI_NODE_INDEX (GitHub Actions)', '{{ strategy.job-index }}'],
  ],
  [
    'a matrix of GitHub Actions that counts from 1',
    { ...GITHUB, BALLAST_NODE_INDEX: '4', BALLAST_NODE_TOTAL: '4' },
    GOOD,
    [
      'identity.index_from_one',
      'error',
      'the index of this node is 4, but the last of 4 nodes has the index 3',
      'from 0 to 3 in BALLAST_NODE_INDEX',
    ],
  ],
  [
    'an expression of GitHub Actions that is empty',
    { ...GITHUB, BALLAST_NODE_INDEX: '', BALLAST_NODE_TOTAL: '4' },
    GOOD,
    ['identity.no_node_index', 'error', 'BALLAST_NODE_INDEX and CI_NODE_INDEX are set, but empty', 'strategy.job-index'],
  ],
  [
    'a re-run id of GitHub Actions with the index of the node',
    { ...GITHUB, BALLAST_NODE_INDEX: '2', BALLAST_NODE_TOTAL: '4', BALLAST_BUILD_ID: '77001-2' },
    GOOD,
    ['identity.build_id_of_node', 'error', 'ends in the index of the node', 'GITHUB_RUN_ID of GitHub Actions'],
  ],
  [
    'an id of a CI run of GitHub Actions with the attempt and the index of the node',
    { ...GITHUB, BALLAST_NODE_INDEX: '2', BALLAST_NODE_TOTAL: '4', BALLAST_BUILD_ID: '77001-1-2' },
    GOOD,
    ['identity.build_id_of_node', 'error', 'ends in the index of the node', 'GITHUB_RUN_ID of GitHub Actions'],
  ],
  [
    'a job of GitLab CI that copies its index, which counts from 1',
    { BALLAST_NODE_INDEX: '3' },
    GOOD,
    ['identity.index_from_one', 'error', 'which GitLab CI counts from 1', 'leave BALLAST_NODE_INDEX out'],
  ],
  [
    'a job of GitLab CI without parallel',
    { CI_NODE_INDEX: '', CI_NODE_TOTAL: '1' },
    GOOD,
    ['identity.only_node', 'warning', 'the only node', 'parallel: 4'],
  ],
  [
    'another number of nodes than GitLab CI starts',
    { BALLAST_NODE_TOTAL: '4' },
    GOOD,
    ['identity.total_differs', 'warning', 'BALLAST_NODE_TOTAL is 4, but GitLab CI starts 8', 'leave BALLAST_NODE_TOTAL out'],
  ],
  [
    'the id of a job of GitLab CI as that of the CI run',
    { CI_JOB_ID: '55512', BALLAST_BUILD_ID: '55512' },
    GOOD,
    ['identity.build_id_of_node', 'error', 'the value of CI_JOB_ID', 'CI_PIPELINE_ID'],
  ],
  [
    'the time of day as the id of the CI run',
    { BALLAST_BUILD_ID: String(Math.floor(Date.now() / 1000)) },
    GOOD,
    ['identity.build_id_of_node', 'error', 'the time of day', 'CI_PIPELINE_ID'],
  ],
  [
    'a constant as the id of the CI run',
    { BALLAST_BUILD_ID: 'nightly' },
    GOOD,
    ['identity.build_id_constant', 'warning', 'which no variable of this job has', 'CI_PIPELINE_ID'],
  ],
  [
    'the name of a job of Jenkins as the id of the CI run',
    { ...JENKINS, BALLAST_BUILD_ID: 'app' },
    GOOD,
    ['identity.build_id_shared', 'error', 'the value of JOB_NAME', 'BUILD_TAG of Jenkins'],
  ],
  [
    'a variable of a Jenkinsfile in single quotes',
    { ...JENKINS, BALLAST_NODE_INDEX: '$NODE' },
    GOOD,
    ['identity.unexpanded', 'error', 'did not replace it', 'Jenkinsfile'],
  ],
  [
    'parallel stages of Jenkins without numbers',
    { ...JENKINS, CI_NODE_INDEX: '', CI_NODE_TOTAL: '', BALLAST_NODE_INDEX: '', BALLAST_NODE_TOTAL: '' },
    GOOD,
    ['identity.no_node', 'error', 'nor the number of nodes is known', 'withEnv(["BALLAST_NODE_INDEX=0"'],
  ],
  [
    'the build number of CircleCI as the id of the CI run',
    { ...CIRCLE, BALLAST_BUILD_ID: '5512' },
    GOOD,
    ['identity.build_id_of_attempt', 'warning', 'which a re-run changes', 'CIRCLE_WORKFLOW_WORKSPACE_ID'],
  ],
  [
    'variables of two CI systems',
    { JENKINS_URL: 'http://j' },
    GOOD,
    ['identity.two_systems', 'warning', 'of GitLab CI and of Jenkins', 'BALLAST_NODE_INDEX'],
  ],
  [
    'HEAD as the commit',
    { BALLAST_COMMIT_HASH: 'HEAD' },
    GOOD,
    ['identity.commit_name', 'error', 'another commit tomorrow', 'git rev-parse HEAD'],
  ],
  [
    'a branch that is a reference',
    { BALLAST_BRANCH: 'refs/heads/topic' },
    GOOD,
    ['identity.branch_name', 'warning', 'not the name of a branch', 'BALLAST_BRANCH=topic'],
  ],
  [
    'an empty variable of Ballast',
    { BALLAST_BRANCH: '' },
    GOOD,
    ['identity.empty_variable', 'warning', 'BALLAST_BRANCH is set, but empty, so CI_COMMIT_REF_NAME counts', 'leave it out'],
  ],
  [
    'no address',
    { BALLAST_URL: '' },
    GOOD,
    ['server.url_missing', 'error', 'the address of the server is not known', 'https://ballast.example.com'],
  ],
  [
    'an address in quotes',
    { BALLAST_URL: '"http://127.0.0.1:8080"' },
    GOOD,
    ['server.url_quoted', 'error', 'quotes', 'BALLAST_URL=http://127.0.0.1:8080'],
  ],
  [
    'an address with a user',
    { BALLAST_URL: 'http://me:secret@127.0.0.1:8080/v1' },
    GOOD,
    ['server.url_invalid', 'error', 'a user', 'BALLAST_URL=http://127.0.0.1:8080'],
  ],
  [
    'a name that does not resolve',
    { BALLAST_URL: 'http://ballast.invalid' },
    GOOD,
    ['server.name', 'error', 'ballast.invalid is not known', 'check the spelling'],
  ],
  [
    'an address where nothing listens',
    { BALLAST_URL: 'http://127.0.0.1:65534' },
    GOOD,
    ['server.refused', 'error', 'nothing listens at 127.0.0.1:65534', 'BALLAST_HOST=0.0.0.0'],
  ],
  [
    'no token on GitHub Actions',
    { ...GITHUB, BALLAST_TOKEN: '' },
    GOOD,
    ['server.token_missing', 'error', 'token is not known', 'secrets.BALLAST_TOKEN'],
  ],
  ['no token on GitLab CI', { BALLAST_TOKEN: '' }, GOOD, ['server.token_missing', 'error', 'token is not known', 'protected']],
  [
    'the token of another server',
    { BALLAST_TOKEN: 'f'.repeat(64) },
    GOOD,
    ['server.token_unknown', 'error', '64 characters', 'ballast token create'],
  ],
  ['a masked token', { BALLAST_TOKEN: '***' }, GOOD, ['server.token_masked', 'error', 'masked', 'give the token itself']],
  ['a token in quotes', { BALLAST_TOKEN: `"${'f'.repeat(64)}"` }, GOOD, ['server.token_quoted', 'error', 'quotes', 'leave the quotes out']],
  ['a glob in two pairs of quotes', {}, [`'${GLOB}'`], ['list.no_match', 'error', 'quotes in it', `once only: '${GLOB}'`]],
  ['a folder for a glob', {}, ['src'], ['list.no_match', 'error', 'it is a folder', "'src/**/*'"]],
  ['a glob of another folder', {}, ['test/**/*.test.js'], ['list.no_match', 'error', 'src/a.test.js', "'**/*.test.js'"]],
  [
    'a glob with an ending that no file has',
    {},
    [GLOB, 'src/**/*.spec.ts'],
    ['list.no_match', 'warning', 'src/**/*.spec.ts matches no file', 'check that the checkout has the files'],
  ],
  [
    'a glob that the shell replaced',
    {},
    ['src/a.test.js', 'src/b.test.js'],
    ['list.expanded_by_shell', 'warning', 'src/lib/c.test.js', 'quote globs'],
  ],
  ['a glob of reports that is a folder', {}, [GLOB, '--junit', 'src'], ['reports.folder', 'error', 'src is a folder', "'src/*.xml'"]],
  [
    'a report that is no report',
    {},
    [GLOB, '--junit', 'src/a.test.js'],
    ['reports.unreadable', 'error', 'cannot use the report src/a.test.js', 'JUnit XML'],
  ],
  [
    'jest with a shard of its own',
    {},
    [GLOB, '--', 'npx', 'jest', '--shard=1/4', '{}'],
    ['command.shards', 'error', '--shard=1/4 divides', 'leave it out'],
  ],
  [
    'pytest-split in the command',
    {},
    [GLOB, '--', 'pytest', '--splits', '4', '--group', '1', '{}'],
    ['command.shards', 'error', '--splits divides', 'leave it out'],
  ],
  [
    'node --test with a shard of its own',
    {},
    [GLOB, '--', 'node', '--test', '--test-shard=1/4', '{}'],
    ['command.shards', 'error', '--test-shard=1/4 divides', 'leave it out'],
  ],
  [
    'jest that runs changed files only',
    {},
    [GLOB, '--', 'npx', 'jest', '-o', '{}'],
    ['command.filters_files', 'error', '-o leaves out files', 'leave it out'],
  ],
  [
    'a wrapper that splits',
    {},
    [GLOB, '--', 'bundle', 'exec', 'rake', 'knapsack_pro:rspec'],
    ['command.wrapper', 'error', 'divides the tests itself', 'the runner itself'],
  ],
  [
    'CircleCI that splits',
    {},
    [GLOB, '--', 'sh', '-c', 'circleci tests split < list | xargs jest "$@"', 'sh', '{}'],
    ['command.wrapper', 'error', 'circleci tests', 'the runner itself'],
  ],
  [
    'jest that passes without tests',
    {},
    [GLOB, '--', ...JEST, '--passWithNoTests'],
    ['command.no_tests_pass', 'warning', 'found none of its files', '--fail-unreported'],
  ],
  [
    'a runner that stops at the first failure',
    {},
    [GLOB, '--', 'pytest', '-x', '{}'],
    ['command.stops_early', 'warning', '-x ends a batch', 'leave it out'],
  ],
  [
    'pieces without reports',
    {},
    [GLOB, '--pieces', '--', ...JEST],
    ['command.pieces', 'error', '--pieces needs reports', 'name those that the command writes with --junit'],
  ],
  [
    'pieces and a filter by names',
    {},
    [GLOB, '--junit', 'junit.xml', '--pieces', '--', ...JEST, '-t', 'cart'],
    ['command.pieces', 'error', '--pieces and -t in the command both select', 'leave out one of them'],
  ],
  ['pytest-xdist', {}, [GLOB, '--', 'pytest', '-n', 'auto', '{}'], ['command.workers', 'warning', 'in parallel', '--dist=loadfile']],
  [
    'jest without --runTestsByPath',
    {},
    [GLOB, '--', 'npx', 'jest', '{}'],
    ['command.jest_patterns', 'warning', 'patterns', '--runTestsByPath'],
  ],
  [
    'a program that is not installed',
    {},
    [GLOB, '--', 'no-such-runner', '{}'],
    ['command.not_found', 'error', 'no program no-such-runner', 'install it'],
  ],
  ['a variable before the command', {}, [GLOB, '--', 'CI=1', ...JEST], ['command.variable', 'error', 'begins with CI=1', 'env CI=1']],
  [
    'a script without the right to execute it',
    {},
    [GLOB, '--', './src/a.test.js', '{}'],
    ['command.not_executable', 'error', './src/a.test.js is not executable', 'chmod +x'],
  ],
  ['a glob that leaves out all files', {}, [GLOB, '!src/**'], ['list.all_excluded', 'error', '!src/** leaves out all', 'narrow it']],
  [
    'Cypress that divides the files among its own machines',
    {},
    [GLOB, '--', 'npx', 'cypress', 'run', '--parallel', '--spec={,}'],
    ['command.shards', 'error', '--parallel has the service of Cypress', 'leave it out'],
  ],
  [
    'an index with the number of nodes',
    { ...JENKINS, BALLAST_NODE_INDEX: '1/4' },
    GOOD,
    ['identity.node_index', 'error', 'it must be a whole number from 0 on (BALLAST_NODE_INDEX)', 'the index alone, from 0'],
  ],
  ['a command in quotes', {}, [GLOB, '--', 'npx jest {}'], ['command.one_word', 'error', 'one argument', 'leave out the quotes']],
  [
    'a package that npx would fetch',
    {},
    [GLOB, '--', 'npx', 'ava', '{}'],
    ['command.not_installed', 'warning', 'npx finds no ava', 'npm ci'],
  ],
  [
    '{} within an argument',
    {},
    [GLOB, '--', 'npx', 'cypress', '--spec={}'],
    ['command.files', 'error', '{} within the argument', '--spec={,}'],
  ],
  [
    'a script that does not use its arguments',
    {},
    [GLOB, '--', 'sh', '-c', 'npx jest {}'],
    ['command.files', 'error', 'does not use its arguments', '"$@"'],
  ],
  [
    'a script whose first file is $0',
    {},
    [GLOB, '--', 'sh', '-c', 'npx jest "$@"', '{}'],
    ['command.files', 'error', 'as $0', 'put a name before the files'],
  ],
  [
    'a pipe that loses the exit code, without reports',
    {},
    [GLOB, '--', 'sh', '-c', 'npx jest "$@" | tee log', 'sh', '{}'],
    ['command.exit_code', 'error', 'failed tests would pass', 'pipefail'],
  ],
  [
    'a pipe that loses the exit code, with reports',
    {},
    [GLOB, '--junit', 'junit.xml', '--', 'sh', '-c', 'npx jest "$@" | tee log', 'sh', '{}'],
    ['command.exit_code', 'warning', 'only failures in reports', 'pipefail'],
  ],
  [
    'no reports',
    {},
    [GLOB, '--', 'pytest', '{}'],
    ['command.no_reports', 'warning', 'divided among its files by estimates', '--junitxml=pytest.xml'],
  ],
  [
    'a runner that writes no report',
    {},
    [GLOB, '--junit', 'x.xml', '--', 'npx', 'vitest', 'run', '{}'],
    ['command.writes_no_report', 'warning', 'makes vitest write a report', '--reporter=junit'],
  ],
  [
    'jest-junit without paths of files',
    { JEST_JUNIT_ADD_FILE_ATTRIBUTE: '' },
    GOOD,
    ['command.jest_junit', 'warning', 'does not write the paths', 'JEST_JUNIT_ADD_FILE_ATTRIBUTE=true'],
  ],
];

describe('ballast doctor finds', () => {
  it.each(broken)('%s', async (_, environment, args, [id, level, sentence, remedy]) => {
    const checked = await check(await setUp(), args, environment);
    expect(checked.findings).toContainEqual({
      id,
      level,
      sentence: expect.stringContaining(sentence) as string,
      remedy: expect.stringContaining(remedy) as string,
    });
    if (level === 'error') expect(checked.code).toBe(1);
  });

  it('listed files that RSpec leaves out by its exclude patterns, until the list leaves them out, too', async () => {
    const node = await setUp(['spec/a_spec.rb', 'spec/integration/b_spec.rb', 'spec/slow/c_spec.rb', 'spec/d_spec.rb']);
    const command = ['--junit', 'rspec.json', '--', 'bundle', 'exec', 'rspec', '--format', 'json', '--out', 'rspec.json'];
    expect(troubles(await check(node, ['spec/**/*_spec.rb', ...command, '{}']))).toEqual([]);
    writeFileSync(join(node.folder, '.rspec'), '--color\n--exclude-pattern "./spec/integration/**/*_spec.rb"\n');
    const checked = await check(node, ['spec/**/*_spec.rb', ...command, '--exclude-pattern', 'slow/*_spec.rb,none/*', '{}']);
    expect(checked.code).toBe(0);
    expect(finding(checked, 'command.rspec_excludes')).toEqual({
      id: 'command.rspec_excludes',
      level: 'warning',
      sentence: expect.stringContaining(
        '2 listed files that it leaves out without Ballast would run: spec/integration/b_spec.rb, spec/slow/c',
      ),
      remedy: "leave them out of the list, too: '!spec/integration/**/*_spec.rb' '!spec/{slow/*_spec.rb,none/*}'",
    });
    const without = ['spec/**/*_spec.rb', '!spec/integration/**/*_spec.rb', '!spec/{slow/*_spec.rb,none/*}'];
    expect(troubles(await check(node, [...without, ...command, '--exclude-pattern=slow/*_spec.rb', '{}']))).toEqual([]);
  });

  it('that reports of node --test name no files, where it is a Node that does not write them', async () => {
    const command = ['node', '--test', '--test-reporter=junit', '--test-reporter-destination=node.xml', '{}'];
    const checked = await check(await setUp(), [GLOB, '--junit', 'node.xml', '--', ...command]);
    expect(troubles(checked)).toEqual(NODE_NAMES_FILES ? [] : ['command.node_junit']);
    expect(finding(checked, 'command.node_junit')?.remedy).toEqual(
      NODE_NAMES_FILES ? undefined : expect.stringContaining('Node 24 or later'),
    );
    expect(
      troubles(await check(await setUp(), [GLOB, '--junit', 'x.xml', '--', 'node', '--test', '--test-reporter=./own.mjs', '{}'])),
    ).toEqual([]);
  });

  it('a commit that is not checked out, and a branch that a checkout without commits or a detached one does not tell', async () => {
    const node = await setUp();
    const git = (...args: string[]) =>
      execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], { cwd: node.folder, stdio: 'pipe' });
    git('init', '-q');
    const unborn = await check(node, GOOD, { CI_COMMIT_REF_NAME: '', CI_COMMIT_SHA: '' });
    expect(finding(unborn, 'identity.no_branch')?.remedy).toContain('no commit yet');
    git('commit', '-q', '--allow-empty', '-m', 'one');
    git('checkout', '-q', '--detach');
    const checked = await check(node, GOOD, { CI_COMMIT_REF_NAME: '' });
    expect(finding(checked, 'identity.commit_not_checked_out')).toMatchObject({
      level: 'warning',
      sentence: expect.stringContaining('CI_COMMIT_SHA says c0ffee1') as string,
    });
    expect(finding(checked, 'identity.no_branch')).toMatchObject({
      level: 'error',
      remedy: expect.stringContaining('detached HEAD') as string,
    });
  });

  it.each([
    'https://bot:pass5ord@ballast.example.com',
    'bot:pass5ord@127.0.0.1:1',
    '"http://bot:pass5ord@h"',
    'http://bot:pass5ord@h:99999/',
    'http://bot:p@ss5/pass5ord@h',
    'https://ballast.example.com/?token=pass5ord',
  ])('that %s is no address, without its password', async address => {
    const { code, findings } = await check(await setUp(), GOOD, { BALLAST_URL: address });
    expect(code).toBe(1);
    expect(JSON.stringify(findings)).toContain('is not a server address');
    expect(JSON.stringify(findings)).not.toContain('pass5ord');
  });

  it('an address without a scheme, and which one the server speaks', async () => {
    const node = await setUp();
    const address = node.server.url.replace('http://', '');
    expect(finding(await check(node, GOOD, { BALLAST_URL: address }), 'server.url_scheme')).toMatchObject({
      sentence: expect.stringContaining(`${node.server.url} answers`) as string,
      remedy: `set BALLAST_URL=${node.server.url}`,
    });
    expect(finding(await check(node, GOOD, { BALLAST_URL: `https://${address}` }), 'server.scheme')).toMatchObject({
      sentence: 'the server speaks http, and its address begins with https://',
      remedy: `set BALLAST_URL=${node.server.url}`,
    });
    expect(finding(await check(node, GOOD, { BALLAST_URL: `${node.server.url}/dashboard` }), 'server.url_path')?.remedy).toBe(
      `set BALLAST_URL=${node.server.url}`,
    );
  });

  it('http where the server speaks https, and a certificate that is not trusted', async () => {
    const [node, secure] = [await setUp(), await startServer(createCertificate('localhost'))];
    const url = secure.url.replace('http://', 'https://');
    expect(finding(await check(node, GOOD, { BALLAST_URL: url.replace('https://', 'http://') }), 'server.scheme')?.remedy).toBe(
      `set BALLAST_URL=${url}`,
    );
    expect(finding(await check(node, GOOD, { BALLAST_URL: url }), 'server.certificate')?.remedy).toContain('NODE_EXTRA_CA_CERTS');
  });

  it('a login page, a redirect, a failing proxy and another service in place of the server', async () => {
    const node = await setUp();
    const answers: [number, Record<string, string>, string, string][] = [
      [200, {}, '<html>Log in</html>', 'server.other_service'],
      [302, { Location: 'https://sso.example.com/' }, '', 'server.redirect'],
      [502, {}, 'Bad Gateway', 'server.failing'],
      [200, {}, '{"status":"ok"}', 'server.other_service'],
    ];
    for (const [status, headers, body, id] of answers) {
      const url = await answerWith((_, response) => response.writeHead(status, headers).end(body));
      expect(troubles(await check(node, GOOD, { BALLAST_URL: url }))).toEqual([id]);
    }
  });

  it('a clock that differs by minutes from that of the server', async () => {
    const node = await setUp();
    const url = await answerWith((_, response) =>
      response.writeHead(200, { Date: new Date(Date.now() - 600_000).toUTCString() }).end('{"data":[]}'),
    );
    expect(finding(await check(node, [], { BALLAST_URL: url }), 'server.clock')).toMatchObject({
      level: 'warning',
      sentence: expect.stringContaining('10 minutes ahead of') as string,
    });
  });

  it.each([
    ['another prefix', ['packages/app/src/a.test.js', 'packages/app/src/b.test.js'], 'list.recorded_prefix', 'with packages/app/ in front'],
    ['no prefix', ['a.test.js', 'b.test.js'], 'list.recorded_prefix', 'without src/ in front'],
    ['other capitals', ['src/A.test.js', 'SRC/b.test.js'], 'list.recorded_case', 'with other capitals'],
    ['another extension', ['src/a.test.ts', 'src/b.test.ts'], 'list.recorded_extension', 'with another extension'],
    ['./ in front', ['./src/a.test.js', './src/b.test.js'], 'list.recorded_slashes', 'without ./'],
    ['backslashes', ['src\\a.test.js', 'src\\b.test.js'], 'list.recorded_slashes', 'with other slashes'],
    ['paths of another suite', ['spec/x_spec.rb', 'spec/y_spec.rb'], 'list.unknown', 'spec/x_spec.rb'],
  ])('timings that were recorded with %s', async (_, paths, id, sentence) => {
    const node = await setUp();
    await record(node.server, { test_files: timedTestFiles(Object.fromEntries(paths.map(path => [path, 1]))) });
    expect(finding(await check(node, GOOD), id)).toMatchObject({
      level: 'warning',
      sentence: expect.stringMatching(new RegExp(`^0 of 3 have timings.*${sentence}`)) as string,
    });
  });

  it('timings of a build that recorded few of its files', async () => {
    const node = await setUp();
    await record(node.server, { test_files: timedTestFiles({ 'src/a.test.js': 1 }) });
    expect(finding(await check(node, GOOD), 'list.unknown')?.remedy).toContain('until verify ends with 0');
  });

  it('odd paths in a list on stdin, but not names of classes, packages and targets', async () => {
    const node = await setUp(['src/a.test.js', 'dist/a.test.js', 'node_modules/x/y.test.js']);
    const list = [
      './src/a.test.js',
      'src/a.test.js',
      join(node.folder, 'src/a.test.js'),
      'dist/a.test.js',
      'node_modules/x/y.test.js',
      'gone.js',
      'src\\b.js',
    ];
    expect(troubles(await check(node, ['--stdin'], {}, list.join('\n')))).toEqual([
      ...['list.absolute', 'list.dotted', 'list.backslashes', 'list.missing', 'list.build_output', 'list.duplicates', 'list.duplicates'],
    ]);
    const names = ['shop', 'shop::api', 'a.b.CartTest', 'example.com/shop/cart', '//cart:cart_test'];
    expect(troubles(await check(node, ['--stdin'], {}, names.join('\n')))).toEqual([]);
    expect(finding(await check(node, ['--stdin'], {}, ''), 'list.empty')).toMatchObject({
      level: 'error',
      sentence: 'no test files: stdin names none',
    });
  });

  it('reports that are old, name other files, or name none', async () => {
    const node = await setUp();
    const report = (cases: string) =>
      writeFileSync(join(node.folder, 'junit.xml'), `<testsuites><testsuite>${cases}</testsuite></testsuites>`);
    report('<testcase name="x" file="src/a.test.js" time="1"/><testcase name="y" file="lib/z.test.js" time="1"/>');
    const day = new Date(Date.now() - 2 * 86_400_000);
    utimesSync(join(node.folder, 'junit.xml'), day, day);
    const some = await check(node, GOOD);
    expect({ code: some.code, troubles: troubles(some) }).toEqual({ code: 0, troubles: ['reports.old', 'reports.other_files'] });
    expect(finding(some, 'reports.other_files')?.sentence).toBe('1 file of the reports is not of the list: lib/z.test.js');
    report('<testcase name="adds" classname="Cart" time="1"/>');
    const none = await check(node, GOOD);
    expect(none.code).toBe(1);
    expect(finding(none, 'reports.no_file')).toMatchObject({
      level: 'error',
      remedy: expect.stringContaining('JEST_JUNIT_ADD_FILE_ATTRIBUTE=true') as string,
    });
  });

  it('files that a runner would silently skip, or run twice', async () => {
    const node = await setUp(['src/[id].test.js', 'a.test.js', 'src/a.test.js']);
    const of = async (...command: string[]) => troubles(await check(node, ['**/*.test.js', '--junit', 'x.xml', '--', ...command]));
    expect(await of('npx', 'jest', '--reporters=jest-junit', '{}')).toEqual(['command.jest_patterns']);
    expect((await check(node, ['**/*.test.js', '--', 'npx', 'jest', '{}'])).code).toBe(1);
    expect(await of('npx', 'playwright', 'test', '--reporter=junit', '{}')).toEqual(['command.playwright_patterns']);
    expect(await of('npx', 'vitest', 'run', '--reporter=junit', '{}')).toEqual(['command.vitest_substrings']);
  });

  it('what the script of package.json does', async () => {
    const node = await setUp();
    writeFileSync(join(node.folder, 'package.json'), '{"scripts":{"unit":"rm -f old.xml; jest --bail --runTestsByPath"}}');
    const checked = await check(node, [GLOB, '--', 'npm', 'run', 'unit', '--', '--shard', '1/2', '{}']);
    expect(troubles(checked)).toEqual(['command.shards', 'command.stops_early', 'command.no_reports']);
  });

  it('what a script named t does, which npm t does not run', async () => {
    const node = await setUp();
    writeFileSync(join(node.folder, 'package.json'), '{"scripts":{"t":"jest --bail --runTestsByPath","test":"jest --runTestsByPath"}}');
    expect(troubles(await check(node, [GLOB, '--', 'npm', 'run', 't', '--', '{}']))).toEqual(['command.stops_early', 'command.no_reports']);
    expect(troubles(await check(node, [GLOB, '--', 'npm', 't', '--', '{}']))).toEqual(['command.no_reports']);
  });
});
