import { describe, expect, it } from 'vitest';
import { drawScenario } from '../../scripts/chaos/green/draw.js';
import { pieceFaults } from '../../scripts/chaos/green/draw-pieces.js';
import { Evidence } from '../../scripts/chaos/green/evidence.js';
import { faults } from '../../scripts/chaos/green/faults.js';
import { mutedViolationsOf } from '../../scripts/chaos/green/mutes.js';
import { proofViolationsOf } from '../../scripts/chaos/green/proofs.js';
import type { FileRun } from '../../scripts/chaos/green/runner.js';
import { jobName } from '../../scripts/chaos/green/scenario.js';
import { isStaffed, type PlayedCiRun, staffedViolationsOf, violationsOf } from '../../scripts/chaos/green/violations.js';
import { installedPrograms } from '../testbed/postgresql.js';
import { runScript } from './script.js';

/**
 * Draws two suites under one token, silent nodes and an emptied store while files run in pieces, and a run without faults. One starts a CI run
 * again that leaves out what was proved.
 */
const SEED = '110348';
const TIMEOUT_MILLISECONDS = 120_000;

describe('npm run green', () => {
  it(
    'plays CI runs with faults, and reports that every green one ran all its files',
    async () => {
      const { code, output } = await runScript('chaos/green', '--runs', '3', '--seed', SEED);
      expect(output).toMatch(
        /^3 runs \(seed \d+\) of \d CI runs: all nodes exited with 0 in \d, verify in \d, and other nodes ran all files of those that left in \d; with pieces of files \d; proved in \d of \d that were asked, \d of \d green that left out what was proved; \d of \d green in which a file was retried; faults: .*\nevery green CI run ran all its test files\n$/,
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
    const known = { ...faults, ...pieceFaults };
    expect(new Set(drawn.flatMap(scenario => scenario.faults)).size).toBeGreaterThan(Object.keys(known).length - 4);
    const part = drawn.filter(({ pieces }) => pieces).length / drawn.length;
    expect(part).toBeGreaterThan(0.15);
    expect(part).toBeLessThan(0.35);
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
    const start = { number: 1, code: 0, output: '', requests: [], lastPullAt: 1 };
    return {
      ciRun,
      starts: [
        { ...start, job },
        { ...start, job: other },
      ],
      ran: job.files.map(path => ran(path)),
      evidence,
      verified: { code: 0, output: '', requests: [] },
      before: [],
      proved: null,
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

  it('include a file that only the list of one node has, unless the server has seen no list of this node', () => {
    const longer = { ...other, files: [...other.files, 'c_spec.rb'] };
    const gateOf = (fallback: boolean) => {
      const played = completeRun();
      const jobs = [job, { ...longer, fallback }];
      const starts = played.starts.map((start, i) => ({ ...start, job: jobs[i]! }));
      const own = [...played.ran, { ...ran('c_spec.rb'), job: jobName(longer) }];
      return violationsOf({ ...played, ciRun: { ...ciRun, jobs }, starts, ran: own });
    };
    expect(gateOf(false)).toEqual(['verify exited with 0, but in this CI run no node ran and recorded 1 (c_spec.rb)']);
    expect(gateOf(true)).toEqual([]);
  });

  it('include a file that failed although its node is green', () => {
    const played = { ...completeRun(), ran: [ran('a_spec.rb'), ran('b_spec.rb', 'failed')] };
    expect(violationsOf(played)).toEqual([
      'queue node 0 of suite a exited with 0 although these files failed: 1 (b_spec.rb)',
      'every node exited with 0 although these files failed in their last run: 1 (b_spec.rb)',
    ]);
  });

  it('include a muted failure that the gate does not name, and a node that is red for it alone', () => {
    const [muted, spec] = ['a_1_muted_fails_spec.rb', 'b_spec.rb'];
    const files = [muted, spec];
    const failed = (output: string, code = 0): PlayedCiRun => {
      const played = completeRun();
      const evidence = new Evidence();
      evidence.add('/v1/build_subsets', JSON.stringify({ test_files: files.map(path => ({ path })) }), { status: 201, body: '' });
      const jobs = [job, other].map(each => ({ ...each, files }));
      const starts = played.starts.map((start, i) => ({ ...start, job: jobs[i]!, code }));
      const verified = { ...played.verified, output };
      return { ...played, ciRun: { ...ciRun, jobs }, starts, evidence, verified, ran: [ran(muted, 'failed'), ran(spec)] };
    };
    const named = failed(`complete, green with 1 muted failure: ${muted}`);
    expect([...violationsOf(named), ...mutedViolationsOf(named, true)]).toEqual([]);
    expect(mutedViolationsOf(failed('complete'), false)).toEqual([`all nodes and verify exited with 0, but verify did not name ${muted}`]);
    expect(mutedViolationsOf(failed('complete', 1), false)).toEqual([]);
    expect(mutedViolationsOf(failed('complete', 1), true)).toEqual([
      expect.stringMatching(/^all failures were muted, but nodes exited with 1 /),
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

  it('include a file of a node that left, if another one could get it', () => {
    const played = completeRun();
    const left = {
      ...played.starts[0]!,
      job: { ...job, kill: { signal: 'STOP', at: { batch: 1, file: 1 }, isRetried: false } as const },
      code: 137,
    };
    const stayed = { ...played.starts[1]!, lastPullAt: 2 };
    expect(isStaffed({ ciRun, starts: [left, stayed] })).toBe(true);
    expect(isStaffed({ ciRun, starts: [{ ...left, lastPullAt: 3 }, stayed] })).toBe(false);
    expect(isStaffed({ ciRun, starts: [left] })).toBe(false);
    expect(staffedViolationsOf(played)).toEqual([]);
    expect(staffedViolationsOf({ ...played, ran: [ran('a_spec.rb')], verified: { ...played.verified, code: 1 } })).toEqual([
      'a node stayed until the others had left, but no node ran and recorded 1 (b_spec.rb)',
      'a node stayed until the others had left, but verify exited with 1',
    ]);
  });

  it('include a proof of a file that passed in no CI run, and a file that was left out without one', () => {
    const proved = { code: 0, output: '', requests: [] };
    const failed = { ...completeRun(), ran: [ran('a_spec.rb'), ran('b_spec.rb', 'failed')], proved };
    expect(proofViolationsOf(failed, false)).toEqual(['proved exited with 0, but in no CI run every test file passed']);
    expect(proofViolationsOf({ ...completeRun(), proved }, false)).toEqual([]);
    const ofOther = { ...ciRun, jobs: [{ ...job, hasOtherTree: true }, other] };
    expect(proofViolationsOf({ ...completeRun(), ciRun: ofOther, proved }, false)).toHaveLength(1);
    const rerun = (before: PlayedCiRun, path: string) => {
      return { ...completeRun(), ciRun: { ...ciRun, leavesOutProved: true }, before: [before], ran: [ran(path)], proved };
    };
    const again = rerun(failed, 'b_spec.rb');
    expect([...violationsOf(again), ...proofViolationsOf(again, false)]).toEqual([]);
    const wrong = rerun(failed, 'a_spec.rb');
    expect(violationsOf(wrong)).toHaveLength(2);
    expect(proofViolationsOf(wrong, false)).toHaveLength(1);
  });

  describe('with pieces of files', () => {
    const cases = { 'a_spec.rb': ['test_0', 'test_1_needs_0', 'test_2_skipped', 'test_3_twin_0'] };
    const pieces = [
      { path: 'a_spec.rb::piece 1 of 2', cases: ['test_0'], others: null, outcomes: [], is_trial: true },
      { path: 'a_spec.rb::piece 2 of 2', cases: ['test_2'], others: ['test_0'], outcomes: [], is_trial: true },
    ];
    const runOfCases = (second: FileRun['outcome'], recorded = pieces, twin: FileRun['outcome'] = 'passed'): PlayedCiRun => {
      const played = completeRun();
      const evidence = new Evidence();
      const answer = { status: 200, body: JSON.stringify({ batch_id: 4, paths: pieces.map(({ path }) => path), pieces }) };
      evidence.add('/v2/queues/queue', JSON.stringify({ node_index: 0 }), answer);
      const test_files = [...recorded, { path: 'b_spec.rb' }];
      evidence.add('/v1/build_subsets', JSON.stringify({ node_index: 0, test_files }), { status: 201, body: '' });
      const own = [
        ...[ran('a_spec.rb::test_0'), ran('a_spec.rb::test_1_needs_0', second), ran('a_spec.rb::test_2_skipped', 'skipped')],
        ...[ran('a_spec.rb::test_3_twin_0'), ran('a_spec.rb::test_3_twin_0::2', twin)],
      ];
      return { ...played, evidence, ciRun: { ...ciRun, cases }, ran: [...own, ran('b_spec.rb')] };
    };

    it('are none if every case ran that the whole file runs', () => {
      expect(violationsOf(runOfCases('passed'))).toEqual([]);
    });

    it('include a case that was skipped, or failed as expected, in a piece only', () => {
      for (const outcome of ['skipped', 'expected_failure'] as const)
        expect(violationsOf(runOfCases(outcome))).toEqual([
          'every node exited with 0, but no node ran 1 (a_spec.rb::test_1_needs_0) of 5 test files',
          'verify exited with 0, but in this CI run no node ran and recorded 1 (a_spec.rb::test_1_needs_0)',
        ]);
    });

    it('include one of two cases of a name that was skipped in a piece only', () => {
      expect(violationsOf(runOfCases('passed', pieces, 'skipped'))).toEqual([
        'every node exited with 0, but no node ran 1 (a_spec.rb::test_3_twin_0::2) of 5 test files',
        'verify exited with 0, but in this CI run no node ran and recorded 1 (a_spec.rb::test_3_twin_0::2)',
      ]);
    });

    it('include the cases of a piece that no node recorded', () => {
      const notRecorded = (count: number, names: string) => [
        `verify exited with 0, but in this CI run no node ran and recorded ${count} (${names})`,
      ];
      expect(violationsOf(runOfCases('passed', pieces.slice(1)))).toEqual(notRecorded(1, 'a_spec.rb::test_0'));
      expect(violationsOf(runOfCases('passed', pieces.slice(0, 1)))).toEqual(
        notRecorded(3, 'a_spec.rb::test_1_needs_0, a_spec.rb::test_3_twin_0, a_spec.rb::test_3_twin_0::2'),
      );
    });
  });
});
