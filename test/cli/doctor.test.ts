import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import type { Finding } from '../../src/node/doctor/finding.js';
import { createToken, hashOf } from '../../src/server/engine/access.js';
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

interface SetUp {
  server: Client;
  /** The folder of the tests. */
  folder: string;
  /** The variables of a node that is set up well. */
  environment: NodeJS.ProcessEnv;
}

/** A folder with test files and installed packages, on the third node of a job of GitLab CI. */
async function setUp(): Promise<SetUp> {
  const [server, folder] = [await shared.project(), temporaryFolder()];
  writeFiles(folder, 'src/a.test.js', 'src/b.test.js', 'src/lib/c.test.js');
  writeFiles(folder, ...['jest', 'vitest', 'playwright', 'mocha', 'cypress', 'nx', 'turbo'].map(name => `node_modules/.bin/${name}`));
  writeFiles(folder, 'node_modules/jest-junit/package.json');
  const environment = {
    ...{ GITLAB_CI: 'true', CI_NODE_INDEX: '3', CI_NODE_TOTAL: '8', CI_PIPELINE_ID: '9131', CI_COMMIT_REF_NAME: 'topic' },
    ...{ CI_COMMIT_SHA: 'c0ffee1', BALLAST_URL: server.url, BALLAST_TOKEN: server.token, JEST_JUNIT_ADD_FILE_ATTRIBUTE: 'true' },
  };
  return { server, folder, environment };
}

function writeFiles(folder: string, ...paths: readonly string[]): void {
  for (const path of paths) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), '');
  }
}

/** True if JUnit reports of node --test name files. */
const NODE_NAMES_FILES = Number(process.versions.node.split('.')[0]) >= 24;
const GLOB = 'src/**/*.test.js';
/** The arguments for a command. */
const run = (...command: string[]) => [GLOB, '--junit', 'junit.xml', '--', ...command];
const GOOD = run(...JEST);
const NO_GITLAB = { GITLAB_CI: '', CI_NODE_INDEX: '', CI_NODE_TOTAL: '' };
const GITHUB = {
  ...{ ...NO_GITLAB, GITHUB_ACTIONS: 'true', GITHUB_RUN_ID: '77001', GITHUB_RUN_ATTEMPT: '1' },
  ...{ GITHUB_HEAD_REF: '', GITHUB_REF_NAME: 'main', GITHUB_SHA: 'c0ffee1' },
};
const JENKINS = {
  ...{ ...NO_GITLAB, JENKINS_URL: 'http://j', BUILD_TAG: 'jenkins-app-5', JOB_NAME: 'app' },
  ...{ GIT_BRANCH: 'origin/main', GIT_COMMIT: 'c0ffee1', BALLAST_NODE_INDEX: '0', BALLAST_NODE_TOTAL: '4' },
};
const CIRCLE = {
  ...{ GITLAB_CI: '', CIRCLECI: 'true', CIRCLE_NODE_INDEX: '0', CIRCLE_NODE_TOTAL: '4', CIRCLE_WORKFLOW_ID: 'w2-again' },
  ...{ CIRCLE_WORKFLOW_WORKSPACE_ID: 'w1', CIRCLE_BRANCH: 'main', CIRCLE_SHA1: 'c0ffee1', CIRCLE_BUILD_NUM: '5512' },
};

type Expected = [id: string, level: Finding['level'], sentence?: string | RegExp, remedy?: string];

/** Differences from a sound set-up: variables, and as `stdin` the contents of stdin. */
type Given = NodeJS.ProcessEnv | ((node: SetUp) => NodeJS.ProcessEnv | Promise<NodeJS.ProcessEnv>);

/** The set-up, the arguments, and the findings: all warnings and errors, and some findings that are neither. */
type Situation = [situation: string, Given, args: readonly string[], ...expected: Expected[]];

const git = (node: SetUp, ...args: string[]) =>
  execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@example.com', ...args], {
    cwd: node.folder,
    stdio: 'pipe',
    encoding: 'utf8',
  });

function withTimes(...paths: readonly string[]): Given {
  return async ({ server }) => {
    await record(server, { test_files: timedTestFiles(Object.fromEntries(paths.map(path => [path, 1]))) });
    return {};
  };
}

function withServer(status: number, headers: Record<string, string>, body: string): Given {
  return async () => ({ BALLAST_URL: await answerWith((_, response) => response.writeHead(status, headers).end(body)) });
}

