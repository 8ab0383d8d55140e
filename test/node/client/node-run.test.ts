import { mkdirSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Api } from '../../../src/node/client/api.js';
import type { BatchResult, FailurePolicy } from '../../../src/node/client/batch-results.js';
import type { CommandLimit, CommandRunner } from '../../../src/node/client/command/command-runner.js';
import { CommandNotStarted, NodeRun } from '../../../src/node/client/node-run.js';
import { Mutes, parseMutes } from '../../../src/node/mutes/mutes.js';
import type { Piece } from '../../../src/node/pieces/piece.js';
import { pytest } from '../../../src/node/pieces/pytest.js';
import { vitest } from '../../../src/node/pieces/vitest.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

const makeReport = (...cases: string[]) => `<testsuites><testsuite>${cases.join('')}</testsuite></testsuites>`;
const passed = (file: string) => `<testcase name="one" file="${file}" time="2"/>`;
const failing = (file: string) => `<testcase name="one" file="${file}" time="2"><failure/></testcase>`;

/** Returns the result of a batch of a.js and b.js whose command writes these reports. */
async function runBatch(
  reports: Record<string, string>,
  { code = 0, muted = [], isRetry = false, ...judgement }: FailurePolicy & { code?: number; muted?: string[]; isRetry?: boolean } = {},
): Promise<BatchResult & { hasFailed: boolean; strays: string[]; stderrText: string }> {
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
  const node = new NodeRun(['a.js', 'b.js', 'c.js'], ['runner'], [`${folder}/reports/*`], judgement, runner, {}, null, mutesOf(muted));
  const result = await node.runBatch(
    (isRetry ? ['a.js'] : ['a.js', 'b.js']).map(path => ({ path, expected: null })),
    isRetry,
  );
  return { ...result, hasFailed: node.hasFailed, strays: [...node.strayFailures], stderrText };
}

const mutesOf = (names: readonly string[]) => new Mutes(names.flatMap(name => parseMutes(`${name} until=2999-12-31 owner=o reason=r`, 0)));

const paths = ({ recorded }: BatchResult) => recorded.map(({ path }) => path);

