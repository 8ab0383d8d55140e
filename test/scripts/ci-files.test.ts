import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { createToken } from '../../src/server/engine/access.js';
import { TestProject } from '../cli/test-project.js';
import { plainEnvironment, type Run } from '../harness/process.js';
import { SharedServer } from '../harness/server.js';
import { stubServer } from '../harness/stub-server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const read = (path: string) => readFileSync(join(root, path), 'utf8');

/** A script as a CI system runs it: the command that reads it from a file, and the variables. */
interface Script {
  shell: readonly string[];
  text: string;
  env: Readonly<Record<string, string>>;
}

/** The values that a user sets for a node. */
interface Inputs {
  url: string;
  token: string;
  files: string;
  command: string;
  reports: string;
  options: string;
  proved: string;
}

/** Of the CI run of one test. */
interface CiRun {
  id: string;
  branch: string;
}

/** A player of a CI system: the script of a node of two, and that of the gate. */
interface System {
  name: string;
  node: (inputs: Inputs, run: CiRun, index: number) => Script;
  gate: (inputs: Pick<Inputs, 'url' | 'token'> & Partial<Pick<Inputs, 'files' | 'proved'>>, run: CiRun) => Script;
  /** Set if the gate writes a report for the page of the tests. */
  hasReport?: true;
}

const COMMIT = 'c0ffee0';
const NODES = 2;

/** The step of an action, with its expressions replaced in its variables. */
function githubStep(path: string, values: Record<string, string>): Script {
  const action = parse(read(path));
  const step = action.runs.steps.find((step: { run?: string }) => step.run);
  const inputs = Object.entries<any>(action.inputs).map(([name, { default: value }]) => [`inputs.${name}`, String(value ?? '')]);
  const known: Record<string, string> = { ...Object.fromEntries(inputs), ...values };
  const evaluate = (text: string): string =>
    text.replace(/\$\{\{ (.+?) \}\}/g, (_, expression: string) => {
      expect(known).toHaveProperty([expression]);
      return evaluate(known[expression]!);
    });
  // A value that is replaced may have an expression only where it is a default of the action.
  const env = Object.fromEntries(
    Object.entries<string>(step.env).map(([name, text]) => {
      const expression = /^\$\{\{ (.+) \}\}$/.exec(text)![1]!;
      return [name, expression in values ? values[expression]! : evaluate(text)];
    }),
  );
  return { shell: ['sh', '-e'], text: step.run, env };
}

const githubVariables = ({ id, branch }: CiRun) => ({
  GITHUB_ACTIONS: 'true',
  GITHUB_RUN_ID: id,
  GITHUB_REF_NAME: branch,
  GITHUB_SHA: COMMIT,
  GITHUB_ACTION_PATH: join(root, 'scripts/ci/github/verify'),
});

const asInputs = (inputs: object) => Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`inputs.${name}`, value]));

const github: System = {
  name: 'GitHub Actions',
  node: (inputs, run, index) => {
    const strategy = { 'strategy.job-index': String(index), 'strategy.job-total': String(NODES) };
    const step = githubStep('scripts/ci/github/action.yml', { ...strategy, ...asInputs(inputs) });
    return { ...step, env: { ...step.env, ...githubVariables(run) } };
  },
  gate: (inputs, run) => {
    const pull = {
      "inputs.comment == 'true' && '--comment' || ''": '',
      "inputs.comment == 'true' && github.token || ''": '',
    };
    const step = githubStep('scripts/ci/github/verify/action.yml', { ...pull, ...asInputs({ wait: '0', ...inputs }) });
    return { ...step, env: { ...step.env, ...githubVariables(run) } };
  },
};

/** The script of a hidden job. GitLab runs all its lines in one shell that stops at an error. */
function gitlabJob(name: string, variables: Record<string, string>, { id, branch }: CiRun): Script {
  const job = parse(read('scripts/ci/gitlab/ballast.yml'))[name];
  const ci = { GITLAB_CI: 'true', CI_PIPELINE_ID: id, CI_COMMIT_REF_NAME: branch, CI_COMMIT_SHA: COMMIT };
  return { shell: ['sh', '-e'], text: job.script.join('\n'), env: { ...job.variables, ...ci, ...variables } };
}