/** It reads no builds, but it is a token of the server. */
const withPublicToken: Given = async ({ server }) => {
  const { access } = shared.store;
  const project = (await access.token(hashOf(server.token)))!.project;
  return { BALLAST_TOKEN: await createToken(access, project, Date.now(), { isPublic: true }) };
};

const withScripts = (scripts: Record<string, string>) => withFiles([], { 'package.json': JSON.stringify({ scripts }) });

function withFiles(paths: readonly string[], texts: Record<string, string> = {}): Given {
  return ({ folder }) => {
    writeFiles(folder, ...paths);
    for (const [path, text] of Object.entries(texts)) writeFileSync(join(folder, path), text);
    return {};
  };
}

/** The variables of the node in a file, and not in the environment. */
function withSavedVariables(separator: string): Given {
  return ({ folder, environment }) => {
    const lines = Object.entries({ ...environment, CI_COMMIT_MESSAGE: 'two\nlines' }).map(([name, value]) => `${name}=${value}`);
    writeFileSync(join(folder, 'node.env'), `${lines.join(separator)}${separator}`);
    return { ...Object.fromEntries(Object.keys(environment).map(name => [name, undefined])), BALLAST_BUILD_ID: 'of this machine' };
  };
}

const secureUrl = async () => (await startServer(createCertificate('localhost'))).url;
const SPECS = ['spec/a_spec.rb', 'spec/integration/b_spec.rb', 'spec/slow/c_spec.rb', 'spec/d_spec.rb'];
const RSPEC = ['--junit', 'rspec.json', '--', 'bundle', 'exec', 'rspec', '--format', 'json', '--out', 'rspec.json'];
const NODE_JUNIT: Expected[] = NODE_NAMES_FILES
  ? []
  : [['command.node_junit', 'error', 'name no files before Node 24', '--test-reporter=./ballast-node-test.mjs instead']];
const UNUSUAL = ['src/[id].test.js'];
const EXCLUDING = { '.rspec': '--color\n--exclude-pattern "./spec/integration/**/*_spec.rb"\n' };
const NAMED_T = { t: 'jest --bail --runTestsByPath', test: 'jest --runTestsByPath' };
const FLAGS = [
  '--fail-unreported',
  '--trust-exit-code',
  '--may-be-empty',
  'src/b*',
  '--fallback',
  '--proof-key',
  'node 22',
  '--retries',
  '1',
];
const RUN_OF_GITLAB: Expected = ['identity.build_id', 'ok', 'CI run 9131 (CI_PIPELINE_ID)'];

/** The configuration of the guide, in short. */
const ofEachBatch = withFiles([], { 'jest.config.js': 'module.exports = { coverageDirectory: process.env.BALLAST_BATCH };' });