describe('muted failures', () => {
  const outcomes = ({ recorded }: BatchResult) => recorded.map(({ path, outcome }) => [path, outcome]);
  const BOTH = makeReport(failing('a.js'), passed('b.js'));
  const unloaded = '<testcase name="one" file="a.js" time="0"><error/></testcase>';

  it.each<[string, Record<string, string>, number, string[]]>([
    ['of a file', { 'r.xml': BOTH }, 1, ['a.js']],
    ['of a test case', { 'r.xml': BOTH }, 1, ['a.js::one']],
    ['of a file whose command hides its exit code', { 'r.xml': BOTH }, 0, ['a.js']],
    ['of a file that could not be loaded', { 'r.xml': makeReport(unloaded, passed('b.js')) }, 1, ['a.js']],
  ])('%s are recorded, and leave the node green', async (_, reports, code, muted) => {
    const result = await runBatch(reports, { code, muted });
    expect(result).toMatchObject({ hasFailed: false, failed: ['a.js'] });
    expect(result.recorded[0]).toMatchObject({ outcome: 'muted', ...(result.recorded[0]!.time_execution === 0 && { ran: true }) });
    expect(result.recorded[1]!.outcome).toBeUndefined();
  });

  it.each<[string, Record<string, string>, number, string[]]>([
    ['beside a real one', { 'r.xml': makeReport(failing('a.js'), failing('b.js')) }, 1, ['a.js']],
    ['beside another case', { 'r.xml': makeReport(failing('a.js'), failing('a.js').replace('one', 'two')) }, 1, ['a.js::one']],
    ['of a case, where the file could not be loaded', { 'r.xml': makeReport(unloaded, passed('b.js')) }, 1, ['a.js::one']],
    ['beside one of an unknown file', { 'r.xml': makeReport(failing('a.js'), passed('b.js'), failing('x.js')) }, 1, ['a.js']],
    ['beside one of another batch', { 'r.xml': makeReport(failing('a.js'), passed('b.js'), failing('c.js')) }, 1, ['a.js']],
    ['beside a file in no report', { 'r.xml': makeReport(failing('a.js')) }, 1, ['a.js']],
    ['beside a report that cannot be read', { 'r.xml': BOTH, 's.xml': '<testsuites>' }, 1, ['a.js']],
    ['of a file in no report', { 'r.xml': makeReport(passed('b.js')) }, 1, ['a.js']],
    ['without a report', {}, 1, ['a.js', 'b.js']],
    ['that no report has', { 'r.xml': makeReport(passed('a.js'), passed('b.js')) }, 1, ['a.js', 'b.js']],
    ['of a command that a signal ended', { 'r.xml': BOTH }, 139, ['a.js']],
    ['of a folder, or another name of the file', { 'r.xml': BOTH }, 1, ['.', './a.js', 'a.*', 'a.js::on', 'A.js']],
  ])('%s leave the node red', async (_, reports, code, muted) => {
    expect(await runBatch(reports, { code, muted })).toMatchObject({ hasFailed: true });
  });

  it('are told together with a real one', async () => {
    const result = await runBatch({ 'r.xml': makeReport(failing('a.js'), failing('b.js')) }, { code: 1, muted: ['a.js'] });
    expect(result).toMatchObject({ hasFailed: true, failed: ['a.js', 'b.js'] });
    expect(outcomes(result)).toEqual([
      ['a.js', 'muted'],
      ['b.js', 'failed'],
    ]);
  });

  it.each([
    [['a.js', 'b.js'], 1, false],
    [['a.js'], 1, true],
    [['a.js', 'b.js::one'], 1, true],
    [['a.js', 'b.js'], 137, true],
  ])('of an exit code alone are those of all files: %j, %i', async (muted, exitCode, hasFailed) => {
    vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    const runner = { signal: null, run: async () => ({ exitCode, seconds: 4, startError: null }) } as unknown as CommandRunner;
    const node = new NodeRun(['a.js', 'b.js'], ['runner'], [], {}, runner, {}, null, mutesOf(muted));
    const result = await node.runBatch(['a.js', 'b.js'].map(path => ({ path, expected: null })));
    expect(node.hasFailed).toBe(hasFailed);
    expect(result.failed).toEqual(['a.js', 'b.js']);
    expect(result.recorded.every(({ outcome, ran }) => (hasFailed ? outcome === 'failed' && !ran : outcome === 'muted' && ran))).toBe(true);
  });
});

it.each([
  ['another batch', [failing('c.js')], ['c.js']],
  ['an unknown file', [failing('x.js')], [expect.stringContaining('one')]],
  ['its own', [], []],
])('a batch with a failure beside one of %s tells that no retry runs it again', async (_, more, strays) => {
  const cases = [failing('a.js'), passed('b.js'), ...more];
  expect(await runBatch({ 'r.xml': makeReport(...cases) }, { code: 1 })).toMatchObject({ failed: ['a.js'], strays });
});

const skipped = '<testcase name="one" file="a.js" time="0"><skipped/></testcase>';

