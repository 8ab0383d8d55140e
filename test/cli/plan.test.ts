import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import type { Client } from '../harness/client.js';
import { record, timedTestFiles } from '../harness/messages.js';
import { ended, printed, said } from '../harness/process.js';
import { SharedServer } from '../harness/server.js';
import { BUILD, TestProject, unreachableServer } from './test-project.js';

const shared = new SharedServer();

/** A project with one file of 40 s and 40 of 2 s. */
async function projectWithTimes(): Promise<Client> {
  const server = await shared.project();
  const short = Array.from({ length: 40 }, (_, i) => [`spec/${i}_spec.rb`, 2] as const);
  await record(server, { ...BUILD, node_total: 1, test_files: timedTestFiles({ 'spec/long_spec.rb': 40, ...Object.fromEntries(short) }) });
  return server;
}

async function planner() {
  const [server, suite] = [await projectWithTimes(), new TestProject([])];
  return (...args: string[]) => suite.run(server, 0, ['plan', '--pull-cost', '0', ...args]);
}

describe('ballast plan', () => {
  it('prints a table of the newest build, in which the useful number is marked', async () => {
    const plan = await planner();
    const { code, stdout, stderr } = await plan('--nodes', '2..4');
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(stdout.split('\n').slice(0, 8)).toEqual([
      '41 test files: 2 m 00 s in all, the longest is spec/long_spec.rb with 40 s',
      '',
      'nodes  wall time  node-minutes  ratio to the floor',
      '    2       60 s           2.0  1.000',
      '  * 3       40 s           2.0  1.000',
      '    4       40 s           2.0  1.000 (longest file)',
      '',
      '* more than 3 nodes bring little',
    ]);
    expect(stdout).toContain('\nEach file takes its estimate.\n');
  });

  it('says the useful number in a sentence where the table does not have it', async () => {
    const plan = await planner();
    const { stdout } = await plan('--nodes', '1,2');
    expect(stdout).toContain('\nMore than 3 nodes bring little.\n');
    expect(stdout).not.toContain('*');
  });

  it('prints the number of nodes to start, and nothing else', async () => {
    const plan = await planner();
    expect(await plan('--within', '1m')).toEqual(printed('2\n'));
    expect(await plan('--within', '59s', '--mode', 'split')).toEqual(printed('3\n'));
  });

  it('ends with 1 and the reason when no number of nodes is enough', async () => {
    const plan = await planner();
    expect(await plan('--within', '30s')).toEqual(
      said(1, 'no number of nodes ends within 30 s: spec/long_spec.rb alone takes 40 s; divide it, or run it in pieces: queue --pieces'),
    );
    expect((await plan('--within', '50s', '--nodes', '1,2', '--format', 'github')).stderr).toBe(
      'ballast: no number of nodes ends within 50 s: 2 nodes would take 60 s, the least of 1 to 2 nodes\n',
    );
  });

  it('forecasts the files that globs name, or a list on stdin', async () => {
    const [server, suite] = [await projectWithTimes(), new TestProject(['spec/1_spec.rb', 'spec/2_spec.rb', 'spec/long_spec.rb'])];
    const files = async (args: string[], stdin = '') =>
      JSON.parse((await suite.run(server, 0, ['plan', ...args, '--json'], {}, stdin)).stdout).files as number;
    expect(await files(['spec/*_spec.rb'])).toBe(3);
    expect(await files(['--stdin'], 'spec/3_spec.rb\nspec/new_spec.rb\n')).toBe(2);
    expect(await files([])).toBe(41);
  });

  it('has more nodes for the same suite when its jobs start faster', async () => {
    const plan = await planner();
    const useful = async (...args: string[]) => JSON.parse((await plan('--json', ...args)).stdout).useful_nodes as number;
    expect(await useful('--setup', '3m')).toBe(1);
    expect(await useful('--setup', '0s')).toBe(3);
  });

  describe('while most test files were never measured', () => {
    const files = ['spec/1_spec.rb', ...['a', 'b', 'c'].map(name => `spec/new/${name}_spec.rb`)];
    const unknown = '3 of 4 test files were never measured';
    const asked = ['plan', 'spec/**/*_spec.rb', '--within', '10m'];

    it('starts the default number of nodes, and says why', async () => {
      const [server, suite] = [await projectWithTimes(), new TestProject(files)];
      const { code, stdout, stderr } = await suite.run(server, 0, [...asked, '--default', '5']);
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '5\n', stderr: `ballast: ${unknown}: --default, 5 nodes\n` });
    });

    it('ends with 1 without a default, and prints no number', async () => {
      const [server, suite] = [await projectWithTimes(), new TestProject(files)];
      expect(await suite.run(server, 0, asked)).toEqual(
        said(1, `the number of nodes is not known, because ${unknown}: give --default N, the nodes to start until builds are recorded`),
      );
    });

    it('says how many are a guess when they are fewer', async () => {
      const [server, suite] = [await projectWithTimes(), new TestProject(['spec/1_spec.rb', 'spec/2_spec.rb', 'spec/new_spec.rb'])];
      const { code, stdout, stderr } = await suite.run(server, 0, [...asked, '--default', '5']);
      const note = 'ballast: 1 of 3 test files was never measured, and counts with a guess\n';
      expect({ code, stdout, stderr }).toEqual({ code: 0, stdout: '1\n', stderr: note });
    });
  });

  it('starts the default number of nodes when the project has no build, or the server does not answer', async () => {
    const [server, suite] = [await shared.project(), new TestProject([])];
    const args = ['plan', '--format', 'github', '--default', '2'];
    const matrix = '{"node_index":[0,1],"node_total":[2]}\n';
    expect(await suite.run(server, 0, args)).toMatchObject({
      code: 0,
      stdout: matrix,
      stderr: expect.stringContaining('has no build') as string,
    });
    expect(await suite.run(unreachableServer, 0, args)).toMatchObject({
      code: 0,
      stdout: matrix,
      stderr: expect.stringContaining('no answer from') as string,
    });
    expect(await suite.run(server, 0, ['plan'])).toMatchObject(ended(1, 'no build', ''));
  });

  it('prints a matrix for GitHub Actions: one job for each node', async () => {
    const plan = await planner();
    expect((await plan('--within', '1m', '--format', 'github')).stdout).toBe('{"node_index":[0,1],"node_total":[2]}\n');
    expect(JSON.parse((await plan('--nodes', '1..9', '--format', 'github')).stdout).node_total).toEqual([3]);
    expect(JSON.parse((await plan('--nodes', '1,2', '--format', 'github')).stdout).node_total).toEqual([2]);
  });

  it('prints a child pipeline for GitLab', async () => {
    const plan = await planner();
    const { stdout } = await plan('--within', '1m', '--format', 'gitlab', '--template', 'ci/"tests".yml');
    expect(parse(stdout)).toEqual({ include: [{ local: 'ci/"tests".yml' }], tests: { extends: '.tests', parallel: 2 } });
  });

  it('prints a step for Buildkite, with the command as one line of a shell', async () => {
    const plan = await planner();
    const { stdout } = await plan(
      '--within',
      '1m',
      '--format',
      'buildkite',
      '--',
      'node',
      'ballast.mjs',
      'queue',
      "it's $HOME *.js",
      '--',
      '{}',
    );
    expect(parse(stdout)).toEqual({
      steps: [{ label: 'tests', command: `node ballast.mjs queue 'it'\\''s $$HOME *.js' -- '{}'`, parallelism: 2 }],
    });
  });

  it.each([
    [['--within', 'soon'], 'It must be a duration'],
    [['--within', '1h30'], 'It must be a duration'],
    [['--mode', 'both'], 'Allowed choices are queue, split'],
    [['--format', 'jenkins'], 'Allowed choices are github, gitlab, buildkite'],
    [['--default', '3'], 'give --within or --format'],
    [['--default', '0'], 'It must be a whole number of nodes, at least 1'],
    [['--format', 'buildkite'], 'the step has no command'],
    [['--', 'jest'], 'plan runs no command'],
    [['none/*.js'], 'no test files: nothing matches'],
  ])('ends with 2 for %j', async (args, message) => {
    const plan = await planner();
    expect(await plan(...args)).toMatchObject({ code: 2, stdout: '', stderr: expect.stringContaining(message) as string });
  });

  it('ends with 3 if the server refuses or is not reached', async () => {
    const suite = new TestProject([]);
    const plan = await planner();
    expect(await plan('--nodes', '0..5')).toMatchObject({ code: 3, stderr: expect.stringContaining('must be a range') as string });
    expect(await suite.run(unreachableServer, 0, ['plan'])).toMatchObject({ code: 3, stdout: '' });
  });
});
