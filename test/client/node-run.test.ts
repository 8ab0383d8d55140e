import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { BatchResult, FailurePolicy } from '../../src/client/batch-results.js';
import type { CommandRunner } from '../../src/client/command-runner.js';
import { NodeRun } from '../../src/client/node-run.js';
import type { Piece, PieceRunner, RanCase } from '../../src/client/pieces/piece.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const makeReport = (...cases: string[]) => `<testsuites><testsuite>${cases.join('')}</testsuite></testsuites>`;
const passed = (file: string) => `<testcase name="one" file="${file}" time="2"/>`;
const failing = (file: string) => `<testcase name="one" file="${file}" time="2"><failure/></testcase>`;

/** Returns the result of a batch of a.js and b.js whose command writes these reports. */
async function runBatch(
  reports: Record<string, string>,
  { code = 0, ...judgement }: FailurePolicy & { code?: number } = {},
): Promise<BatchResult & { hasFailed: boolean; stderrText: string }> {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'reports'));
  // A report of an earlier run.
  writeFileSync(join(folder, 'reports/old.xml'), makeReport(failing('a.js')));
  const runner = {
    signal: null,
    run: async () => {
      for (const [name, text] of Object.entries(reports)) writeFileSync(join(folder, 'reports', name), text);
      return { exitCode: code, seconds: 4, startError: null };
    },
  } as unknown as CommandRunner;
  let stderrText = '';
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(text => Boolean((stderrText += String(text))));
  onTestFinished(() => stderr.mockRestore());
  const node = new NodeRun(['a.js', 'b.js', 'c.js'], ['runner'], [`${folder}/reports/*`], judgement, runner, {});
  const result = await node.runBatch(['a.js', 'b.js'].map(path => ({ path, expected: null })));
  return { ...result, hasFailed: node.hasFailed, stderrText };
}

const paths = ({ recorded }: BatchResult) => recorded.map(({ path }) => path);