it.each<[string, Record<string, string>, FailurePolicy, string[], string[]]>([
  ['passed if a report has a test of it', { 'r.xml': makeReport(passed('a.js')) }, {}, [], []],
  ['passed if the test took no time', { 'r.xml': makeReport(passed('a.js').replace('2', '0')) }, {}, [], []],
  ['failed if the command wrote no report', {}, {}, ['a.js'], []],
  ['failed if the report has no test', { 'r.xml': makeReport() }, { trustExitCode: true }, ['a.js'], []],
  ['failed if the report names another file', { 'r.xml': makeReport(passed('c.js')) }, {}, ['a.js'], []],
  ['failed if each test was skipped', { 'r.xml': makeReport(skipped) }, {}, ['a.js'], ['failed']],
])('a file in its retry %s', async (_, reports, policy, failed, outcomes) => {
  const result = await runBatch(reports, { ...policy, isRetry: true });
  expect(result).toMatchObject({ failed, hasFailed: failed.length > 0 });
  expect(result.recorded.flatMap(({ outcome }) => outcome ?? [])).toEqual(outcomes);
  expect(result.stderrText.includes('it is a retry, and no report has a test of a.js that ran')).toBe(failed.length > 0);
});

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

  it('counts files whose times cannot be read as run, and says so once', async () => {
    const { recorded, failed, stderrText } = await runBatch({
      'r.xml': makeReport('<testcase file="a.js" time="soon"/>', '<testcase file="b.js" time="12,5"/>'),
    });
    expect({ recorded, failed }).toEqual({
      recorded: [
        { path: 'a.js', time_execution: 0, ran: true },
        { path: 'b.js', time_execution: 12.5 },
      ],
      failed: [],
    });
    expect(stderrText).toMatch(/^ballast: WARNING: [^\n]*r\.xml: 1 time in it cannot be read, such as "soon": [^\n]*\n$/);
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

describe('a command that ended with 5, as pytest does when it selected no test', () => {
  const pytest = (...cases: string[]) =>
    `<testsuites name="pytest tests"><testsuite name="pytest" errors="0" tests="0">${cases.join('')}</testsuite></testsuites>`;
  const EMPTY = ['a.js', 'b.js'].map(path => ({ path, time_execution: 0, ran: true, no_test: true }));

  it('ran its files if the report of pytest has no case', async () => {
    const result = await runBatch({ 'r.xml': pytest() }, { code: 5, failUnreported: true });
    expect(result).toMatchObject({ hasFailed: false, failed: [], recorded: EMPTY });
    expect(result.stderrText).toBe(
      'ballast: the command ended with 5 (batch 1, 2 test files): no test was selected, and the files count as run\n',
    );
  });

  it.each<[situation: string, reports: Record<string, string>, code: number]>([
    ['of another runner', { 'r.xml': makeReport() }, 5],
    ['with a case', { 'r.xml': pytest(passed('a.js')) }, 5],
    ['that is cut off', { 'r.xml': '<testsuites><testsuite name="pytest">' }, 5],
    ['of another exit code, as for a file that is missing', { 'r.xml': pytest() }, 4],
    ['and another report: a process may have ended without one', { 'r.xml': pytest(), 's.xml': pytest() }, 5],
    ['that is missing', {}, 5],
  ])('failed with a report %s', async (_, reports, code) => {
    expect(await runBatch(reports, { code })).toMatchObject({ hasFailed: true });
  });

  it('says nothing of its files with 0, the exit code that a shell script may end with', async () => {
    const { recorded } = await runBatch({ 'r.xml': pytest() });
    expect(recorded).toEqual(['a.js', 'b.js'].map(path => ({ path, time_execution: 0 })));
  });
});

describe('a piece of a file', () => {
  const FILE = 'a.test.js';
  const PATH = `${FILE}::piece 1 of 2`;
  const PIECE: Piece = { path: PATH, file: FILE, cases: ['a', 'b'], others: null, outcomes: new Map(), isTrial: false };
  const caseOf = (name: string) => `<testcase name="${name}" file="${FILE}" time="2"/>`;
  const skipped = (name: string) => `<testcase name="${name}" file="${FILE}" time="0"><skipped/></testcase>`;

  /** Runs a piece whose commands write these reports. @param signalAfter a signal comes with this command; 0: before the first */
  async function runPiece(reports: string[], signalAfter = Infinity, configuration = 'ballast: []\n', muted: string[] = []) {
    const folder = temporaryFolder();
    // Of an earlier command: it has all cases.
    writeFileSync(join(folder, 'old.xml'), makeReport(caseOf('a'), caseOf('b')));
    const isSelected: boolean[] = [];
    const runner = {
      signal: null as string | null,
      run: async (command: readonly string[], _: unknown, output?: number) => {
        if (output !== undefined) {
          writeSync(output, configuration);
          return { exitCode: 0, seconds: 1, startError: null };
        }
        isSelected.push(command.includes('--testNamePattern=^[\\s>›]*(?:a|b)[\\s>›]*$'));
        if (isSelected.length === signalAfter) runner.signal = 'SIGTERM';
        writeFileSync(join(folder, `${isSelected.length}.xml`), reports[isSelected.length - 1]!);
        return { exitCode: 0, seconds: 4, startError: null };
      },
    };
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => stderr.mockRestore());
    const support = { name: 'vitest', runner: vitest };
    const node = new NodeRun([FILE], ['vitest'], [`${folder}/*`], {}, runner as unknown as CommandRunner, {}, support, mutesOf(muted));
    const running = node.runBatch([{ path: PATH, expected: null, piece: PIECE }]);
    if (signalAfter === 0) runner.signal = 'SIGTERM';
    const { failed } = await running;
    return { failed, recorded: node.takeRecorded(), isSelected, hasFailed: node.hasFailed, said: stderr.mock.calls.join('') };
  }

  it('is run by a command that selects its cases', async () => {
    const result = await runPiece([makeReport(caseOf('a'), caseOf('b'))]);
    expect(result).toEqual({ failed: [], recorded: [{ path: PATH, time_execution: 4 }], isSelected: [true], hasFailed: false, said: '' });
  });

  it.each([
    [
      'selects cases itself',
      'RUN v4\nballast: [/^((?!@destroys).)*$/]\n',
      'the configuration of vitest selects test cases by the testNamePattern /^((?!@destroys).)*$/, which',
    ],
    [
      'is not reported',
      'RUN v4\n',
      'vitest did not print its configuration, which may also select test cases: make sure that the command passes --reporter on to vitest',
    ],
  ])('is run as the whole file if the configuration %s', async (_, configuration, reason) => {
    const result = await runPiece([makeReport(caseOf('a'), caseOf('b'), caseOf('c'))], Infinity, configuration);
    expect(result).toMatchObject({ failed: [], recorded: [{ path: PATH, time_execution: 6 }], isSelected: [false], hasFailed: false });
    expect(result.said).toContain(`WARNING: ${PATH}: running the whole file ${FILE}, because ${reason}`);
  });

  it('fails by its name, and its file is not run, if it hangs; its whole file may take as long as all pieces', async () => {
    const limits: (number | undefined)[] = [];
    const run = async (_: unknown, __: unknown, output: number | undefined, limit: CommandLimit | null) => {
      limits.push(limit?.seconds);
      if (output !== undefined) writeSync(output, 'ballast: []\n');
      return { exitCode: 143, seconds: 4, startError: null, isHung: output === undefined && limits.length > 2 };
    };
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => stderr.mockRestore());
    const runner = { signal: null, run } as unknown as CommandRunner;
    const node = new NodeRun([FILE], ['vitest'], [`${temporaryFolder()}/*`], {}, runner, {}, { name: 'vitest', runner: vitest });
    const hanging = { path: PATH, expected: 90, duration: 100, piece: PIECE };
    expect(
      await node.runBatch([hanging, { ...hanging, path: `${FILE}::piece 2 of 2`, piece: { ...PIECE, path: `${FILE}::piece 2 of 2` } }]),
    ).toEqual({
      recorded: [],
      failed: [PATH, `${FILE}::piece 2 of 2`],
    });
    expect(limits).toEqual([600, 800, 1600, 800]);
    expect([...node.hung]).toEqual([
      [FILE, 1600],
      [`${FILE}::piece 2 of 2`, 800],
    ]);
  });

  it('is run as the whole file only if the configuration of its own file selects cases', async () => {
    const folder = temporaryFolder();
    const asked: string[] = [];
    const selected: string[] = [];
    const run = async ([, file = '', ...args]: readonly string[], _: unknown, output?: number) => {
      if (output !== undefined) {
        asked.push(file);
        writeSync(output, `ballast: [${file.startsWith('filtered') ? 'fast' : ''}]\n`);
      } else if (args.some(arg => arg.startsWith('--testNamePattern='))) selected.push(file);
      writeFileSync(join(folder, `${selected.length}.xml`), makeReport(`<testcase name="a" file="${file}" time="2"/>`));
      return { exitCode: 0, seconds: 4, startError: null };
    };
    const stderr = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
    onTestFinished(() => stderr.mockRestore());
    const files = ['plain/a.test.js', 'filtered/a.test.js'];
    const runner = { signal: null, run } as unknown as CommandRunner;
    const node = new NodeRun(files, ['vitest'], [`${folder}/*`], {}, runner, {}, { name: 'vitest', runner: vitest });
    const pieces = files.flatMap(file => [1, 2].map(number => ({ ...PIECE, file, path: `${file}::piece ${number} of 2`, cases: ['a'] })));
    await node.runBatch(pieces.map(piece => ({ path: piece.path, expected: null, piece })));
    expect({ asked, selected }).toEqual({ asked: files, selected: ['plain/a.test.js', 'plain/a.test.js'] });
  });

  it('is green if its failure is muted, and all of its cases ran: otherwise its whole file runs', async () => {
    const failing = `<testcase name="a" file="${FILE}" time="2"><failure/></testcase>`;
    const run = (...reports: string[]) => runPiece(reports, Infinity, undefined, [`${FILE}::a`]);
    const alone = await run(makeReport(failing, caseOf('b')));
    expect(alone).toMatchObject({
      hasFailed: false,
      failed: [PATH],
      recorded: [{ path: PATH, time_execution: 4, outcome: 'muted' }],
      isSelected: [true],
    });
    const whole = await run(makeReport(failing, skipped('b')), makeReport(failing, caseOf('b'), caseOf('c')));
    expect(whole).toMatchObject({
      hasFailed: false,
      recorded: [{ path: PATH, time_execution: 8, outcome: 'muted' }],
      isSelected: [true, false],
    });
  });

  it('is followed by the whole file if one of its cases is only in an earlier report', async () => {
    const result = await runPiece([makeReport(caseOf('a'), skipped('b')), makeReport(caseOf('a'), caseOf('b'), caseOf('c'))]);
    expect(result).toMatchObject({ failed: [], recorded: [{ path: PATH, time_execution: 8 }], isSelected: [true, false] });
  });

  it.each([
    ['before its command', 0, []],
    ['during its command', 1, [true]],
    ['during the command of its whole file', 2, [true, false]],
  ])('is not recorded if a signal comes %s', async (_, signalAfter, isSelected) => {
    const result = await runPiece([makeReport(caseOf('a'), skipped('b')), makeReport(caseOf('a'), caseOf('b'))], signalAfter);
    expect(result).toMatchObject({ failed: [PATH], recorded: [], isSelected, hasFailed: true });
  });
});