const asVariables = (inputs: object): Record<string, string> =>
  Object.fromEntries(Object.entries(inputs).map(([name, value]) => [`BALLAST_${name.toUpperCase()}`, value]));

const gitlab: System = {
  name: 'GitLab CI',
  hasReport: true,
  node: (inputs, run, index) =>
    gitlabJob('.ballast', { ...asVariables(inputs), CI_NODE_INDEX: String(index + 1), CI_NODE_TOTAL: String(NODES) }, run),
  gate: (inputs, run) => gitlabJob('.ballast-verify', { ...asVariables(inputs), BALLAST_WAIT: '0', CI_NODE_TOTAL: '1' }, run),
};

const circle: System = {
  name: 'CircleCI',
  hasReport: true,
  node: (inputs, run, index) => circleCommand('queue', inputs, run, { CIRCLE_NODE_INDEX: String(index), CIRCLE_NODE_TOTAL: String(NODES) }),
  gate: (inputs, run) => circleCommand('verify', { wait: '0', ...inputs }, run, { CIRCLE_NODE_INDEX: '0', CIRCLE_NODE_TOTAL: '1' }),
};

/** The step of a command of the orb, with its parameters replaced in its variables. */
function circleCommand(
  name: string,
  inputs: Record<string, string> | Inputs,
  { id, branch }: CiRun,
  numbers: Record<string, string>,
): Script {
  const { parameters, steps } = parse(read('scripts/ci/circleci/orb.yml')).commands[name];
  const [{ run: step }] = steps;
  const values = { ...Object.fromEntries(Object.entries<any>(parameters).map(([key, { default: value }]) => [key, value])), ...inputs };
  const env = substituted(step.environment, /^<< parameters\.(.+) >>$/, values);
  const ci = { CIRCLECI: 'true', CIRCLE_WORKFLOW_ID: id, CIRCLE_BRANCH: branch, CIRCLE_SHA1: COMMIT, BALLAST_TOKEN: inputs.token! };
  return { shell: ['bash', '-eo', 'pipefail'], text: step.command, env: { ...env, ...ci, ...numbers } };
}

/** Variables whose whole text is an expression, with its value. */
const substituted = (env: Record<string, string>, expression: RegExp, values: Record<string, any>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(env).map(([name, text]) => {
      const key = expression.exec(text)?.[1];
      if (key === undefined) return [name, text];
      expect(values).toHaveProperty([key]);
      return [name, String(values[key])];
    }),
  );

const buildkite: System = {
  name: 'Buildkite',
  node: ({ command, ...inputs }, run, index) =>
    buildkiteHook(inputs, run, {
      BUILDKITE_COMMAND: command,
      BUILDKITE_PARALLEL_JOB: String(index),
      BUILDKITE_PARALLEL_JOB_COUNT: String(NODES),
    }),
  gate: (inputs, run) => buildkiteHook({ ...inputs, verify: 'true', wait: '0' }, run, { BUILDKITE_COMMAND: '' }),
};

/** The hook of the plugin, with its properties as variables. */
function buildkiteHook({ token, ...inputs }: Record<string, string>, { id, branch }: CiRun, more: Record<string, string>): Script {
  const { properties } = parse(read('scripts/ci/buildkite/plugin.yml')).configuration;
  expect(Object.keys(properties)).toEqual(expect.arrayContaining(Object.keys(inputs)));
  const values = Object.entries(inputs).map(([name, value]) => [
    `BUILDKITE_PLUGIN_BALLAST_${name.replaceAll('-', '_').toUpperCase()}`,
    value,
  ]);
  const ci = { BUILDKITE: 'true', BUILDKITE_BUILD_ID: id, BUILDKITE_BRANCH: branch, BUILDKITE_COMMIT: COMMIT, BALLAST_TOKEN: token! };
  return { shell: ['sh'], text: read('scripts/ci/buildkite/hooks/command'), env: { ...Object.fromEntries(values), ...ci, ...more } };
}

const azure: System = {
  name: 'Azure Pipelines',
  hasReport: true,
  node: (inputs, run, index) =>
    azureStep('ballast', inputs, run, { SYSTEM_JOBPOSITIONINPHASE: String(index + 1), SYSTEM_TOTALJOBSINPHASE: String(NODES) }),
  gate: (inputs, run) => azureStep('verify', { wait: '0', ...inputs }, run, {}),
};

