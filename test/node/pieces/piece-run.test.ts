import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Api } from '../../../src/node/client/api.js';
import type { Piece } from '../../../src/node/pieces/piece.js';
import { type FileRun, runPiece, runWhole } from '../../../src/node/pieces/piece-run.js';
import { TestCases } from '../../../src/node/pieces/test-cases.js';
import type { CaseOutcome } from '../../../src/protocol/case-outcomes.js';

const FILE = 'a.test.js';
const PATH = `${FILE}::piece 1 of 2`;
const NAMED: Piece = { path: PATH, file: FILE, cases: ['a', 'b'], others: null, outcomes: new Map(), isTrial: false };
const TRIAL: Piece = { ...NAMED, isTrial: true };
const REST: Piece = { ...NAMED, cases: ['a'], others: ['b'] };

/** A command in a test. Each case takes two seconds. */
interface Command {
  code?: number;
  /** Outcomes of its cases; null: nothing is reported. */
  report: Record<string, CaseOutcome> | null;
  /** Nothing says that the file ran. */
  isUnreported?: true;
}

const PASSED: Command = { report: { a: 'passed', b: 'passed' } };
const WHOLE: Command = { report: { a: 'passed', b: 'passed', c: 'passed' } };

function runOf({ code = 0, report, isUnreported }: Command): FileRun {
  const cases = Object.entries(report ?? {}).map(([name, outcome]) => ({ name, seconds: 2, outcomes: { [outcome]: 1 } }));
  const time_execution = isUnreported ? 0 : cases.reduce((sum, { seconds }) => sum + seconds, 0) || 1;
  return {
    result: { recorded: [{ path: FILE, time_execution }], failed: code === 0 ? [] : [FILE] },
    report: report ? { cases, listed: new Set(['a', 'b', 'c', ...Object.keys(report)]) } : undefined,
    remedy: 'do this',
  };
}

/** Runs a piece whose commands do this, the first for the piece and the second for the whole file; null: a signal ends it. */
function run(piece: Piece, ...commands: (Command | null)[]) {
  return runBy((runFile, testCases) => runPiece(piece, runFile, testCases), commands);
}

async function runBy(
  begin: (runFile: Parameters<typeof runPiece>[1], testCases: TestCases) => ReturnType<typeof runPiece>,
  commands: (Command | null)[],
) {
  const asked: (Piece | null)[] = [];
  let stderrText = '';
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(text => Boolean((stderrText += String(text))));
  onTestFinished(() => stderr.mockRestore());
  const testCases = new TestCases('vitest');
  const runFile = async (part: Piece | null) => {
    const command = commands[asked.push(part) - 1]!;
    return command && runOf(command);
  };
  const { recorded, failed } = await begin(runFile, testCases);
  return { recorded, failed, asked, report: await reportOf(testCases), stderrText };
}

/** Returns the files that the server gets. */
async function reportOf(testCases: TestCases) {
  let files: { path: string; passed_whole?: string[] }[] = [];
  const post = vi.spyOn(Api.prototype, 'post').mockImplementation(async (_, message) => {
    files = (message as { files: typeof files }).files;
    return true as never;
  });
  onTestFinished(() => post.mockRestore());
  const options = { url: 'http://127.0.0.1:1', token: 'token', retries: 0, clientVersion: '1' };
  await testCases.tell(new Api(options), { commit_hash: 'c', branch: 'main', node_total: 2, node_index: 0 });
  return files.map(({ path, passed_whole = [] }) => ({ path, passed_whole }));
}

const recordedAs = (time_execution: number) => [{ path: PATH, time_execution }];

describe('a piece', () => {
  it('counts if all of its cases passed', async () => {
    const ran = await run(TRIAL, PASSED);
    const report = [{ path: PATH, passed_whole: [] }];
    expect(ran).toEqual({ recorded: recordedAs(4), failed: [], asked: [TRIAL], report, stderrText: '' });
  });

  it('counts if cases of other pieces ran, too, and the node says which and what to do', async () => {
    const ran = await run(NAMED, WHOLE);
    expect(ran).toMatchObject({ recorded: recordedAs(6), failed: [], asked: [NAMED] });
    expect(ran.stderrText).toBe(`ballast: WARNING: ${PATH} also ran 1 test case of other pieces, 2.0 s: c; do this\n`);
  });

  it('fails by itself if a case failed in it, and earlier pieces of the file passed', async () => {
    const ran = await run(NAMED, { code: 1, report: { a: 'failed', b: 'passed' } });
    expect(ran).toMatchObject({ failed: [PATH], asked: [NAMED], report: [{ path: PATH, passed_whole: [] }] });
  });

  it.each<[string, Piece, (Command | null)[]]>([
    ['it', NAMED, [null]],
    ['the whole file after it', NAMED, [{ report: { a: 'passed' } }, null]],
  ])('did not run if a signal ends %s', async (_, piece, commands) => {
    expect(await run(piece, ...commands)).toMatchObject({ recorded: [], failed: [PATH], report: [] });
  });
});

