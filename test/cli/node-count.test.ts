import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { type IdentityOptions, identify } from '../../src/node/ci/identity.js';
import { record, timedTestFiles } from '../harness/messages.js';
import { plainEnvironment } from '../harness/process.js';
import { SharedServer } from '../harness/server.js';
import { BUILD, TestProject } from './test-project.js';

/** The pipelines of the guide: their commands run as written, and their files are read as the CI systems read them. */

const guide = readFileSync(fileURLToPath(new URL('../../../src/docs/faster/node-count.md', import.meta.url)), 'utf8');
const pipelines = new Map(
  [...guide.matchAll(/^```yaml\n# (\S+)\n(.*?)^```/gms)].map(([, file, content]) => [file!, parse(content!) as any]),
);

const shared = new SharedServer();
const NODES = 3;
const FILES = Array.from({ length: 30 }, (_, i) => `spec/${i}_spec.rb`);

/** Runs commands as a CI job does, in a folder with the test files. Each file takes a minute, so 30 of them take three nodes 10 minutes. */
async function jobRunner(more: NodeJS.ProcessEnv = {}) {
  const [server, suite] = [await shared.project(), new TestProject(FILES)];
  await record(server, { ...BUILD, node_total: 1, test_files: timedTestFiles(Object.fromEntries(FILES.map(path => [path, 59]))) });
  const bin = join(suite.folder, 'bin');
  mkdirSync(bin);
  writeFileSync(join(bin, 'buildkite-agent'), '#!/bin/sh\ncp "$3" uploaded.yml\n');
  chmodSync(join(bin, 'buildkite-agent'), 0o755);
  const env = plainEnvironment({ ...suite.environment(server, 0), ...more, PATH: `${bin}:${process.env.PATH}` });
  const run = async (script: string) => {
    const shell = spawn('bash', ['-e', '-c', script], { cwd: suite.folder, env, stdio: ['ignore', 'inherit', 'pipe'] });
    const [stderr, [code]] = await Promise.all([text(shell.stderr), once(shell, 'close')]);
    return { code: code as number, stderr };
  };
  const file = (name: string) => readFileSync(join(suite.folder, name), 'utf8');
  return { run, file };
}

/** As the upload leaves it. */
const buildkiteCommand = (pipelines.get('.buildkite/pipeline.yml')!.steps[0].command as string).replaceAll('$$', () => '$');

const identityOf = (options: IdentityOptions) =>
  identify(['node_index', 'node_total'], { ...options, environment: {} }, { branch: () => null, commitHash: () => null });

describe('a pipeline of the guide', () => {
  it('starts the nodes as a matrix of GitHub Actions', async () => {
    const { plan, tests } = pipelines.get('.github/workflows/tests.yml')!.jobs;
    const { run, file } = await jobRunner({ GITHUB_OUTPUT: 'output' });
    const step = plan.steps.find(({ id }: { id?: string }) => id === 'plan');
    expect(await run(step.run)).toEqual({ code: 0, stderr: '' });
    expect(plan.outputs.matrix).toMatch(/^\$\{\{ steps\.plan\.outputs\.matrix \}\}$/);
    expect(tests.strategy.matrix).toMatch(/^\$\{\{ fromJSON\(needs\.plan\.outputs\.matrix\) \}\}$/);
    const matrix = JSON.parse(/^matrix=(.*)\n$/.exec(file('output'))![1]!) as Record<string, number[]>;
    // A job for each combination of the values.
    const jobs = Object.entries(matrix).reduce<Record<string, number>[]>(
      (all, [name, values]) => all.flatMap(job => values.map(value => ({ ...job, [name]: value }))),
      [{}],
    );
    const identities = jobs.map(job => {
      const value = (name: string) => (tests.env[name] as string).replace(/^\$\{\{ matrix\.(\w+) \}\}$/, (_, key) => String(job[key]));
      return identityOf({ nodeIndex: value('BALLAST_NODE_INDEX'), nodeTotal: value('BALLAST_NODE_TOTAL') });
    });
    expect(identities).toEqual(Array.from({ length: NODES }, (_, node_index) => ({ node_index, node_total: NODES })));
  });

  it('starts the nodes as a child pipeline of GitLab', async () => {
    const { plan, tests } = pipelines.get('.gitlab-ci.yml')!;
    const { run, file } = await jobRunner();
    expect(await run(plan.script.join('\n'))).toEqual({ code: 0, stderr: '' });
    const [{ artifact, job }] = tests.trigger.include;
    expect(plan.artifacts.paths).toEqual([artifact]);
    expect(job).toBe('plan');
    const child = parse(file(artifact));
    const included = child.include.map(({ local }: { local: string }) => pipelines.get(local)).reduce(Object.assign, {});
    const { extends: parent, ...own } = child.tests;
    expect({ ...included[parent], ...own }).toMatchObject({
      parallel: NODES,
      script: [expect.stringContaining('ballast.mjs'), expect.stringContaining('ballast.mjs queue')],
    });
  });

  it('starts the nodes as a step of Buildkite', async () => {
    const { run, file } = await jobRunner();
    expect(await run(buildkiteCommand)).toEqual({ code: 0, stderr: '' });
    expect(parse(file('uploaded.yml'))).toEqual({ steps: [{ label: 'tests', command: '.buildkite/tests', parallelism: NODES }] });
  });

  it('fails if no number of nodes is enough', async () => {
    const { run } = await jobRunner({ GITHUB_OUTPUT: 'output' });
    const scripts = [
      pipelines.get('.github/workflows/tests.yml')!.jobs.plan.steps.at(-1).run,
      pipelines.get('.gitlab-ci.yml')!.plan.script.join('\n'),
      buildkiteCommand,
    ] as string[];
    for (const script of scripts) {
      expect(await run(script.replace('10m', '10s'))).toEqual({ code: 1, stderr: expect.stringContaining('no number of nodes') as string });
    }
  });
});