/** The first step of a template, with its parameters replaced in its variables. */
function azureStep(name: string, inputs: Record<string, string> | Inputs, { id, branch }: CiRun, numbers: Record<string, string>): Script {
  const { parameters, steps } = parse(read(`scripts/ci/azure/${name}.yml`));
  const defaults = Object.fromEntries(parameters.map((parameter: any) => [parameter.name, parameter.default]));
  const env = substituted(steps[0].env, /^\$\{\{ parameters\.(.+) \}\}$/, { ...defaults, ...inputs });
  const secret = substituted(env, /^\$\((BALLAST_TOKEN)\)$/, { BALLAST_TOKEN: inputs.token });
  const ci = { TF_BUILD: 'True', BUILD_BUILDID: id, BUILD_SOURCEBRANCH: `refs/heads/${branch}`, BUILD_SOURCEVERSION: COMMIT };
  return { shell: ['bash'], text: steps[0].bash, env: { ...secret, ...ci, ...numbers } };
}

const jenkins: System = {
  name: 'Jenkins',
  hasReport: true,
  node: (inputs, run, index) => jenkinsStep(0, inputs, run, { BALLAST_NODE_INDEX: String(index), BALLAST_NODE_TOTAL: String(NODES) }),
  gate: (inputs, run) => jenkinsStep(1, inputs, run, { BALLAST_WAIT: '0' }),
};

/** A shell step of the library. Groovy reads a backslash within, so there must be none. */
function jenkinsStep(step: number, inputs: object, { id, branch }: CiRun, more: Record<string, string>): Script {
  const steps = [...read('scripts/ci/jenkins/vars/ballast.groovy').matchAll(/sh '''\n(.*?)'''/gs)].map(([, script]) => script!);
  expect(steps).toHaveLength(2);
  expect(steps.join('')).not.toContain('\\');
  const ci = { JENKINS_URL: 'http://127.0.0.1:1', BUILD_TAG: id, GIT_BRANCH: branch, GIT_COMMIT: COMMIT, BALLAST_NEWLINE: '\n' };
  return { shell: ['sh', '-xe'], text: steps[step]!, env: { ...asVariables(inputs), ...ci, ...more } };
}

const systems = [github, gitlab, circle, buildkite, azure, jenkins];