describe('a command that ended with 0', () => {
  const ALL = makeReport(passed('a.js'), passed('b.js'));
  const PASSED = { hasFailed: false, failed: [] };
  const empty = ['a.js', 'b.js'].map(path => ({ path, time_execution: 0 }));

  it.each<[situation: string, reports: Record<string, string>, options: FailurePolicy, result: object]>([
    ['passes if its report has all files, whatever an earlier report says', { 'new.xml': ALL }, {}, { ...PASSED, stderrText: '' }],
    ['passes if there is other XML beside the report', { 'new.xml': ALL, 'coverage.xml': '<coverage/>' }, {}, PASSED],
    [
      'passes with --trust-exit-code, whatever fails in the reports',
      { 'new.xml': makeReport(failing('a.js'), passed('b.js')) },
      { trustExitCode: true },
      { ...PASSED, stderrText: '' },
    ],
    ['passes with --trust-exit-code and an empty report', { '1.xml': '' }, { trustExitCode: true }, PASSED],
    ['records its files with 0 if its report has no case', { 'r.xml': makeReport() }, {}, { recorded: empty }],
  ])('%s', async (_, reports, options, result) => {
    expect(await runBatch(reports, options)).toMatchObject(result);
  });

  it.each([
    ['another file', makeReport(passed('a.js'), passed('b.js'), failing('c.js')), 'c.js'],
    ['no file that is known', makeReport(passed('a.js'), passed('b.js'), '<testcase classname="x" name="y"><error/></testcase>'), 'x y'],
    ['a suite without cases', makeReport(passed('a.js'), passed('b.js'), '<testsuite name="s" errors="1"/>'), 's'],
    ['a package of go test', 'FAIL\texample.com/a.js [setup failed]\n', 'a.js'],
  ])('fails with all files for a failure of %s', async (_, report, name) => {
    const result = await runBatch({ new: report });
    expect(result.hasFailed).toBe(true);
    expect(result.failed).toEqual(['a.js', 'b.js']);
    expect(result.stderrText).toContain(`a report has failures (${name})`);
  });

  it('fails if a report is truncated or empty', async () => {
    for (const text of [`<testsuites><testsuite>${passed('a.js')}`, '']) {
      const result = await runBatch({ '1.xml': makeReport(passed('a.js')), '2.xml': text });
      expect(result).toMatchObject({ hasFailed: true, failed: ['b.js'] });
      expect(result.stderrText).toMatch(/^ballast: .*cannot use the report [^\n]*\n$/);
    }
  });

  it.each<[string, Record<string, string>, FailurePolicy & { code?: number }, string]>([
    ['is empty', { 'r.xml': '' }, {}, 'but the batch failed (batch 1, 2 test files): cannot use the report '],
    ['is empty, and the command failed', { 'r.xml': '' }, { code: 1 }, 'its test files count as failed and not run'],
    [
      'has no case, with --fail-unreported',
      { 'r.xml': makeReport() },
      { failUnreported: true },
      ': the report has no test case; its test files',
    ],
    ['has no case', { 'r.xml': makeReport() }, {}, 'WARNING: no test was run in batch 1, 2 test files: a.js, b.js'],
    ['is missing, with --fail-unreported', {}, { failUnreported: true }, ': the command wrote no report there; its test files'],
  ])('says so once if its report %s', async (_, reports, options, message) => {
    const { stderrText } = await runBatch(reports, options);
    const lines = stderrText.split('\n').filter(line => line !== '' && !line.startsWith('ballast: the command ended with 1 '));
    expect(lines).toEqual([expect.stringContaining(message)]);
  });

  it.each([
    ['names that are not in the list', ['x.XTest', 'y.YTest'], 'they name "x.XTest", "y.YTest"; the list has "a.js", "b.js"; '],
    [
      'many of them',
      Array.from({ length: 9 }, (_, i) => `${i}.Test`),
      'they name "0.Test", "1.Test", "2.Test" and 6 more; the list has "a.js", "b.js"; ',
    ],
    ['a long name', ['x'.repeat(1000)], `they name "${'x'.repeat(200)}..."; the list has`],
  ])('says what its report names instead of its files: %s', async (_, names, message) => {
    const { stderrText } = await runBatch({ 'r.xml': makeReport(...names.map(name => `<testcase classname="${name}"/>`)) });
    expect(stderrText).toContain(`the reports mention no file of the batch: ${message}`);
  });

  it.each<[string, Record<string, string>, string[]]>([
    ['mentions one file only', { 'new.xml': makeReport(passed('a.js')) }, ['b.js']],
    ['has no case', { 'new.xml': makeReport() }, ['a.js', 'b.js']],
    ['has cases without a file', { 'new.xml': makeReport('<testcase classname="x" name="y"/>') }, ['a.js', 'b.js']],
    ['is missing', {}, ['a.js', 'b.js']],
  ])('fails with --fail-unreported if its report %s, even if its exit code is trusted', async (_, reports, failed) => {
    const result = await runBatch(reports, { failUnreported: true, trustExitCode: true });
    expect(result).toMatchObject({ hasFailed: true, failed });
    expect(paths(result)).toEqual(['a.js', 'b.js'].filter(path => !failed.includes(path)));
    expect(result.stderrText).toContain(`no report mentions ${failed.length} test file`);
  });
});

