import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { TestProject } from '../cli/test-project.js';
import type { Client } from '../harness/client.js';
import { plainEnvironment } from '../harness/process.js';
import { SharedServer } from '../harness/server.js';

/** The files that the guide prints, by the path in the first line of each. */
const printed = new Map(
  [
    ...readFileSync(fileURLToPath(new URL('../../../src/docs/faster/node-count.md', import.meta.url)), 'utf8').matchAll(
      /^```yaml\n# (\S+)\n(.*?)^```/gms,
    ),
  ].map(([, path, yaml]) => [path!, parse(yaml!)]),
);

type Variables = Record<string, string>;

/** Runs lines in a shell that stops at an error. Throws when they fail. */
type RunLines = (lines: string, variables?: Variables) => Promise<void>;

/** A player of a CI system: runs the job that plans, and returns the script of a test job with the variables of each. */
interface System {
  name: string;
  plan: (run: RunLines, folder: string) => Promise<{ script: string; nodes: Variables[] }>;
}

const github: System = {
  name: 'GitHub Actions',
  async plan(run, folder) {
    const { plan, tests } = printed.get('.github/workflows/tests.yml').jobs;
    await run(plan.steps.at(-1).run, { GITHUB_OUTPUT: join(folder, 'output') });
    const { node_index, node_total } = JSON.parse(readFileSync(join(folder, 'output'), 'utf8').split('matrix=').at(-1)!);
    const script = tests.steps.flatMap((step: { run?: string }) => step.run ?? []).join('\n');
    return {
      script,
      nodes: node_index.map((index: number) => ({ BALLAST_NODE_INDEX: String(index), BALLAST_NODE_TOTAL: String(node_total[0]) })),
    };
  },
};

const gitlab: System = {
  name: 'GitLab',
  async plan(run, folder) {
    await run(printed.get('.gitlab-ci.yml').plan.script.join('\n'));
    const { include, tests } = parse(readFileSync(join(folder, 'tests.yml'), 'utf8'));
    const script = printed.get(include[0].local)[tests.extends].script.join('\n');
    const nodes = Array.from({ length: tests.parallel }, (_, i) => ({
      GITLAB_CI: 'true',
      CI_NODE_INDEX: String(i + 1),
      CI_NODE_TOTAL: String(tests.parallel),
    }));
    return { script, nodes };
  },
};

/** The upload replaces the variables of the first pipeline, in which $$ is a dollar sign. */
const uploaded = (step: { command: string }) => step.command.replaceAll('$$', '$');

const buildkite: System = {
  name: 'Buildkite',
  async plan(run, folder) {
    await run(uploaded(printed.get('.buildkite/pipeline.yml').steps[0]));
    const [step] = parse(readFileSync(join(folder, 'tests.yml'), 'utf8')).steps;
    expect(uploaded(step)).toBe('.buildkite/tests');
    const nodes = Array.from({ length: step.parallelism }, (_, i) => ({
      BUILDKITE: 'true',
      BUILDKITE_PARALLEL_JOB: String(i),
      BUILDKITE_PARALLEL_JOB_COUNT: String(step.parallelism),
    }));
    // The script is the user's own.
    return { script: printed.get('.gitlab/tests.yml')['.tests'].script.join('\n'), nodes };
  },
};

/** In the place of `bundle exec rspec --format json --out FILE TEST...` */
const BUNDLE = `#!/usr/bin/env node
const [, , , , , out, ...files] = process.argv.slice(1);
const examples = files.map(file => ({ id: './' + file + '[1:1]', file_path: './' + file, status: 'passed', run_time: 0.25 }));
const summary = { example_count: files.length, errors_outside_of_examples_count: 0 };
require('node:fs').writeFileSync(out, JSON.stringify({ version: '3.13.0', examples, summary }));
`;

const FILES = ['a', 'b', 'c', 'd', 'e'].map(name => `spec/${name}_spec.rb`);

const server = new SharedServer();

describe.each([github, gitlab, buildkite])('the pipeline of the guide for $name', ({ plan }) => {
  /** Plays one pipeline. Returns the number of its nodes. */
  async function play(project: Client, { folder }: TestProject, buildId: string): Promise<number> {
    const bin = join(folder, 'bin');
    mkdirSync(bin, { recursive: true });
    for (const [name, script] of [
      ['bundle', BUNDLE],
      ['buildkite-agent', '#!/bin/sh\n'],
    ]) {
      writeFileSync(join(bin, name!), script!);
      chmodSync(join(bin, name!), 0o755);
    }
    const run: RunLines = async (lines, variables = {}) => {
      const env = plainEnvironment({
        PATH: `${bin}:${process.env.PATH}`,
        BALLAST_URL: project.url,
        BALLAST_TOKEN: project.token,
        BALLAST_BRANCH: 'main',
        BALLAST_COMMIT_HASH: 'c0ffee',
        BALLAST_BUILD_ID: buildId,
        ...variables,
      });
      const child = spawn('bash', ['-e', '-o', 'pipefail', '-c', lines], { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
      const [output, [code]] = await Promise.all([text(child.stderr), once(child, 'close'), text(child.stdout)]);
      if (code !== 0) throw new Error(`${lines}\nended with ${code}: ${output}`);
    };
    const { script, nodes } = await plan(run, folder);
    for (const variables of nodes) await run(script, variables);
    return nodes.length;
  }

  it('starts the default number of nodes in a project without builds, and what the recorded build needs after it', async () => {
    const [project, suite] = [await server.project(), new TestProject(FILES)];
    expect(await play(project, suite, '1')).toBe(8);
    const [build] = (await project.get('/v1/builds')).json.data;
    const { build_subsets } = (await project.get(`/v1/builds/${build.id}`)).json;
    const recorded = build_subsets.flatMap(({ test_files }: { test_files: { path: string }[] }) => test_files.map(({ path }) => path));
    expect(recorded.sort()).toEqual(FILES);
    expect(await play(project, suite, '2')).toBe(1);
  });
});