/** Runs a script in a folder. GitHub has a folder for temporary files, and one for the summary of a job. @param kept the client of an earlier job */
async function play(
  { shell, text: script, env }: Script,
  cwd: string,
  more: Record<string, string> = {},
  kept?: Buffer,
): Promise<Run & { temp: string; client: string }> {
  const temp = temporaryFolder();
  const file = join(temp, 'script');
  const client = join(script.includes('$RUNNER_TEMP/ballast.mjs') ? temp : cwd, 'ballast.mjs');
  if (kept) writeFileSync(client, kept);
  writeFileSync(file, script);
  const files = { RUNNER_TEMP: temp, GITHUB_OUTPUT: join(temp, 'output'), GITHUB_STEP_SUMMARY: join(temp, 'summary') };
  const [command, ...args] = shell;
  const child = spawn(command!, [...args, file], {
    cwd,
    env: plainEnvironment({ ...files, BALLAST_RETRIES: '0', ...env, ...more }),
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
  return { code: code as number | null, stdout, stderr, temp, client };
}

/** Names that a shell or a runner of YAML could take for something else. */
const HOSTILE = [
  't/$(touch pwned).sh',
  't/`touch pwned`.sh',
  't/a b.sh',
  't/"; touch pwned; ".sh',
  "t/it's.sh",
  // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub Actions
  't/${{ x }}.sh',
  't/{,}.sh',
];
const PLAIN = ['t/a.sh', 't/b.sh', 't/c.sh', 't/d.sh', 't/e.sh', 't/f.sh'];

const program = readFileSync(join(root, 'dist/src/ballast.mjs'));

/** Answers of servers, or of proxies before them, that have no client to hand out. */
const SERVERS = {
  down: (_, response) => void response.destroy(),
  'cutting its answers': (_, response) => {
    response.writeHead(200, { 'content-length': program.length });
    response.write(program.subarray(0, program.length / 2), () => response.destroy());
  },
  'without a client': (_, response) => void response.writeHead(404).end('console.log("ran")'),
  'behind a sign-in page': (_, response) => void response.end('<!doctype html><title>Sign in</title>'),
  'behind a proxy that answers {}': (_, response) => void response.end('{}'),
  'behind a proxy that answers nothing': (_, response) => void response.end(),
} satisfies Record<string, RequestListener>;

const addressOf = ({ url, token }: { url: string; token: string }) => ({ url, token });

const inputsFor = (server: { url: string; token: string }, more: Partial<Inputs> = {}): Inputs => ({
  url: server.url,
  token: server.token,
  files: 't/*.sh',
  command: 'sh runner.sh "$@"',
  reports: '',
  options: '',
  proved: 'false',
  ...more,
});

/** A node that is killed stays so: in time, others would run its files. */
const server = new SharedServer({ leaseSeconds: '0' });

describe.each(systems)('the ready-made part for $name', ({ node, gate, hasReport }) => {
  const variables = (project: TestProject, more: Record<string, string> = {}) => ({
    RAN: project.environment(server, 0).RAN!,
    ...more,
  });

  it('runs each file once on two nodes, and its gate is green', async () => {
    const ballast = await server.project();
    const run: CiRun = { id: '71', branch: 'main' };
    const projects = [0, 1].map(() => new TestProject([...PLAIN, 'u/other.sh', 't/not.sh']));
    const inputs = inputsFor(ballast, { files: 't/*.sh\nu/*.sh\n\n!t/not.sh\n', reports: 'reports/*.xml', options: '--fail-unreported\n' });
    const nodes = await Promise.all(
      projects.map((project, i) => play(node(inputs, run, i), project.folder, variables(project, { REPORT: 'reports/%.xml' }))),
    );
    expect(nodes.map(({ code, stderr }) => ({ code, stderr }))).toEqual([
      { code: 0, stderr: expect.any(String) },
      { code: 0, stderr: expect.any(String) },
    ]);
    expect(projects.flatMap(({ ran }) => ran).sort()).toEqual([...PLAIN, 'u/other.sh']);
    expect(await play(gate(addressOf(ballast), run), temporaryFolder())).toMatchObject({
      code: 0,
      stdout: expect.stringContaining('complete: 7 of 7 test files'),
    });
    for (const { stdout, stderr } of nodes) expect(stdout + stderr).not.toContain(ballast.token);
  });

  it('has a red gate that names the files of a node that was killed', async () => {
    const ballast = await server.project();
    const run: CiRun = { id: '72', branch: 'main' };
    const [killed, other] = [new TestProject(PLAIN), new TestProject(PLAIN)];
    // The parent of the command is the client.
    const lost = await play(node(inputsFor(ballast, { command: 'kill -9 $PPID "$@"' }), run, 0), killed.folder, variables(killed));
    expect(lost.code).not.toBe(0);
    expect(await play(node(inputsFor(ballast), run, 1), other.folder, variables(other))).toMatchObject({ code: 0 });
    const missing = PLAIN.filter(file => !other.ran.includes(file));
    const folder = temporaryFolder();
    const verified = await play(gate(addressOf(ballast), run), folder);
    expect(verified.code).toBe(1);
    expect(missing).not.toEqual([]);
    const report = hasReport ? readFileSync(join(folder, 'ballast-verify.xml'), 'utf8') : verified.stdout;
    for (const file of missing) {
      expect(verified.stdout).toContain(file);
      expect(report).toContain(file);
    }
  });

  it('runs nothing, and its gate is green, if a CI run has proved the very tree', async () => {
    const ballast = await server.project();
    const project = new TestProject(PLAIN);
    const git = (...args: string[]) => execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: project.folder });
    writeFileSync(join(project.folder, '.gitignore'), 'ballast*\n');
    for (const args of ['init -q', 'add -A', 'commit -q -m x']) git(...args.split(' '));
    const inputs = inputsFor(ballast, { files: '!t/f.sh\nt/*.sh\n', proved: 'true' });
    const { files, proved } = inputs;
    const playAll = async (id: string) => {
      const run: CiRun = { id, branch: 'main' };
      const runs = [];
      for (const i of [0, 1]) runs.push(await play(node(inputs, run, i), project.folder, variables(project)));
      runs.push(await play(gate({ ...addressOf(ballast), files, proved }, run), project.folder, variables(project)));
      expect(runs.map(({ code, stderr }) => (code === 0 ? code : stderr))).toEqual([0, 0, 0]);
      return runs.map(({ stdout }) => /^proved: 5 test files passed/m.test(stdout));
    };
    // What ran on the first node is all.
    expect(await playAll('91')).toEqual([false, true, true]);
    expect(project.ran.sort()).toEqual(PLAIN.slice(0, 5));
    expect(await playAll('92')).toEqual([true, true, true]);
    expect(project.ran).toHaveLength(5);
    writeFileSync(join(project.folder, 't/a.sh'), 'changed');
    expect((await playAll('93')).slice(0, 2)).toEqual([false, false]);
    expect(project.ran).toHaveLength(10);
  });

  it('takes quotes, substitutions and line breaks in names of files and branches as they are', async () => {
    const ballast = await server.project();
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub Actions
    const run: CiRun = { id: '73', branch: 'a"; touch pwned; $(touch pwned) `touch pwned`\n::error::x\n${{ github.token }}' };
    const project = new TestProject(HOSTILE);
    // The client would replace {,} in an argument.
    const command = ': {,}\nsh runner.sh "$@"';
    const folders = [project.folder, temporaryFolder()];
    expect(await play(node(inputsFor(ballast, { command }), run, 0), folders[0]!, variables(project))).toMatchObject({ code: 0 });
    expect(project.ran.sort()).toEqual([...HOSTILE].sort());
    expect(await play(gate(addressOf(ballast), run), folders[1]!)).toMatchObject({ code: 0 });
    for (const folder of folders) expect(existsSync(join(folder, 'pwned'))).toBe(false);
  });

  it('is red when a line of a command fails, or a test', async () => {
    const ballast = await server.project();
    const project = new TestProject(PLAIN);
    const failing = node(inputsFor(ballast, { command: 'false\nsh runner.sh "$@"' }), { id: '74', branch: 'main' }, 0);
    expect(await play(failing, project.folder, variables(project))).toMatchObject({ code: 1 });
    expect(project.ran).toEqual([]);
    const red = await play(
      node(inputsFor(ballast), { id: '75', branch: 'main' }, 0),
      project.folder,
      variables(project, { FAILING: 't/a.sh' }),
    );
    expect(red.code).toBe(1);
  });

  it('is red when the command does not name the files of the batch', async () => {
    const project = new TestProject(PLAIN);
    for (const command of ['', 'sh runner.sh {}']) {
      const refused = await play(node(inputsFor(server, { command }), { id: '76', branch: 'main' }, 0), project.folder, variables(project));
      expect(refused).toMatchObject({ code: 2, stderr: expect.stringContaining('has no "$@"') });
    }
    expect(project.ran).toEqual([]);
  });

  it('is red, and runs nothing, when the server hands out no client, and none is kept', async () => {
    const project = new TestProject(PLAIN);
    const inputs = inputsFor(
      { url: await stubServer(SERVERS['behind a proxy that answers {}']), token: 'a-token' },
      { options: '--fallback' },
    );
    for (const script of [node(inputs, { id: '77', branch: 'main' }, 0), gate(addressOf(inputs), { id: '77', branch: 'main' })]) {
      const failed = await play(script, project.folder, variables(project));
      expect(failed).toMatchObject({ code: 1, stdout: '', stderr: expect.stringContaining(`${inputs.url} handed out no client`) });
      expect(failed.stderr).not.toContain('a-token');
    }
    expect(project.ran).toEqual([]);
  });

  it('runs everything with the kept client when the server is down and it may fall back, and nothing when it may not', async () => {
    const inputs = { url: await stubServer(SERVERS.down), token: 'a-token' };
    const run: CiRun = { id: '78', branch: 'main' };
    const project = new TestProject(PLAIN);
    const playWith = (options: string) => play(node(inputsFor(inputs, { options }), run, 0), project.folder, variables(project), program);
    expect(await playWith('')).toMatchObject({ code: 3 });
    expect(project.ran).toEqual([]);
    expect(await playWith('--fallback')).toMatchObject({ code: 0, stderr: expect.stringContaining('this node runs all 6 test files') });
    expect(project.ran.sort()).toEqual(PLAIN);
    expect(await play(gate(addressOf(inputs), run), project.folder, {}, program)).toMatchObject({ code: 3 });
  });
});