describe('a piece of a file', () => {
  const CASES = ['one', 'two'];
  const makePiece = (more: Partial<Piece> = {}): Piece => ({
    path: 'a.js::piece 1 of 2',
    file: 'a.js',
    cases: CASES,
    others: null,
    skipped: [],
    isTrial: false,
    ...more,
  });
  /** What one command does. */
  interface Command {
    /** What the cases did; null: nothing is told. */
    cases: Record<string, RanCase['outcome']> | null;
    code?: number;
    report?: string;
    signal?: true;
  }
  const PASSED: Command = { cases: { one: 'passed', two: 'passed' } };
  const WHOLE: Command = { cases: { one: 'passed', two: 'passed', three: 'passed' }, report: passed('a.js') };

  /** Runs a piece with these commands, the first for the piece, the second for the whole file. */
  async function runPiece(piece: Piece, ...commands: Command[]) {
    const folder = temporaryFolder();
    const asked: (Piece | null)[] = [];
    const runner = {
      signal: null as string | null,
      run: async () => {
        const command = commands[asked.length - 1]!;
        if (command.signal) runner.signal = 'SIGTERM';
        writeFileSync(join(folder, `${asked.length}.xml`), makeReport(command.report ?? passed('a.js')));
        return { exitCode: command.code ?? 0, seconds: 4, startError: null };
      },
    };
    const pieces: PieceRunner = {
      select(selected) {
        asked.push(selected);
        return { args: [], environment: {} };
      },
      told() {
        const { cases } = commands[asked.length - 1]!;
        if (!cases) return new Map();
        const ran = Object.entries(cases).map(([name, outcome]) => ({ name, seconds: 1, outcome }));
        return new Map([['a.js', { cases: ran, listed: new Set([...CASES, 'three']) }]]);
      },
    };
    let stderrText = '';
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(text => Boolean((stderrText += String(text))));
    onTestFinished(() => stderr.mockRestore());
    const support = { name: 'fake', runner: pieces };
    const node = new NodeRun(['a.js'], ['runner'], [`${folder}/*`], {}, runner as unknown as CommandRunner, {}, support);
    const result = await node.runBatch([{ path: piece.path, expected: null, piece }]);
    return { ...result, asked, hasFailed: node.hasFailed, recordedNow: node.takeRecorded(), stderrText };
  }

  const { path } = makePiece();
  const passes = (seconds: number) => ({ hasFailed: false, failed: [], recorded: [{ path, time_execution: seconds }] });

  it.each<[string, Partial<Piece>, Command]>([
    ['passes if all of its cases ran', {}, PASSED],
    ['passes if cases of others ran, too', {}, WHOLE],
  ])('%s, and no whole file runs', async (_, more, command) => {
    const result = await runPiece(makePiece(more), command);
    expect(result).toMatchObject(passes(2));
    expect(result.asked).toHaveLength(1);
  });

  it.each<[string, Partial<Piece>, Command]>([
    ['a case was skipped in it', {}, { cases: { one: 'passed', two: 'skipped' } }],
    ['a case did not run, and the command passed', {}, { cases: { one: 'passed' } }],
    ['nothing is told, though the command passed', {}, { cases: null }],
    ['none of its cases is in the file', {}, { cases: {}, code: 5 }],
    ['it failed on trial', { isTrial: true }, { cases: { one: 'failed', two: 'passed' }, code: 1, report: failing('a.js') }],
    ['the rest skipped a new case', { cases: ['one'], others: ['two'] }, { cases: { one: 'passed', three: 'skipped' } }],
  ])('is judged by the whole file if %s', async (_, more, command) => {
    const result = await runPiece(makePiece(more), command, WHOLE);
    expect(result.asked).toEqual([makePiece(more), null]);
    expect(result).toMatchObject({ hasFailed: false, failed: [] });
    expect(result.recordedNow).toEqual([{ path, time_execution: expect.any(Number) }]);
    expect(result.stderrText).toContain('running the whole file a.js');
    const failed = await runPiece(makePiece(more), command, { ...WHOLE, code: 1, report: failing('a.js') });
    expect(failed).toMatchObject({ hasFailed: true, failed: [path] });
  });

  it('fails by itself once its cases passed in pieces', async () => {
    const result = await runPiece(makePiece(), { cases: { one: 'failed', two: 'passed' }, code: 1, report: failing('a.js') });
    expect(result).toMatchObject({ hasFailed: true, failed: [path] });
    expect(result.asked).toHaveLength(1);
  });

  it('does not count as run if nothing says that the whole file ran', async () => {
    const result = await runPiece(makePiece(), { cases: { one: 'passed' } }, { cases: null, report: '' });
    expect(result.recordedNow).toEqual([{ path, time_execution: 0 }]);
  });

  it('is not recorded if a signal ends it, whatever its report says', async () => {
    const result = await runPiece(makePiece(), { ...PASSED, signal: true });
    expect(result).toMatchObject({ recordedNow: [], failed: [path], hasFailed: true });
    const whole = await runPiece(makePiece(), { cases: null }, { ...WHOLE, signal: true });
    expect(whole).toMatchObject({ failed: [path], hasFailed: true });
  });
});
