import type { ImportOptions } from '../cli/import.js';
import type { Format } from '../reports/format.js';
import type { Skipped } from '../reports/skipped-entries.js';
import { print } from '../terminal.js';
import type { ImportCounts } from './record-builds.js';

/** More files than this are told of by their number. */
export const MAX_NAMED = 10;

export interface ImportedFile {
  file: string;
  format: Format;
}

/** What was recorded of reports, and not of builds. */
export interface ImportedSuite {
  commit_hash: string;
  longest: { path: string; time_execution: number };
}

export interface ImportOutcome extends ImportCounts, Partial<ImportedSuite> {
  files: ImportedFile[];
  skipped: Skipped[];
  dry_run: boolean;
}

/** Prints what became of an import. */
export function printOutcome(outcome: ImportOutcome, { json, branch, cases }: ImportOptions): void {
  if (json) {
    print(JSON.stringify(outcome));
    return;
  }
  const { files, builds, runs, test_files, seconds, known_runs, commit_hash, longest, skipped, dry_run } = outcome;
  const count = (number: number, what: string) => `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;
  const isSuite = longest !== undefined && builds <= 1;
  const lines =
    files.length > MAX_NAMED
      ? countFormats(files).map(([format, number]) => `${count(number, 'file')}: ${format}`)
      : files.map(({ file, format }) => `${file}: ${format}`);
  const amount = `${count(test_files, isSuite ? (cases ? 'test case' : 'test file') : 'time')}, ${seconds.toFixed(1)} s`;
  const done = dry_run ? 'would import' : 'imported';
  if (runs === 0 && known_runs === 0) lines.push(skipped.length > 0 ? 'nothing was imported' : 'there are no builds to import');
  else if (runs > 0)
    lines.push(
      isSuite
        ? `${done} ${amount} (longest ${longest.time_execution.toFixed(1)} s: ${longest.path}), as commit ${commit_hash} of branch ${branch}`
        : `${done} ${count(builds, 'build')}, ${count(runs, 'run')}, ${amount}`,
    );
  if (known_runs > 0)
    lines.push(
      `${count(known_runs, 'run')} ${known_runs === 1 ? 'was' : 'were'} there already, and ${known_runs === 1 ? 'stays' : 'stay'} as ${known_runs === 1 ? 'it is' : 'they are'}`,
    );
  if (!isSuite && runs > 0 && !dry_run)
    lines.push('they count as recorded now, in the order of before: the protocol has no way to say when');
  for (const line of [...lines, ...skipped.map(describeSkipped)]) print(line);
}

function countFormats(files: readonly ImportedFile[]): [Format, number][] {
  const numbers = new Map<Format, number>();
  for (const { format } of files) numbers.set(format, (numbers.get(format) ?? 0) + 1);
  return [...numbers];
}

export function describeSkipped({ reason, count, examples }: Skipped): string {
  return `left out ${count.toLocaleString('en')}: ${reason} (${examples.join(', ')}${count > examples.length ? ', ...' : ''})`;
}