it.each([circle, buildkite])('the part for $name takes the public token where there is no secret', async ({ node, gate }) => {
  const ballast = await server.project();
  const token = await createToken(server.store.access, ballast.id, Date.now(), { isPublic: true });
  const address = { url: ballast.url, token: '', 'public-token': token };
  const run: CiRun = { id: '80', branch: 'patch' };
  const projects = [0, 1].map(() => new TestProject(PLAIN));
  for (const [i, project] of projects.entries()) {
    const inputs = { ...inputsFor(address), 'public-token': token };
    expect(await play(node(inputs, run, i), project.folder, { RAN: project.environment(server, 0).RAN! })).toMatchObject({ code: 0 });
  }
  expect(projects.flatMap(({ ran }) => ran).sort()).toEqual(PLAIN);
  const warning = expect.stringContaining('warning: a public token ran this CI run') as string;
  expect(await play(gate(address, run), temporaryFolder())).toMatchObject({ code: 0, stdout: warning });
});

describe('the client that an earlier job left', () => {
  const kept = Buffer.from('process.exit(9)');
  const playWith = (url: string, left?: Buffer) =>
    play(gitlab.node(inputsFor({ url, token: 'a-token' }), { id: '79', branch: 'main' }, 0), temporaryFolder(), {}, left);

  it.each(Object.entries<RequestListener>(SERVERS))(
    'is kept, and runs, when the server is %s; without it nothing runs',
    async (_, listener) => {
      const url = await stubServer(listener);
      const { client, code } = await playWith(url, kept);
      expect({ code, text: readFileSync(client, 'utf8') }).toEqual({ code: 9, text: kept.toString() });
      expect(await playWith(url)).toMatchObject({ code: 1, stdout: '' });
    },
  );

  it('is what the caches of GitHub and GitLab keep, on GitHub one for each client', async () => {
    const [restore, , save] = parse(read('scripts/ci/github/action.yml')).runs.steps;
    // biome-ignore lint/suspicious/noTemplateCurlyInString: an expression of GitHub Actions
    expect([restore.with.path, save.with.path]).toEqual(Array(2).fill('${{ runner.temp }}/ballast.mjs'));
    const inputs = inputsFor({ url: await stubServer(SERVERS.down), token: 'a-token' });
    const output = async (left: Buffer) => {
      const { temp } = await play(github.node(inputs, { id: '79', branch: 'main' }, 0), temporaryFolder(), {}, left);
      return readFileSync(join(temp, 'output'), 'utf8');
    };
    const keys = [await output(kept), await output(kept), await output(Buffer.from('process.exit(8)'))];
    for (const key of keys) expect(key).toMatch(/^client=ballast-client-\d+-\d+\n$/);
    expect(new Set(keys).size).toBe(2);
    expect(restore.with['restore-keys']).toBe('ballast-client-');
    const [, cache] = /`cache: (\{.*?\})`/.exec(read('src/docs/connect/ready-made.md'))!;
    expect(parse(cache!)).toMatchObject({ paths: ['ballast.mjs'] });
  });

  it('is replaced when the server hands out another', async () => {
    expect(readFileSync((await playWith(server.url, kept)).client)).toEqual(program);
  });
});