describe('a command that hangs', () => {
  const NAMES = ['a.js', 'b.js', 'c.js'];

  interface Hanging {
    /** Reports by command, and then of each file that does not hang alone; null: the command writes none. */
    reports?: readonly (string | null)[];
    /** Files that hang, also alone. */
    hanging: readonly string[];
    files?: readonly string[];
    /** A signal comes with this command. */
    signalAt?: number;
  }

  /** Runs a batch whose first command hangs. */
  async function runHanging({ reports = [], hanging, files = NAMES, signalAt = Infinity }: Hanging) {
    const folder = temporaryFolder();
    const ran: string[] = [];
    const runner = {
      signal: null as string | null,
      run: async ([, ...paths]: readonly string[], _: unknown, __: unknown, limit: CommandLimit) => {
        ran.push(paths.join());
        const [number, isHung] = [ran.length, ran.length === 1 || paths.some(path => hanging.includes(path))];
        const report = reports[number - 1] ?? (isHung ? null : makeReport(...paths.map(passed)));
        if (report !== null) writeFileSync(join(folder, `${number}.xml`), report);
        if (number === signalAt) runner.signal = 'SIGTERM';
        if (isHung) await limit.reached();
        // At its end, the runner reports files that it cut off.
        if (isHung) writeFileSync(join(folder, `${number}.end.xml`), makeReport(...paths.map(passed)));
        return { exitCode: isHung ? 143 : 0, seconds: 4, startError: null, isHung };
      },
    };
    let stderrText = '';
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(text => Boolean((stderrText += String(text))));
    onTestFinished(() => stderr.mockRestore());
    const policy = { timeLimit: 240 };
    const node = new NodeRun(NAMES, ['runner'], [`${folder}/*`], policy, runner as unknown as CommandRunner, {});
    const { failed } = await node.runBatch(files.map(path => ({ path, expected: null })));
    return { ran, failed, recorded: paths({ recorded: node.takeRecorded(), failed }), hung: [...node.hung], stderrText };
  }

  it('keeps what passed before it was ended, and runs the others alone, each once', async () => {
    const result = await runHanging({ reports: [makeReport(passed('a.js'))], hanging: ['b.js'] });
    const { stderrText, ...outcome } = result;
    expect(outcome).toEqual({
      ran: ['a.js,b.js,c.js', 'b.js', 'c.js'],
      failed: ['b.js'],
      recorded: ['a.js', 'c.js'],
      hung: [['b.js', 240]],
    });
    expect(stderrText).toBe(
      [
        'the command of batch 1, 3 test files, ran for longer than 4 m 00 s, and was ended: running alone each test file that has not passed',
        'running b.js alone (1 of 2)',
        'b.js ran for longer than 4 m 00 s, and was ended',
        'running c.js alone (2 of 2)',
      ]
        .map(line => `ballast: ${line}\n`)
        .join(''),
    );
  });

  const rspec = (...cases: string[]) => `<testsuite name="rspec">${cases.join('')}</testsuite>`;
  it.each([
    ['is the last in a report that its runner writes also at a signal', '0'],
    ['is in such a report, of files that ran at once', '150'],
  ])('does not count a file that passed so far, and %s', async (_, time) => {
    const cases = ['a.js', 'b.js'].map(file => `<testcase name="one" file="${file}" time="${time}"/>`);
    const { ran, recorded } = await runHanging({ reports: [rspec(...cases)], hanging: ['b.js'] });
    const kept = time === '0' ? ['a.js'] : [];
    expect({ ran, recorded }).toEqual({
      ran: ['a.js,b.js,c.js', ...NAMES.filter(name => !kept.includes(name))],
      recorded: ['a.js', 'c.js'],
    });
  });

  it('runs files alone that had failed, or of which no test had run', async () => {
    const skipped = `<testcase name="one" file="a.js" time="0"><skipped/></testcase>`;
    const { ran, recorded } = await runHanging({ reports: [makeReport(skipped, failing('b.js'))], hanging: ['c.js'] });
    expect({ ran, recorded }).toEqual({ ran: ['a.js,b.js,c.js', 'a.js', 'b.js', 'c.js'], recorded: ['a.js', 'b.js'] });
  });

  it('runs all files alone, and names the one that had passed, if it kept the runner from ending', async () => {
    const { ran, failed, recorded } = await runHanging({ reports: [makeReport(...NAMES.map(passed))], hanging: ['b.js'] });
    expect({ ran, failed, recorded }).toEqual({ ran: ['a.js,b.js,c.js', ...NAMES], failed: ['b.js'], recorded: ['a.js', 'c.js'] });
  });

  it('passes with a warning if none of its files hangs alone', async () => {
    const { ran, failed, recorded, stderrText } = await runHanging({ hanging: [] });
    expect({ ran, failed, recorded }).toEqual({ ran: ['a.js,b.js,c.js', ...NAMES], failed: [], recorded: NAMES });
    expect(stderrText).toContain('WARNING: none of the 3 test files hung alone; if they take so long together, give a longer --time-limit');
  });

  it('is not run again if it had one file', async () => {
    const { stderrText, ...outcome } = await runHanging({ hanging: ['a.js'], files: ['a.js'] });
    expect(outcome).toEqual({ ran: ['a.js'], failed: ['a.js'], recorded: [], hung: [['a.js', 240]] });
  });

  it('has run no other file alone if a signal comes meanwhile', async () => {
    const { stderrText, ...outcome } = await runHanging({ reports: [makeReport(passed('a.js'))], hanging: ['b.js'], signalAt: 2 });
    expect(outcome).toEqual({ ran: ['a.js,b.js,c.js', 'b.js'], failed: ['b.js', 'c.js'], recorded: ['a.js', 'b.js'], hung: [] });
  });
});