describe('the whole file judges', () => {
  it.each<[string, Piece, Command, why: string, passedWhole: string[]]>([
    ['a piece that skipped a case', NAMED, { report: { a: 'passed', b: 'skipped' } }, '1 of its test cases did not run (b)', ['b']],
    [
      'a piece in which a case failed as expected',
      NAMED,
      { report: { a: 'passed', b: 'expected_failure' } },
      '1 test case failed as expected, but did not do so before (b)',
      ['b'],
    ],
    [
      'a rest in which a new case failed as expected',
      REST,
      { report: { a: 'passed', c: 'expected_failure' } },
      '1 test case failed as expected, but did not do so before (c)',
      ['c'],
    ],
    ['a piece that left a case out', NAMED, { report: { a: 'passed' } }, '1 of its test cases did not run (b)', ['b']],
    ['a piece of which nothing is reported', NAMED, { report: null }, 'it is not known whether its 2 test cases ran', ['a', 'b']],
    [
      'a failed one of which nothing is reported',
      NAMED,
      { code: 1, report: null },
      'it is not known whether its 2 test cases ran',
      ['a', 'b'],
    ],
    ['a rest that skipped a new case', REST, { report: { a: 'passed', c: 'skipped' } }, '1 of its test cases did not run (c)', ['c']],
    ['a case that fails on trial', TRIAL, { code: 1, report: { a: 'failed', b: 'passed' } }, '1 test case failed (a)', ['a']],
    ['one that ends the run at its first failure', TRIAL, { code: 1, report: { a: 'failed' } }, '1 test case failed (a)', ['a', 'b']],
    [
      'a command that fails on trial after all cases passed',
      TRIAL,
      { ...PASSED, code: 1 },
      'but no test case of the piece did',
      ['a', 'b'],
    ],
    ['a command that fails after all cases passed', NAMED, { ...PASSED, code: 1 }, 'but no test case of the piece did', ['a', 'b']],
    [
      'a failure of another piece',
      NAMED,
      { code: 1, report: { ...PASSED.report, c: 'failed' } },
      'but no test case of the piece did',
      ['a', 'b'],
    ],
  ])('%s', async (_, piece, command, why, passedWhole) => {
    const good = await run(piece, command, WHOLE);
    expect(good).toMatchObject({ recorded: [{ path: PATH }], failed: [], asked: [piece, null] });
    expect(good.report[0]).toEqual({ path: PATH, passed_whole: passedWhole });
    expect(good.stderrText).toContain(`${why}: running the whole file ${FILE}\n`);
    expect(good.stderrText).toContain(`${FILE} passed as a whole: later builds do not run it in pieces`);
    const bad = await run(piece, command, { code: 1, report: { ...WHOLE.report, a: 'failed', b: 'failed', c: 'failed' } });
    expect(bad).toMatchObject({ failed: [PATH], report: [{ path: PATH, passed_whole: [] }, { path: FILE }] });
    expect(bad.stderrText).not.toContain('passed as a whole');
  });

  it('a piece of cases that the file has no more, which says nothing against pieces', async () => {
    const ran = await run(TRIAL, { code: 1, report: { new: 'skipped' } }, { report: { new: 'passed', c: 'passed' } });
    expect(ran).toMatchObject({ failed: [], asked: [TRIAL, null], report: [{ path: PATH, passed_whole: [] }, { path: FILE }] });
  });

  it('and the piece has the time of both commands', async () => {
    expect(await run(NAMED, { report: { a: 'passed' } }, WHOLE)).toMatchObject({ recorded: recordedAs(8) });
  });

  it('but nothing ran if nothing says that the whole file did', async () => {
    const ran = await run(NAMED, { report: { a: 'passed' } }, { report: null, isUnreported: true });
    expect(ran).toMatchObject({ recorded: recordedAs(0), failed: [] });
  });
});

describe('the whole file runs in the place of a piece that cannot be selected', () => {
  const inPlace = (command: Command | null) =>
    runBy((runFile, testCases) => runWhole(NAMED, 'it has a filter', runFile, testCases), [command]);

  it('and the server learns its cases as those of the file, and its time as that of the piece', async () => {
    const report = [PATH, FILE].map(path => ({ path, passed_whole: [] }));
    const beside = runBy(
      (runFile, testCases) => {
        testCases.addFile('long.test.js', 1000, []);
        return runWhole(NAMED, 'it has a filter', runFile, testCases);
      },
      [WHOLE],
    );
    expect(await beside).toMatchObject({ report });
    expect(await inPlace(WHOLE)).toMatchObject({ recorded: recordedAs(6), failed: [], asked: [null], report });
  });

  it('and counts as failed if a signal ends it', async () => {
    expect(await inPlace(null)).toMatchObject({ recorded: [], failed: [PATH], report: [] });
  });
});

it('cases with names that the server would refuse are not reported, and the others are', async () => {
  const long = 'x'.repeat(5000);
  const ran = await run(
    REST,
    { report: { a: 'failed', [long]: 'skipped', '': 'skipped' } },
    { report: { a: 'passed', [long]: 'passed', '': 'passed' } },
  );
  expect(ran.report[0]).toEqual({ path: PATH, passed_whole: ['a'] });
});
