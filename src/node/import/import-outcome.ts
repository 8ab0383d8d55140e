import { agree } from '../../base/plural.js';
import { print } from '../../base/terminal.js';
import type { Format } from '../reports/format.js';
import type { Skipped } from '../reports/skipped-entries.js';
import type { ImportCounts } from './record-builds.js';

/** More files than this are not named, but counted. */
export const MAX_NAMED = 10;

export interface ImportedFile {
  file: string;
  format: Format;
}

/** Reports without builds, recorded as one build. */
export interface ImportedSuite {
  commit_hash: string;
  longest: { path: string; time_execution: number };
}

export interface ImportOutcome extends ImportCounts, Partial<ImportedSuite> {
  files: ImportedFile[];
  skipped: Skipped[];
  dry_run: boolean;
}

/** The options of the import that its outcome depends on. */
interface OutcomeOptions {
  branch: string;
  cases?: true;
  json?: true;
}

/** Prints the outcome of an import. */
export function printOutcome(outcome: ImportOutcome, { branch, cases, json }: OutcomeOptions): void {
  if (json) return void print(JSON.stringify(outcome));
  const { files, builds, runs, test_files, seconds, known_runs, skipped, dry_run, commit_hash, longest } = outcome;
  const isSuite = longest !== undefined && builds <= 1;
  const verb = dry_run ? 'would import' : 'imported';
  const total = `${seconds.toFixed(1)} s`;
  for (const line of describeFiles(files)) print(line);
  if (runs === 0 && known_runs === 0) print(skipped.length > 0 ? 'nothing was imported' : 'there are no builds to import');
  else if (runs > 0 && isSuite)
    print(
      `${verb} ${count(test_files, cases ? 'test case' : 'test file')}, ${total} (longest ${longest.time_execution.toFixed(1)} s: ${longest.path}), as commit ${commit_hash} of branch ${branch}`,
    );
  else if (runs > 0) print(`${verb} ${count(builds, 'build')}, ${count(runs, 'run')}, ${count(test_files, 'time')}, ${total}`);
  if (known_runs > 0)
    print(count(known_runs, 'run was there already, and stays as it is', 'runs were there already, and stay as they are'));
  if (runs > 0 && !isSuite && !dry_run)
    print('the builds keep their order, but count as recorded now: the protocol has no field for the time of a recording');
  for (const each of skipped) print(describeSkipped(each));
}

function describeFiles(files: readonly ImportedFile[]): string[] {
  if (files.length <= MAX_NAMED) return files.map(({ file, format }) => `${file}: ${format}`);
  const numbers = new Map<Format, number>();
  for (const { format } of files) numbers.set(format, (numbers.get(format) ?? 0) + 1);
  return [...numbers].map(([format, number]) => `${count(number, 'file')}: ${format}`);
}

function count(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number.toLocaleString('en')} ${agree(number, noun, nouns)}`;
}

export function describeSkipped({ reason, count, examples }: Skipped): string {
  return `left out ${count.toLocaleString('en')}: ${reason} (${examples.join(', ')}${count > examples.length ? ', ...' : ''})`;
}