describe('a command whose runner should tell its cases', () => {
  /** Runs a file with pytest, which loads no plugin. Returns what the node prints at its end. */
  async function tellOf({ code = 0, report }: { code?: number; report: string }) {
    const folder = temporaryFolder();
    const run = async () => {
      writeFileSync(join(folder, 'report.xml'), report);
      return { exitCode: code, seconds: 4, startError: null };
    };
    const runner = { signal: null, run } as unknown as CommandRunner;
    const node = new NodeRun(['a.py'], ['pytest'], [`${folder}/*.xml`], {}, runner, {}, { name: 'pytest', runner: pytest });
    let stderrText = '';
    const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(text => Boolean((stderrText += String(text))));
    onTestFinished(() => stderr.mockRestore());
    await node.runBatch([{ path: 'a.py', expected: null }]);
    stderrText = '';
    const api = new Api({ url: 'http://127.0.0.1:1', token: 'token', retries: 0, clientVersion: '1' });
    await node.testCases.tell(api, { commit_hash: 'c', branch: 'main', node_total: 1, node_index: 0 });
    return stderrText;
  }

  it('leads to a warning if it ran and reported none', async () => {
    const variables = 'make sure that the command passes PYTEST_ADDOPTS and PYTHONPATH on to pytest';
    const remedy = `${variables}, and that its tests neither remove all files in ${tmpdir()} nor fill the disk`;
    expect(await tellOf({ report: makeReport(passed('a.py')) })).toBe(
      `ballast: WARNING: pytest did not tell which test cases it ran, so no file can be cut into pieces: ${remedy}\n`,
    );
  });

  it.each([
    ['it failed', { code: 1, report: makeReport(passed('a.py')) }],
    ['it ran none', { report: makeReport() }],
  ])('leads to none if %s', async (_, command) => {
    expect(await tellOf(command)).toBe('');
  });

  it('is not started if no file can be written for it', async () => {
    const folder = join(temporaryFolder(), 'gone');
    vi.stubEnv('TMPDIR', folder);
    onTestFinished(() => void vi.unstubAllEnvs());
    const runner = { signal: null, run: () => expect.fail('the command was started') } as unknown as CommandRunner;
    const node = new NodeRun(['a.py'], ['pytest'], ['*.xml'], {}, runner, {}, { name: 'pytest', runner: pytest });
    const error = await node.runBatch([{ path: 'a.py', expected: null }]).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(CommandNotStarted);
    expect((error as Error).message).toContain(`cannot write the files that --pieces needs for the command: ENOENT: `);
    expect((error as Error).message).toContain(folder);
  });
});
