import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { Api } from '../../../src/client/api.js';
import type { CommandRunner } from '../../../src/client/command-runner.js';
import { NodeRun } from '../../../src/client/node-run.js';
import { vitest } from '../../../src/client/pieces/vitest.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

type Outcome = 'passed' | 'failed' | 'skipped';
/** What one command does: its exit code, and the cases of its report. */
type Ran = readonly [code: number, cases: Readonly<Record<string, Outcome>>];

const FILE = 'a.test.js';
const PATH = `${FILE}::piece 1 of 2`;
const ELEMENTS = { passed: '', failed: '<failure/>', skipped: '<skipped/>' };

/** Runs a piece with the cases a and b, whose commands do this. Returns the result, what is told of it, and what the commands selected. */
async function runPiece(isTrial: boolean, ...commands: Ran[]) {
  const folder = temporaryFolder();
  const selected: boolean[] = [];
  const runner = {
    signal: null,
    run: async (command: readonly string[]) => {
      const [exitCode, cases] = commands[selected.length]!;
      selected.push(command.some(arg => arg.startsWith('--testNamePattern=')));
      const elements = Object.entries(cases).map(
        ([name, outcome]) => `<testcase name="${name}" file="${FILE}" time="2">${ELEMENTS[outcome]}</testcase>`,
      );
      writeFileSync(join(folder, `${selected.length}.xml`), `<testsuites><testsuite>${elements.join('')}</testsuite></testsuites>`);
      return { exitCode, seconds: 4, startError: null };
    },
  } as unknown as CommandRunner;
  let stderrText = '';
  const stderr = vi.spyOn(process.stderr, 'write').mockImplementation(text => Boolean((stderrText += String(text))));
  onTestFinished(() => stderr.mockRestore());
  const node = new NodeRun([FILE], ['vitest'], [`${folder}/*.xml`], {}, runner, {}, { name: 'vitest', runner: vitest });
  const piece = { path: PATH, file: FILE, cases: ['a', 'b'], others: null, skipped: [], isTrial };
  const result = await node.runBatch([{ path: PATH, expected: 4, piece }]);
  let told: { path: string; passed_whole?: string[] }[] = [];
  vi.spyOn(Api.prototype, 'post').mockImplementation(
    async (_, message) => void (told = (message as { files: typeof told }).files) as never,
  );
  onTestFinished(() => void vi.restoreAllMocks());
  const options = { url: 'http://127.0.0.1:1', token: 'token', retries: 0, clientVersion: '1' };
  await node.testCases.tell(new Api(options), { commit_hash: 'c', branch: 'main', node_total: 2, node_index: 0 });
  const passedWhole = told.find(({ path }) => path === PATH)?.passed_whole ?? [];
  return { failed: result.failed, recorded: result.recorded.map(({ path }) => path), selected, passedWhole, stderrText };
}

const PIECE_ONLY = [true];
const THEN_WHOLE = [true, false];
const OTHERS = { c: 'skipped' } as const;

describe('a piece', () => {
  it('counts if all of its cases passed', async () => {
    const ran = await runPiece(true, [0, { a: 'passed', b: 'passed', ...OTHERS }]);
    expect(ran).toEqual({ failed: [], recorded: [PATH], selected: PIECE_ONLY, passedWhole: [], stderrText: '' });
  });

  it('counts if a case failed in it, and earlier pieces of the file passed', async () => {
    const ran = await runPiece(false, [1, { a: 'failed', b: 'passed', ...OTHERS }]);
    expect(ran).toMatchObject({ failed: [PATH], selected: PIECE_ONLY, passedWhole: [] });
  });

  it('does not count if one of its cases did not run', async () => {
    const ran = await runPiece(false, [0, { a: 'passed', b: 'skipped' }], [0, { a: 'passed', b: 'passed', c: 'passed' }]);
    expect(ran).toMatchObject({ failed: [], recorded: [PATH], selected: THEN_WHOLE, passedWhole: ['b'] });
  });
});

describe('the whole file judges', () => {
  const WHOLE = { a: 'passed', b: 'passed', c: 'passed' } as const;

  it('a case that fails in the first pieces of a file', async () => {
    const ran = await runPiece(true, [1, { a: 'failed', b: 'passed', ...OTHERS }], [0, WHOLE]);
    expect(ran).toMatchObject({ failed: [], recorded: [PATH], selected: THEN_WHOLE, passedWhole: ['a'] });
    expect(ran.stderrText).toContain(`${FILE} passed as a whole file: it is not run in pieces again`);
  });

  it('a case that fails in it, too', async () => {
    const ran = await runPiece(true, [1, { a: 'failed', b: 'passed', ...OTHERS }], [1, { ...WHOLE, a: 'failed' }]);
    expect(ran).toMatchObject({ failed: [PATH], passedWhole: [] });
  });

  it.each([true, false])('a command that fails although all cases passed (on trial: %s)', async isTrial => {
    const ran = await runPiece(isTrial, [1, { a: 'passed', b: 'passed', ...OTHERS }], [0, WHOLE]);
    expect(ran).toMatchObject({ failed: [], recorded: [PATH], selected: THEN_WHOLE, passedWhole: ['a', 'b'] });
    expect(ran.stderrText).toContain(`${PATH}: the command failed, and no test case did: running the whole file ${FILE}`);
  });

  it('a piece of cases that the file has no more, which says nothing against pieces', async () => {
    const ran = await runPiece(true, [1, { new: 'skipped', ...OTHERS }], [0, { new: 'passed', c: 'passed' }]);
    expect(ran).toMatchObject({ failed: [], recorded: [PATH], selected: THEN_WHOLE, passedWhole: [] });
  });
});