describe('the action for the number of nodes on GitHub', () => {
  const planStep = (inputs: Record<string, string>) => githubStep('scripts/ci/github/plan/action.yml', asInputs(inputs));

  it('has the matrix of the nodes as its output', async () => {
    const ballast = await server.project();
    const folder = temporaryFolder();
    const output = join(folder, 'output');
    const step = planStep({ ...addressOf(ballast), files: 't/*.sh\n!t/f.sh\n', options: '--nodes=3\n--default=3\n--branch=main' });
    expect(await play(step, new TestProject(PLAIN).folder, { GITHUB_OUTPUT: output })).toMatchObject({ code: 0 });
    expect(readFileSync(output, 'utf8')).toBe('matrix={"node_index":[0,1,2],"node_total":[3]}\n');
  });

  it('is red, and has no output, when no build is known', async () => {
    const ballast = await server.project();
    const folder = temporaryFolder();
    const output = join(folder, 'output');
    const step = planStep({ ...addressOf(ballast), options: '--branch=main' });
    expect((await play(step, folder, { GITHUB_OUTPUT: output })).code).not.toBe(0);
    expect(existsSync(output)).toBe(false);
  });
});

describe('the action for the gate on GitHub', () => {
  const MARKER = '<!-- ballast tests gate -->';

  /** Plays the comments of a pull request. */
  async function startGitHub(comments: { id: number; user: { type: string }; body: string }[], status = 200) {
    const calls: string[] = [];
    const url = await stubServer(async (request, response) => {
      const body = await text(request);
      calls.push(`${request.method} ${request.url!.split('?')[0]}`);
      if (status === 200 && request.method === 'POST') comments.push({ id: 9, user: { type: 'Bot' }, body: JSON.parse(body).body });
      if (request.method === 'PATCH') Object.assign(comments.find(({ id }) => request.url!.endsWith(`/${id}`))!, JSON.parse(body));
      const authorized = request.headers.authorization === 'Bearer gh';
      // The token of a job is no user's.
      const answered = request.url!.startsWith('/user') ? 403 : status;
      response
        .writeHead(authorized ? answered : 401, { 'content-type': 'application/json' })
        .end(JSON.stringify(request.method === 'GET' ? comments : {}));
    });
    return { url, calls };
  }

  async function gate(api: string) {
    const ballast = await server.project();
    const run: CiRun = { id: '81', branch: 'main' };
    const project = new TestProject(PLAIN);
    await play(github.node(inputsFor(ballast), run, 0), project.folder, { RAN: project.environment(server, 0).RAN! });
    const script = github.gate(addressOf(ballast), run);
    const env = {
      COMMENT: '--comment',
      GITHUB_REF: 'refs/pull/12/merge',
      GITHUB_TOKEN: 'gh',
      GITHUB_API_URL: api,
      GITHUB_REPOSITORY: 'o/r',
      GITHUB_WORKFLOW: 'tests',
      GITHUB_JOB: 'gate',
    };
    return () => play({ ...script, env: { ...script.env, ...env } }, temporaryFolder());
  }

  it('writes the summary of the job', async () => {
    const { temp, code } = await (await gate('http://127.0.0.1:1'))();
    expect(code).toBe(0);
    expect(readFileSync(join(temp, 'summary'), 'utf8')).toMatch(/^### Tests: /);
  });

  it('annotates files by their paths in the checkout, without a checkout', async () => {
    const ballast = await server.project();
    const run: CiRun = { id: '82', branch: 'main' };
    const project = new TestProject(PLAIN);
    await play(github.node(inputsFor(ballast, { command: 'kill -9 $PPID "$@"' }), run, 0), project.folder);
    const workspace = realpathSync(temporaryFolder());
    const env = { GITHUB_WORKSPACE: workspace, BALLAST_FOLDER: 'apps/the web' };
    const { code, stdout } = await play(github.gate(addressOf(ballast), run), workspace, env);
    expect(code).toBe(1);
    expect(stdout).toContain('::error file=apps/the web/t/a.sh,title=Test file not recorded::t/a.sh (');
  });

  it('writes one comment, and updates it in later runs', async () => {
    const foreign = [
      { id: 1, user: { type: 'User' }, body: `${MARKER}\nnot of an app` },
      { id: 2, user: { type: 'Bot' }, body: '<!-- ballast tests other --> of another job' },
    ];
    const comments = structuredClone(foreign);
    const { url, calls } = await startGitHub(comments);
    const verify = await gate(url);
    expect(await verify()).toMatchObject({ code: 0 });
    expect(await verify()).toMatchObject({ code: 0 });
    const issues = '/repos/o/r/issues';
    expect(calls).toEqual([
      'GET /user',
      `GET ${issues}/12/comments`,
      `POST ${issues}/12/comments`,
      'GET /user',
      `GET ${issues}/12/comments`,
      `PATCH ${issues}/comments/9`,
    ]);
    expect(comments).toEqual([...foreign, { id: 9, user: { type: 'Bot' }, body: expect.stringMatching(`^${MARKER}\n### Tests: `) }]);
  });

  it('tells in a warning that it may not comment, and stays green', async () => {
    const { url } = await startGitHub([], 403);
    const { code, stdout, stderr } = await (await gate(url))();
    expect({ code, isWarned: /^::warning title=Ballast::.*pull-requests: write/m.test(stderr) }).toEqual({ code: 0, isWarned: true });
    expect(stdout + stderr).not.toContain('Bearer');
  });
});

const ciFiles = readdirSync(join(root, 'scripts/ci'), { recursive: true, withFileTypes: true })
  .filter(entry => entry.isFile())
  .map(entry => join(entry.parentPath, entry.name));

describe('the files of the guide', () => {
  const blocks = [...read('src/docs/connect/ready-made.md').matchAll(/^```(yaml|groovy)\n(.*?)^```/gms)];

  it('parse, and have a first job of at most ten lines', () => {
    const jobs = blocks.flatMap(([, language, block]) => {
      if (language === 'yaml') parse(block!);
      const lines = block!.split('\n');
      const begin = lines.findIndex(line => /^ *(- )?(test:|job: test$|label: tests$|ballast\()/.test(line));
      const indent = lines[begin]!.search(/\S/);
      const rest = lines.slice(begin + 1);
      return [1 + rest.findIndex(line => line.search(/\S/) <= indent)];
    });
    expect(jobs).toHaveLength(systems.length);
    for (const lines of jobs) expect(lines).toBeLessThanOrEqual(10);
  });

  it('set only inputs that the parts have', () => {
    const [githubJobs, gitlabJobs, circleJobs, buildkiteSteps, azureJobs] = blocks
      .map(([, , block]) => block!)
      .slice(0, 5)
      .map(block => parse(block));
    const set = (value: object) => Object.keys(value);
    const inputsOf = (path: string) => set(parse(read(path)).inputs);
    expect(inputsOf('scripts/ci/github/action.yml')).toEqual(expect.arrayContaining(set(githubJobs.jobs.test.steps.at(-1).with)));
    expect(inputsOf('scripts/ci/github/verify/action.yml')).toEqual(expect.arrayContaining(set(githubJobs.jobs.gate.steps.at(-1).with)));
    for (const name of set(gitlabJobs.test.variables)) expect(read('scripts/ci/gitlab/ballast.yml')).toContain(name);
    const { commands } = parse(read('scripts/ci/circleci/orb.yml'));
    expect(set(commands.queue.parameters)).toEqual(expect.arrayContaining(set(circleJobs.jobs.test.steps.at(-1)['ballast/queue'])));
    expect(set(commands.verify.parameters)).toEqual(expect.arrayContaining(set(circleJobs.jobs.gate.steps.at(-1)['ballast/verify'])));
    const { properties } = parse(read('scripts/ci/buildkite/plugin.yml')).configuration;
    for (const step of buildkiteSteps.steps)
      for (const plugin of step.plugins ?? [])
        expect(set(properties)).toEqual(expect.arrayContaining(set(Object.values<object>(plugin)[0]!)));
    for (const [i, name] of ['ballast', 'verify'].entries()) {
      const parameters = parse(read(`scripts/ci/azure/${name}.yml`)).parameters.map((parameter: any) => parameter.name);
      expect(parameters).toEqual(expect.arrayContaining(set(azureJobs.jobs[i].steps.at(-1).parameters)));
    }
  });
});

describe('the files of scripts/ci', () => {
  const yamlFiles = ciFiles.filter(path => path.endsWith('.yml'));

  it.each(yamlFiles)('parse: %s', path => {
    expect(parseAllDocuments(readFileSync(path, 'utf8')).flatMap(document => ('errors' in document ? document.errors : []))).toEqual([]);
  });

  it('have no expression of GitHub in a script', () => {
    for (const path of yamlFiles.filter(path => path.endsWith('action.yml')))
      for (const { run = '' } of parse(readFileSync(path, 'utf8')).runs.steps) expect(run).not.toContain('${{');
  });

  it('have scripts that a shell can read', async () => {
    const run: CiRun = { id: '1', branch: 'main' };
    for (const { node, gate } of systems)
      for (const { text: script } of [node(inputsFor(server), run, 0), gate(addressOf(server), run)]) {
        const child = spawn('sh', ['-n'], { stdio: ['pipe', 'ignore', 'pipe'] });
        child.stdin.end(script);
        const [stderr, [code]] = await Promise.all([text(child.stderr), once(child, 'close')]);
        expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
      }
  });
});
