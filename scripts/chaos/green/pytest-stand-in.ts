import { appendFileSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join, resolve } from 'node:path';
import { type CaseRun, casePath, caseReport, runCases } from './cases.js';
import { type FileRun, formatFileRun, SILENT_SECONDS } from './runner.js';
import type { Kill, PieceFault } from './scenario.js';

/**
 * A stand-in for pytest with the hook of Ballast's client, which needs no Python. It has the variables of `runner.ts`, and in addition:
 * $STAND_IN is what follows, in JSON.
 */
export interface StandIn {
  /** The cases of long files. */
  cases: Readonly<Record<string, readonly string[]>>;
  caseSeconds: number;
  fault: PieceFault | null;
  killAtPiece: Extract<Kill['at'], { piece: unknown }> | null;
}

interface AskedPiece {
  file: string;
  names: string[];
  isRest: boolean;
}

interface Unit extends Pick<FileRun, 'path' | 'outcome'> {
  file: string;
  /** Null: the file has no names of cases. */
  ran: CaseRun | null;
}

const { env } = process;
const { cases, caseSeconds, fault, killAtPiece } = JSON.parse(env.STAND_IN!) as StandIn;
const start = Number(env.START);
const command = Number(env.BALLAST_BATCH ?? 1);
const files = process.argv.slice(2).map(path => path.replace(/^\.\//, ''));
const isFaulty = (kind: PieceFault['kind']) => fault?.kind === kind && command % fault.every === 0;

const hook =
  env.PYTEST_ADDOPTS?.includes('-p ballast_piece') && !isFaulty('the hook is not loaded') ? env.PYTHONPATH!.split(delimiter)[0]! : null;
const piece = hook === null ? null : (JSON.parse(readFileSync(join(hook, 'piece.json'), 'utf8')) as AskedPiece | null);

function isSelected(file: string, name: string): boolean {
  if (!piece || piece.file !== resolve(file) || isFaulty('the selection is ignored')) return true;
  return piece.names.includes(name) !== piece.isRest;
}

function unitsOfFile(file: string): Unit[] {
  const names = cases[file];
  if (names) {
    const selected = names.filter(name => isSelected(file, name));
    const run = piece && isFaulty('a piece ends early') ? selected.slice(0, selected.length / 2) : selected;
    return runCases(run, start).map(ran => ({ file, ran, path: casePath(file, ran), outcome: ran.outcome }));
  }
  const isFailed = file.includes('_fails') || (file.includes('_flaky') && start === 1);
  return [{ file, ran: null, path: file, outcome: isFailed ? 'failed' : file.includes('_skipped') ? 'skipped' : 'passed' }];
}

const tellNode = (signal: string) => process.kill(-Number(env.JOB), `SIG${signal}`);

function wait(seconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1000 * seconds);
}

function killNode(): never {
  tellNode(env.KILL_SIGNAL!);
  // The signal may reach the client first, which then ends this process.
  wait(SILENT_SECONDS);
  tellNode('KILL');
  process.exit(9);
}

function pause(): void {
  if (env.STOPS_NODE) tellNode('STOP');
  wait(SILENT_SECONDS);
  if (env.STOPS_NODE) tellNode('CONT');
}

const units = files.flatMap(unitsOfFile);
const isFatal = start === 1 && killAtPiece !== null && piece !== null && piece.isRest === (killAtPiece.piece === 'rest');
if (isFatal && !killAtPiece.afterwards) killNode();
if (start === 1 && env.PAUSE_BATCH === String(command)) pause();
const last = start === 1 && env.KILL_BATCH === String(command) ? Math.min(Number(env.KILL_FILE), units.length) : 0;
for (const [i, { file, path, outcome }] of units.entries()) {
  if (i + 1 === last) killNode();
  if (file.includes('_hangs_stubbornly')) process.on('SIGTERM', () => {});
  if (file.includes('_hangs')) wait(Infinity);
  if (env.CRASHES && start === 1 && i + 1 > units.length / 2) process.exit(1);
  appendFileSync(env.RAN!, formatFileRun({ buildId: env.CI_RUN!, job: env.JOB_NAME!, start, outcome, path }));
}

const INSIDE = { passed: '', failed: '<failure/>', skipped: '<skipped/>', expected_failure: "<skipped type='pytest.xfail'/>" };
const reported = units.flatMap(({ file, ran, outcome }) => {
  if (ran === null && /_unreported|_skipped/.test(file)) return [];
  const seconds = outcome === 'skipped' ? 0 : ran === null ? 0.25 : caseSeconds;
  return `<testcase name='${ran?.name ?? 'one'}' file='${file}' time='${seconds}'>${INSIDE[outcome]}</testcase>`;
});
writeFileSync(env.REPORT!, `<testsuites><testsuite>${reported.join('')}</testsuite></testsuites>`);
if (hook !== null && !isFaulty('the hook tells nothing')) {
  const report = files.map(file => {
    const ran = units.flatMap(unit => (unit.file === file && unit.ran ? unit.ran : []));
    const ofNames = caseReport(ran, caseSeconds).map(({ name, outcomes, seconds }) => [name, outcomes, seconds]);
    return [resolve(file), { listed: cases[file] ?? [], cases: ofNames }];
  });
  writeFileSync(join(hook, `cases-${process.pid}.json`), JSON.stringify(Object.fromEntries(report)));
}
if (isFatal) killNode();
const isFailed = units.some(({ outcome }) => outcome === 'failed');
// As pytest ends if it ran no test.
process.exitCode = env.LOSES_EXIT_CODE ? 0 : isFailed ? 1 : units.length === 0 ? 5 : 0;