/** The recipes of the guides, by their first words. */
const recipes = ['runners', 'workspaces', 'migration', 'coverage'].flatMap(guide =>
  [
    ...readFileSync(join(root, `src/docs/connect/${guide}.md`), 'utf8').matchAll(
      /^node (?:\.\.\/)?ballast\.mjs queue (?:.*\n)+?(?=\n|#|```)/gm,
    ),
  ].map(([recipe]): Situation => {
    const command = recipe.slice(recipe.indexOf(' -- ') + 4).replace(/ < \w+\.txt/, '');
    const words = execFileSync('sh', ['-c', `printf '%s\\0' ${command}`], { encoding: 'utf8' })
      .split('\0')
      .slice(0, -1);
    return [`the recipe ${words.join(' ')}`, guide === 'coverage' ? ofEachBatch : {}, run(...words)];
  }),
);

const situations: readonly Situation[] = [
  [
    'a node that is set up well',
    {},
    GOOD,
    ['identity.node', 'ok', 'node 2 of 8, counted from 0 (CI_NODE_INDEX=3, which counts from 1; CI_NODE_TOTAL=8)'],
    ['identity.build_id', 'ok', 'CI run 9131 (CI_PIPELINE_ID)'],
    ['server.answers', 'ok', /knows the token, and answers in [\d.]+ ms/],
    ['list.first_build', 'ok', /^0 of 3 have timings: the project has no build yet/],
    ['outage', 'ok', 'with --fallback this node runs all 3 test files itself'],
  ],
  ['every flag of queue', {}, [...FLAGS, ...GOOD]],
  ['the style of tests of mocha', {}, run('mocha', '--ui', 'bdd', '{}')],
  ['a group of tests of PHPUnit', {}, run('vendor/bin/phpunit', '--group', 'fast', '{}')],
  [
    'a loop of the shell over the files',
    {},
    run('sh', '-c', 'for f; do phpunit --log-junit "$f.xml" "$f" || code=1; done; exit $code', 'sh', '{}'),
  ],
  ['a loop without a name for the files', {}, run('sh', '-c', 'for f do ruby -Itest $f || exit; done', 'sh', '{}')],
  ['pytest-xdist that keeps files together', {}, run('pytest', '-n', 'auto', '--dist', 'loadfile', '--junitxml=junit.xml', '{}')],
  ['a reporter of its own for node --test', {}, run('node', '--test', '--test-reporter=./own.mjs', '{}')],
  ['reports of node --test', {}, run('node', '--test', '--test-reporter=junit', '--test-reporter-destination=x', '{}'), ...NODE_JUNIT],
  ...recipes,
  ['an id of one digit that a variable has', { BALLAST_BUILD_ID: '7', NIGHTLY: '7' }, GOOD],
  [
    'an id that ends in a digit, and no node index',
    { ...NO_GITLAB, BALLAST_BUILD_ID: 'try-1', BALLAST_NODE_TOTAL: '2', BALLAST_BRANCH: 'main', BALLAST_COMMIT_HASH: 'c0ffee1' },
    GOOD,
    ['identity.no_node_index', 'error'],
  ],
  [
    'the id of a CI run where the CI system has none',
    {
      ...{ ...NO_GITLAB, CODEBUILD_BUILD_ARN: 'arn', CODEBUILD_RESOLVED_SOURCE_VERSION: 'c0ffee1' },
      ...{ BALLAST_BUILD_ID: 'trigger-99', BALLAST_NODE_INDEX: '0', BALLAST_NODE_TOTAL: '4', BALLAST_BRANCH: 'main' },
    },
    GOOD,
  ],
  [
    'the merge of the commit of a pull request, which the job made itself',
    node => {
      git(node, 'init', '-q', '-b', 'main');
      git(node, 'commit', '-q', '--allow-empty', '-m', 'one');
      git(node, 'checkout', '-q', '-b', 'topic');
      git(node, 'commit', '-q', '--allow-empty', '-m', 'of the pull request');
      const CI_COMMIT_SHA = git(node, 'rev-parse', 'HEAD').trim();
      git(node, 'checkout', '-q', 'main');
      git(node, 'commit', '-q', '--allow-empty', '-m', 'of the base');
      git(node, 'merge', '-q', '--no-edit', 'topic');
      return { CI_COMMIT_SHA };
    },
    GOOD,
  ],
  ['variables of another machine in lines', withSavedVariables('\n'), ['--environment', 'node.env', ...GOOD], RUN_OF_GITLAB],
  ['variables of another machine up to each NUL', withSavedVariables('\0'), ['--environment', 'node.env', ...GOOD], RUN_OF_GITLAB],
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
    { ...JENKINS, BALLAST_NODE_INDEX: '', BALLAST_NODE_TOTAL: '' },
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
  ['no address', { BALLAST_URL: '' }, GOOD, ['server.url', 'error', 'the address of the server is not known', 'BALLAST_URL']],
  [
    'an address where nothing listens',
    { BALLAST_URL: 'http://127.0.0.1:65534' },
    GOOD,
    ['server.no_answer', 'error', 'ECONNREFUSED', 'BALLAST_HOST=0.0.0.0'],
  ],
  [
    'no token on GitHub Actions',
    { ...GITHUB, BALLAST_NODE_INDEX: '0', BALLAST_NODE_TOTAL: '4', BALLAST_TOKEN: '' },
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
  ['a public token', withPublicToken, GOOD, ['list.not_compared', 'warning', 'is not open to a public token']],
  ['a masked token', { BALLAST_TOKEN: '***' }, GOOD, ['server.token_masked', 'error', 'masked', 'give the token itself']],
  ['a token in quotes', { BALLAST_TOKEN: `"${'f'.repeat(64)}"` }, GOOD, ['server.token_quoted', 'error', 'quotes', 'leave the quotes out']],
  [
    'a glob in two pairs of quotes',
    {},
    [`'${GLOB}'`],
    ['list.no_match', 'warning', 'quotes in it', `once only: '${GLOB}'`],
    ['list.refused', 'error', 'no test files: nothing matches', 'give globs (quoted'],
  ],
  [
    'a folder for a glob',
    {},
    ['src'],
    ['list.no_match', 'warning', 'it is a folder', "'src/**/*'"],
    ['list.refused', 'error', 'no test files: nothing matches', 'give globs (quoted'],
  ],
  [
    'a glob of another folder',
    {},
    ['test/**/*.test.js'],
    ['list.no_match', 'warning', 'src/a.test.js', "'**/*.test.js'"],
    ['list.refused', 'error', 'no test files: nothing matches', 'give globs (quoted'],
  ],
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
  ['jest with a shard of its own', {}, run(...JEST, '--shard=1/4'), ['command.shards', 'error', '--shard=1/4 divides', 'leave it out']],
  [
    'pytest-split in the command',
    {},
    run('pytest', '--splits', '4', '--group', '1', '{}'),
    ['command.shards', 'error', '--group divides', 'leave it out'],
    ['command.shards', 'error', '--splits divides', 'leave it out'],
  ],
  [
    'node --test with a shard of its own',
    {},
    run('node', '--test', '--test-shard=1/4', '{}'),
    ['command.shards', 'error', '--test-shard=1/4 divides', 'leave it out'],
  ],
  ['jest that runs changed files only', {}, run(...JEST, '-o'), ['command.filters_files', 'error', '-o leaves out files', 'leave it out']],
  [
    'a wrapper that splits',
    {},
    run('bundle', 'exec', 'rake', 'knapsack_pro:rspec'),
    ['command.wrapper', 'error', 'divides the tests itself', 'the runner itself'],
  ],
  ['the client of Buildkite', {}, run('bktec', 'run'), ['command.wrapper', 'error', 'bktec divides the tests itself', 'the runner itself']],
  [
    'cypress-split in the command',
    {},
    run('cypress', 'run', '--env', 'split=true', '--spec={,}'),
    ['command.shards', 'error', 'split=true divides', 'leave it out'],
  ],
  [
    'CircleCI that splits',
    {},
    run('sh', '-c', 'circleci tests split < list | xargs jest --runTestsByPath "$@"', 'sh', '{}'),
    ['command.wrapper', 'error', 'circleci tests', 'the runner itself'],
    ['command.exit_code', 'warning'],
  ],
  [
    'jest that passes without tests',
    {},
    run(...JEST, '--passWithNoTests'),
    ['command.no_tests_pass', 'warning', 'found none of its files', '--fail-unreported'],
  ],
  [
    'a runner that stops at the first failure',
    {},
    run('pytest', '-x', '{}'),
    ['command.stops_early', 'warning', '-x ends a batch', 'leave it out'],
  ],
  [
    'pieces without reports',
    {},
    [GLOB, '--pieces', '--', ...JEST],
    ['command.refused', 'error', '--pieces needs reports', 'name those that the command writes with --junit'],
    ['command.no_reports', 'warning'],
  ],
  ['pytest-xdist', {}, run('pytest', '-n', 'auto', '{}'), ['command.workers', 'warning', 'in parallel', '--dist=loadfile']],
  ['jest without --runTestsByPath', {}, run('npx', 'jest', '{}'), ['command.jest_patterns', 'warning', 'patterns', '--runTestsByPath']],
  [
    'a glob that leaves out all files',
    {},
    [GLOB, '!src/**'],
    ['list.refused', 'error', 'nothing matches src/**/*.test.js !src/** in', 'give globs (quoted'],
  ],
  [
    'Cypress that divides the files among its own machines',
    {},
    run('npx', 'cypress', 'run', '--parallel', '--spec={,}'),
    ['command.shards', 'error', '--parallel has the service of Cypress', 'leave it out'],
  ],
  [
    'an index with the number of nodes',
    { ...JENKINS, BALLAST_NODE_INDEX: '1/4' },
    GOOD,
    ['identity.node_index', 'error', 'it must be a whole number from 0 on (BALLAST_NODE_INDEX)', 'the index alone, from 0'],
  ],
  ['a package that npx would fetch', {}, run('npx', 'ava', '{}'), ['command.not_installed', 'warning', 'npx finds no ava', 'npm ci']],
  [
    'a reporter that is not installed',
    {},
    run('npx', 'mocha', '--reporter', 'mocha-junit-reporter', '{}'),
    [
      'command.reporter_not_installed',
      'error',
      'the reporter mocha-junit-reporter is not in node_modules',
      'npm install --save-dev mocha-junit-reporter',
    ],
  ],
  [
    'jest-junit, which is not installed',
    node => {
      rmSync(join(node.folder, 'node_modules/jest-junit'), { recursive: true });
      return {};
    },
    GOOD,
    ['command.reporter_not_installed', 'error', 'jest-junit is not in node_modules', 'npm install --save-dev jest-junit'],
  ],
  ['{} within an argument', {}, run('npx', 'cypress', '--spec={}'), ['command.files', 'error', '{} within the argument', '--spec={,}']],
  [
    'a script that does not use its arguments',
    {},
    run('sh', '-c', 'npx jest --runTestsByPath {}'),
    ['command.files', 'error', 'does not use its arguments', '"$@"'],
  ],
  [
    'a script whose first file is $0',
    {},
    run('sh', '-c', 'npx jest --runTestsByPath "$@"', '{}'),
    ['command.refused', 'error', 'as $0', 'put a name before the files'],
  ],
  [
    'a pipe that loses the exit code, without reports',
    {},
    [GLOB, '--', 'sh', '-c', 'npx jest --runTestsByPath "$@" | tee log', 'sh', '{}'],
    ['command.exit_code', 'error', 'failed tests would pass', 'pipefail'],
    ['command.no_reports', 'warning'],
  ],
  [
    'a pipe in a substitution, which loses no exit code',
    {},
    run('sh', '-c', 'npx jest --runTestsByPath $(printf "%s\\n" "$@" | sort)', 'sh', '{}'),
  ],
  [
    'a pipe that loses the exit code, with reports',
    {},
    run('sh', '-c', 'npx jest --runTestsByPath "$@" | tee log', 'sh', '{}'),
    ['command.exit_code', 'warning', 'only failures in reports', 'pipefail'],
  ],
  [
    'no reports',
    {},
    [GLOB, '--', 'pytest', '{}'],
    ['command.no_reports', 'warning', 'divided among its files by estimates', '--junitxml=pytest.xml'],
  ],
  [
    'jest-junit without paths of files',
    { JEST_JUNIT_ADD_FILE_ATTRIBUTE: '' },
    GOOD,
    ['command.jest_junit', 'warning', 'does not write the paths', 'JEST_JUNIT_ADD_FILE_ATTRIBUTE=true'],
  ],
  [
    'jest whose coverage has a threshold, and one file for all batches',
    withFiles([], { 'jest.config.js': 'module.exports = { coverageThreshold: { global: { lines: 80 } } };' }),
    run(...JEST, '--coverage'),
    ['command.coverage_overwritten', 'warning', 'of the one before', 'the reporter json of Jest'],
    ['command.coverage_threshold', 'warning', 'jest.config.js has a threshold', 'give --coverageThreshold={}'],
  ],
  [
    'jest whose configuration has a threshold, without coverage',
    withFiles([], { 'jest.config.js': 'module.exports = { coverageThreshold: { global: { lines: 80 } } };' }),
    GOOD,
  ],
  [
    'vitest with one blob for all batches, and a threshold',
    withFiles([], { 'vitest.config.ts': 'export default { test: { coverage: { thresholds: { lines: 80 } } } };' }),
    run('npx', 'vitest', 'run', '--coverage', '--reporter=blob', '{}'),
    ['command.coverage_overwritten', 'warning', '', '--outputFile.blob=FILE'],
    ['command.coverage_threshold', 'warning', 'vitest.config.ts has', '--coverage.thresholds.lines=0'],
  ],
  [
    'vitest with a threshold that is a comment, and coverage in a folder of each batch',
    withFiles([], { 'vitest.config.ts': '  // thresholds: { lines: 80 }' }),
    run('sh', '-c', 'npx vitest run --coverage --coverage.reportsDirectory="parts/$BALLAST_BATCH" "$@"', 'sh', '{}'),
  ],
  [
    'Playwright with names of blobs, whose folder it empties',
    {},
    run('sh', '-c', 'PLAYWRIGHT_BLOB_OUTPUT_NAME="$BALLAST_BATCH.zip" npx playwright test --reporter blob "$@"', 'sh', '{}'),
    ['command.coverage_overwritten', 'warning', '', 'PLAYWRIGHT_BLOB_OUTPUT_FILE=FILE'],
  ],
  ...[
    '[pytest]\naddopts = -q\n  --cov=app\n  --cov-fail-under=80\n',
    '[pytest]\naddopts = --cov\n[coverage:report]\nfail_under = 80\n',
  ].map(
    (text): Situation => [
      `pytest with ${text.replaceAll('\n', ' ')}`,
      withFiles([], { 'tox.ini': text }),
      run('pytest', '{}'),
      ['command.coverage_overwritten', 'warning', '', 'give --cov-append'],
      ['command.coverage_threshold', 'warning', 'tox.ini has', 'give --cov-fail-under=0'],
    ],
  ),
  [
    'pytest that adds to its coverage, and has no threshold in this command',
    withFiles([], { '.coveragerc': '[report]\nfail_under = 80\n' }),
    run('pytest', '--cov', '--cov-append', '--cov-fail-under=0', '{}'),
  ],
  [
    'SimpleCov with a minimum, and one name for all batches',
    withFiles(['spec/spec_helper.rb'], { 'spec/spec_helper.rb': 'SimpleCov.start { minimum_coverage 80 }' }),
    [GLOB, ...RSPEC],
    ['command.coverage_overwritten', 'warning', '', 'command_name'],
    ['command.coverage_threshold', 'warning', 'spec/spec_helper.rb has', 'lift it where BALLAST_BATCH is set'],
  ],
  [
    'PHPUnit with a file for coverage in its configuration',
    withFiles([], { 'phpunit.xml.dist': '<phpunit><coverage><report><clover outputFile="clover.xml"/></report></coverage></phpunit>' }),
    run('vendor/bin/phpunit', '{}'),
    ['command.coverage_overwritten', 'warning', '', '--coverage-php FILE'],
  ],
  [
    'go test with one profile for all batches',
    {},
    run('go', 'test', '-coverprofile=cover.out', '{}'),
    ['command.coverage_overwritten', 'warning', '', '-coverprofile=FILE'],
  ],
  ...(
    [
      ['test', []],
      ['verify', [['command.coverage_threshold', 'warning', 'pom.xml has', 'BALLAST_BATCH']]],
    ] as [string, Expected[]][]
  ).map(
    ([phase, expected]): Situation => [
      `rules of JaCoCo in mvn ${phase}`,
      withFiles([], { 'pom.xml': '<plugin><artifactId>jacoco-maven-plugin</artifactId><goals><goal>check</goal></goals></plugin>' }),
      run('mvn', phase, '-Dsurefire.includesFile={file}'),
      ...expected,
    ],
  ),
  [
    'rules of JaCoCo in a build of Gradle',
    withFiles([], { 'build.gradle': "plugins { id 'jacoco' }\njacocoTestCoverageVerification { violationRules { } }\n" }),
    run('./gradlew', 'check', '-Dbatch={file}'),
    ['command.coverage_overwritten', 'warning', '', 'destinationFile'],
    ['command.coverage_threshold', 'warning', 'build.gradle has', 'BALLAST_BATCH'],
  ],
  [
    'a branch that a checkout without commits does not tell',
    node => {
      git(node, 'init', '-q');
      return { CI_COMMIT_REF_NAME: '', CI_COMMIT_SHA: '' };
    },
    GOOD,
    ['identity.no_branch', 'error', '', 'no commit yet'],
    ['identity.no_commit_hash', 'error'],
  ],
  [
    'a detached checkout, which does not tell the branch, of another commit',
    node => {
      git(node, 'init', '-q');
      git(node, 'commit', '-q', '--allow-empty', '-m', 'one');
      git(node, 'checkout', '-q', '--detach');
      return { CI_COMMIT_REF_NAME: '' };
    },
    GOOD,
    ['identity.no_branch', 'error', '', 'detached HEAD'],
    ['identity.commit_not_checked_out', 'warning', 'CI_COMMIT_SHA says c0ffee1'],
  ],
  ...[
    ...['https://bot:pass5ord@ballast.example.com', 'bot:pass5ord@127.0.0.1:1', '"http://bot:pass5ord@h"', 'http://bot:pass5ord@h:99999/'],
    ...['http://bot:p@ss5/pass5ord@h', 'https://ballast.example.com/?token=pass5ord'],
  ].map(
    (BALLAST_URL): Situation => [`the address ${BALLAST_URL}`, { BALLAST_URL }, GOOD, ['server.url', 'error', 'is not a server address']],
  ),
  [
    'https where the server speaks http',
    ({ server }) => ({ BALLAST_URL: server.url.replace('http:', 'https:') }),
    GOOD,
    ['server.scheme', 'error', 'the server speaks http, and its address begins with https://', 'set BALLAST_URL=http://127'],
  ],
  [
    'http where the server speaks https',
    async () => ({ BALLAST_URL: (await secureUrl()).replace('https:', 'http:') }),
    GOOD,
    ['server.scheme', 'error', 'the server speaks https', 'set BALLAST_URL=https://'],
  ],
  [
    'a certificate that is not trusted',
    async () => ({ BALLAST_URL: (await secureUrl()).replace('http:', 'https:') }),
    GOOD,
    ['server.certificate', 'error', 'does not trust', 'NODE_EXTRA_CA_CERTS'],
  ],
  [
    'an address with the path of a page',
    ({ server }) => ({ BALLAST_URL: `${server.url}/dashboard` }),
    GOOD,
    ['server.url_path', 'error', '/dashboard', 'set BALLAST_URL=http://127'],
  ],
  [
    'a login page',
    withServer(200, {}, '<html>Log in</html>'),
    GOOD,
    ['server.other_service', 'error', 'not answered by a server of Ballast'],
  ],
  [
    'a redirect',
    withServer(302, { Location: 'https://sso.example.com/' }, ''),
    GOOD,
    ['server.other_service', 'error', 'to https://sso.example.com/'],
  ],
  ['a failing proxy', withServer(502, {}, 'Bad Gateway'), GOOD, ['server.no_answer', 'error', 'it answered 502']],
  ['a proxy that refuses', withServer(403, {}, 'Forbidden'), GOOD, ['server.other_service', 'error', 'refused with 403']],
  [
    'another service',
    withServer(200, {}, '{"status":"ok"}'),
    GOOD,
    ['server.other_service', 'error', 'not answered by a server of Ballast'],
  ],
  [
    'a clock that differs by minutes from that of the server',
    withServer(200, { Date: new Date(Date.now() - 600_000).toUTCString() }, '{"data":[]}'),
    [],
    ['server.clock', 'warning', / 1\d minutes ahead of/],
  ],
  [
    'a list of which the server knows two files',
    withTimes('src/a.test.js', 'src/b.test.js'),
    GOOD,
    ['list.known', 'ok', /^2 of 3 have timings; new, or not in the newest build: src\/lib\/c.test.js$/],
  ],
  ...(
    [
      [
        'another prefix',
        ['packages/app/src/a.test.js', 'packages/app/src/b.test.js'],
        'list.recorded_prefix',
        'with packages/app/ in front',
      ],
      ['no prefix', ['a.test.js', 'b.test.js'], 'list.recorded_prefix', 'without src/ in front'],
      ['other capitals', ['src/A.test.js', 'SRC/b.test.js'], 'list.recorded_case', 'with other capitals'],
      ['another extension', ['src/a.test.ts', 'src/b.test.ts'], 'list.recorded_extension', 'with another extension'],
      ['./ in front', ['./src/a.test.js', './src/b.test.js'], 'list.recorded_slashes', 'without ./'],
      ['backslashes', ['src\\a.test.js', 'src\\b.test.js'], 'list.recorded_slashes', 'with other slashes'],
      ['paths of another suite', ['spec/x_spec.rb', 'spec/y_spec.rb'], 'list.unknown', 'spec/x_spec.rb'],
    ] as const
  ).map(
    ([how, paths, id, sentence]): Situation => [
      `timings that were recorded with ${how}`,
      withTimes(...paths),
      GOOD,
      [id, 'warning', new RegExp(`^0 of 3 have timings.*${sentence}`)],
    ],
  ),
  [
    'timings of a build that recorded few of its files',
    withTimes('src/a.test.js'),
    GOOD,
    ['list.unknown', 'warning', '', 'until verify ends with 0'],
  ],
  [
    'odd paths in a list on stdin',
    ({ folder }) => {
      writeFiles(folder, 'dist/a.test.js', 'node_modules/x/y.test.js');
      return {
        stdin: `./src/a.test.js\nsrc/a.test.js\n${folder}/src/a.test.js\ndist/a.test.js\nnode_modules/x/y.test.js\ngone.js\nsrc\\b.js`,
      };
    },
    ['--stdin'],
    ...['absolute', 'dotted', 'backslashes', 'missing', 'build_output', 'duplicates', 'duplicates'].map(
      (id): Expected => [`list.${id}`, 'warning'],
    ),
  ],
  [
    'names of classes, packages and targets on stdin',
    { stdin: 'shop\nshop::api\na.b.CartTest\nexample.com/shop/cart\n//cart:cart_test' },
    ['--stdin'],
  ],
  ['an empty list on stdin', {}, ['--stdin'], ['list.refused', 'error', 'no test files: stdin names none']],
  [
    'patterns of jest that skip a file',
    withFiles(UNUSUAL),
    run('npx', 'jest', '{}'),
    ['command.jest_patterns', 'error', 'skip src/[id].test.js'],
  ],
  [
    'regular expressions of playwright that skip a file',
    withFiles(UNUSUAL),
    run('npx', 'playwright', 'test', '{}'),
    ['command.playwright_patterns', 'error', 'skip src/[id].test.js'],
  ],
  [
    'substrings of vitest that run a file twice',
    withFiles(['src/src/a.test.js']),
    run('npx', 'vitest', 'run', '{}'),
    ['command.vitest_substrings', 'warning', 'src/a.test.js also runs src/src/a.test.js'],
  ],
  [
    'a script of package.json with traps',
    withScripts({ unit: 'rm -f old.xml; jest --bail --runTestsByPath' }),
    run('npm', 'run', 'unit', '--', '--shard', '1/2', '{}'),
    ['command.shards', 'error'],
    ['command.stops_early', 'warning'],
  ],
  ['a script named t', withScripts(NAMED_T), run('npm', 'run', 't', '--', '{}'), ['command.stops_early', 'warning']],
  ['a script named t, which npm t does not run', withScripts(NAMED_T), run('npm', 't', '--', '{}')],
  ['specs of RSpec', withFiles(SPECS), ['spec/**/*_spec.rb', ...RSPEC]],
  [
    'listed files that RSpec leaves out by its exclude patterns',
    withFiles(SPECS, EXCLUDING),
    ['spec/**/*_spec.rb', ...RSPEC, '--exclude-pattern', 'slow/*_spec.rb,none/*'],
    [
      'command.rspec_excludes',
      'warning',
      '2 listed files that it leaves out without Ballast would run: spec/integration/b_spec.rb, spec/slow/c',
      "leave them out of the list, too: '!spec/integration/**/*_spec.rb' '!spec/{slow/*_spec.rb,none/*}'",
    ],
  ],
  [
    'a list without what RSpec excludes',
    withFiles(SPECS, EXCLUDING),
    ['spec/**/*_spec.rb', '!spec/integration/**/*_spec.rb', '!spec/{slow/*_spec.rb,none/*}', ...RSPEC, '--exclude-pattern=slow/*_spec.rb'],
  ],
];

describe('ballast doctor', () => {
  it.each(situations)('tells %s', async (_, given, args, ...expected) => {
    const node = await setUp();
    const { stdin = '', ...variables } = { ...node.environment, ...(typeof given === 'function' ? await given(node) : given) };
    const dashes = args.includes('--') ? args.indexOf('--') : args.length;
    const run = await runInProcess(['doctor', ...args.slice(0, dashes), '--json', ...args.slice(dashes)], variables, {
      ...{ cwd: node.folder, stdin },
    });
    expect(run).toMatchObject({ stderr: '', stdout: expect.not.stringContaining('pass5ord') as string });
    const { is_ready, findings } = JSON.parse(run.stdout) as { is_ready: boolean; findings: Finding[] };
    const isReady = expected.every(([, level]) => level !== 'error');
    expect({ code: run.code, is_ready, troubles: findings.filter(({ level }) => level !== 'ok').map(({ id }) => id) }).toEqual({
      code: isReady ? 0 : 1,
      is_ready: isReady,
      troubles: expected.filter(([, level]) => level !== 'ok').map(([id]) => id),
    });
    expect(findings.every(({ level, remedy }) => (level === 'ok') === (remedy === null))).toBe(true);
    for (const [id, level, sentence = '', remedy = ''] of expected)
      expect(findings).toContainEqual({
        id,
        level,
        sentence: (typeof sentence === 'string' ? expect.stringContaining(sentence) : expect.stringMatching(sentence)) as string,
        remedy: level === 'ok' ? null : (expect.stringContaining(remedy) as string),
      });
  });

  it('reads all recipes of the guides', () => expect(recipes.length).toBeGreaterThanOrEqual(19));

  it('prints the findings under headings, with what to do below each', async () => {
    const { folder, environment } = await setUp();
    const { code, stdout, stderr } = await runInProcess(['doctor', GLOB], { ...environment, CI_PIPELINE_ID: '' }, { cwd: folder });
    expect({ code, stderr }).toEqual({ code: 1, stderr: '' });
    expect(stdout).toContain('Node and CI run\n  ok       the CI system is GitLab CI\n');
    expect(stdout).toMatch(/\n {2}error {4}the id of the CI run .* is not known.*\n {11}fix: set BALLAST_BUILD_ID/);
    expect(stdout).toMatch(/\n\n1 error: a run would go wrong\n$/);
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
