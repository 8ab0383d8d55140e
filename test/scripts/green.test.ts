import { describe, expect, it } from 'vitest';
import { installedPrograms } from '../../bench/load/postgresql.js';
import { drawScenario } from '../../scripts/chaos/green/draw.js';
import { Evidence } from '../../scripts/chaos/green/evidence.js';
import { faults } from '../../scripts/chaos/green/faults.js';
import type { FileRun } from '../../scripts/chaos/green/runner.js';
import { jobName } from '../../scripts/chaos/green/scenario.js';
import { type PlayedCiRun, violationsOf } from '../../scripts/chaos/green/violations.js';
import { runScript } from './script.js';

/** Draws two suites under one token, killed nodes, an emptied store, a changed clock, and a run without faults. */
const SEED = '84020';
const TIMEOUT_MILLISECONDS = 120_000;

describe('npm run green', () => {
  it(
    'plays CI runs with faults, and reports that every green one ran all its files',
    async () => {
      const { code, output } = await runScript('chaos/green', '--runs', '3', '--seed', SEED);
      expect(output).toMatch(
        /^3 runs \(seed \d+\) of \d CI runs: all nodes exited with 0 in \d, verify in \d; with pieces of files \d; faults: .*\nevery green CI run ran all its test files\n$/,
      );
      expect(code).toBe(0);
    },
    TIMEOUT_MILLISECONDS,
  );

  it(
    'plays them on two servers that share a database',
    async ({ skip }) => {
      skip((await installedPrograms()) === null, 'NOT TESTED: this machine has no programs of PostgreSQL');
      const { code, output } = await runScript(
        'chaos/green',
        '--runs',
        '1',
        '--seed',
        SEED,
        '--only',
        'the server is killed',
        '--processes',
        '2',
      );
      expect(output).toMatch(/^1 runs \(seed \d+, 2 processes\) .*\nevery green CI run ran all its test files\n$/);
      expect(code).toBe(0);
    },
    TIMEOUT_MILLISECONDS,
  );

  it('draws the same scenario for the same seed and number', () => {
    expect(drawScenario(3, 7, null)).toEqual(drawScenario(3, 7, null));
    const drawn = Array.from({ length: 200 }, (_, number) => drawScenario(1, number, null));
    expect(new Set(drawn.flatMap(scenario => scenario.faults)).size).toBeGreaterThan(Object.keys(faults).length - 4);
  });
});

describe('the violations of a CI run', () => {
  const job = {
    ...drawScenario(1, 1, null).ciRuns[0]!.jobs[0]!,
    suite: 'a',
    node: 0,
    mode: 'queue' as const,
    files: ['a_spec.rb', 'b_spec.rb'],
  };
  const other = { ...job, node: 1 };
  const ciRun = { ...drawScenario(1, 1, null).ciRuns[0]!, buildId: '1', jobs: [job, other] };
  const ran = (path: string, outcome: FileRun['outcome'] = 'passed'): FileRun => ({
    buildId: '1',
    job: jobName(job),
    start: 1,
    outcome,
    path,
  });
  const completeRun = (): PlayedCiRun => {
    const evidence = new Evidence();
    evidence.add('/v1/build_subsets', JSON.stringify({ test_files: job.files.map(path => ({ path })) }), { status: 201, body: '' });
    const start = { number: 1, code: 0, output: '', requests: [] };
    return {
      ciRun,
      starts: [
        { ...start, job },
        { ...start, job: other },
      ],
      ran: job.files.map(path => ran(path)),
      evidence,
      verified: { code: 0, output: '', requests: [] },
    };
  };

  it('are none if every file was run and recorded', () => {
    expect(violationsOf(completeRun())).toEqual([]);
  });

  it('include a file that no node ran although all nodes are green', () => {
    const played = { ...completeRun(), ran: [ran('a_spec.rb')] };
    expect(violationsOf(played)).toEqual([
      'every node exited with 0, but no node ran 1 (b_spec.rb) of 2 test files',
      'verify exited with 0, but in this CI run no node ran and recorded 1 (b_spec.rb)',
    ]);
    const verified = { ...played.verified, code: 1 };
    const [first, second] = played.starts;
    expect(violationsOf({ ...played, verified, starts: [first!, { ...second!, code: 3 }] })).toEqual([]);
    // Never started.
    expect(violationsOf({ ...played, verified, starts: [first!] })).toEqual([]);
  });

  it('include a file that failed although its node is green', () => {
    const played = { ...completeRun(), ran: [ran('a_spec.rb'), ran('b_spec.rb', 'failed')] };
    expect(violationsOf(played)).toEqual([
      'queue node 0 of suite a exited with 0 although these files failed: 1 (b_spec.rb)',
      'every node exited with 0 although these files failed in their last run: 1 (b_spec.rb)',
    ]);
  });

  it('include a file that no node recorded although the gate is green', () => {
    const evidence = new Evidence();
    evidence.add('/v2/queues/queue', JSON.stringify({ node_index: 0 }), {
      status: 200,
      body: JSON.stringify({ batch_id: 4, paths: job.files }),
    });
    const played = { ...completeRun(), evidence };
    expect(violationsOf(played)).toEqual(['verify exited with 0, but in this CI run no node ran and recorded 2 (a_spec.rb, b_spec.rb)']);
    evidence.add('/v2/queues/queue', JSON.stringify({ node_index: 0, batch_id: 4, failed_paths: [] }), null);
    expect(violationsOf(played)).toEqual([]);
  });
});
