import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { text } from 'node:stream/consumers';
import { expect } from 'vitest';
import type { CaseReport, Piece, PieceRunner } from '../../../src/node/pieces/piece.js';
import type { CaseOutcomes } from '../../../src/protocol/case-outcomes.js';
import { plainEnvironment } from '../../harness/process.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

interface Run {
  code: number | null;
  /** stdout and stderr. */
  output: string;
  /** Report on the file; undefined: nothing. */
  report: CaseReport | undefined;
}

/** A folder with test files, in whose pieces a real test runner runs. */
export class PieceProject {
  readonly folder = temporaryFolder();

  constructor(
    readonly runner: PieceRunner,
    readonly command: readonly string[],
    files: Readonly<Record<string, string>>,
  ) {
    for (const [path, content] of Object.entries(files)) this.write(path, content);
  }

  write(path: string, content: string): void {
    mkdirSync(dirname(join(this.folder, path)), { recursive: true });
    writeFileSync(join(this.folder, path), content);
  }

  /** Runs a piece of a file; null: the whole file. @param prepare gets the folder of the hook before the run */
  async run(
    path: string,
    names: { cases: string[] } | { others: string[] } | null,
    args: readonly string[] = [],
    prepare: (folder: string) => void = () => {},
  ): Promise<Run> {
    const file = join(this.folder, path);
    const folder = mkdtempSync(join(this.folder, "it's a folder-"));
    const piece: Piece | null = names && { path: '', file, isTrial: false, cases: [], others: null, outcomes: new Map(), ...names };
    const environment = plainEnvironment({ PYTHONDONTWRITEBYTECODE: '1', PYTEST_DISABLE_PLUGIN_AUTOLOAD: '1', LC_ALL: 'C' });
    const selection = this.runner.select(piece, folder, environment)!;
    prepare(folder);
    const [program, ...words] = [...this.command, ...args, path, ...selection.args];
    const child = spawn(program!, words, {
      cwd: this.folder,
      env: { ...environment, ...selection.environment },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const [stdout, stderr, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')]);
    return { code: code as number | null, output: stdout + stderr, report: this.runner.reportsOf([file], new Map(), folder)?.get(file) };
  }

  /** Expects that a piece of the first case runs all cases of the file when the hook cannot read what it is. */
  async expectWholeWithoutPiece(path: string, cases: readonly [string, ...string[]]): Promise<void> {
    const broken = [(file: string) => writeFileSync(file, '{"file":'), (file: string) => rmSync(file)];
    for (const spoil of broken) {
      const run = await this.run(path, { cases: [cases[0]] }, [], folder => spoil(join(folder, 'piece.json')));
      expect({ code: run.code, ran: ran(run) }).toEqual({ code: 0, ran: cases });
    }
  }

  /** Expects that two pieces with a third of the cases each and one with the rest run each case once, with its outcome in the whole file. */
  async expectSamePieces(path: string, args: readonly string[] = []): Promise<Record<string, string>> {
    const whole = await this.run(path, null, args);
    expect(whole, whole.output).toMatchObject({ report: { listed: expect.any(Set) as Set<string> } });
    const names = [...whole.report!.listed!];
    const [first, second] = [0, 1].map(part => names.filter((_, i) => i % 3 === part)) as [string[], string[]];
    const pieces = [
      await this.run(path, { cases: first }, args),
      await this.run(path, { cases: second }, args),
      await this.run(path, { others: [...first, ...second] }, args),
    ];
    for (const { report, output } of pieces) expect(report?.listed, output).toEqual(whole.report!.listed);
    const outcomes = (runs: readonly Run[]) =>
      runs.flatMap(({ report }) => report!.cases.map(({ name, outcomes }) => `${name} ${outcomeText(outcomes)}`)).sort();
    expect(outcomes(pieces)).toEqual(outcomes([whole]));
    return Object.fromEntries(whole.report!.cases.map(({ name, outcomes }) => [name, outcomeText(outcomes)]));
  }
}

/** Such as "passed", or "2 passed, 1 skipped". */
export function outcomeText(outcomes: CaseOutcomes): string {
  const all = Object.entries(outcomes);
  return all.length === 1 && all[0]![1] === 1
    ? all[0]![0]
    : all
        .map(([outcome, count]) => `${count} ${outcome}`)
        .sort()
        .join(', ');
}

/** The names of the cases that ran. */
export const ran = ({ report }: Run) => report?.cases.map(({ name }) => name);
