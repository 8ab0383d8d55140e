import type { Format } from '../reports/format.js';
import type { Skipped } from '../reports/skipped-entries.js';
import { print } from '../terminal.js';
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
export function printOutcome(outcome: ImportOutcome, options: OutcomeOptions): void {
  if (options.json) {
    print(JSON.stringify(outcome));
    return;
  }
  const lines = [
    ...describeFiles(outcome.files),
    ...describeRecorded(outcome, options),
    ...describeStored(outcome.known_runs),
    ...describeOrder(outcome),
    ...outcome.skipped.map(describeSkipped),
  ];
  for (const line of lines) print(line);
}

function describeFiles(files: readonly ImportedFile[]): string[] {
  return files.length > MAX_NAMED
    ? countFormats(files).map(([format, number]) => `${count(number, 'file')}: ${format}`)
    : files.map(({ file, format }) => `${file}: ${format}`);
}

function describeRecorded(outcome: ImportOutcome, { branch, cases }: OutcomeOptions): string[] {
  const { builds, runs, test_files, seconds, known_runs, skipped, dry_run } = outcome;
  if (runs === 0) {
    if (known_runs > 0) return [];
    return [skipped.length > 0 ? 'nothing was imported' : 'there are no builds to import'];
  }
  const verb = dry_run ? 'would import' : 'imported';
  const total = `${seconds.toFixed(1)} s`;
  if (isSuite(outcome)) {
    const { commit_hash, longest } = outcome;
    const longestSeconds = longest.time_execution.toFixed(1);
    return [
      `${verb} ${count(test_files, cases ? 'test case' : 'test file')}, ${total} (longest ${longestSeconds} s: ${longest.path}), as commit ${commit_hash} of branch ${branch}`,
    ];
  }
  return [`${verb} ${count(builds, 'build')}, ${count(runs, 'run')}, ${count(test_files, 'time')}, ${total}`];
}

function describeStored(runs: number): string[] {
  if (runs === 0) return [];
  return [`${count(runs, 'run')} ${runs === 1 ? 'was there already, and stays as it is' : 'were there already, and stay as they are'}`];
}

function describeOrder(outcome: ImportOutcome): string[] {
  if (isSuite(outcome) || outcome.runs === 0 || outcome.dry_run) return [];
  return ['the builds keep their order, but count as recorded now: the protocol has no field for the time of a recording'];
}

function isSuite(outcome: ImportOutcome): outcome is ImportOutcome & ImportedSuite {
  return outcome.longest !== undefined && outcome.builds <= 1;
}

function count(number: number, noun: string): string {
  return `${number.toLocaleString('en')} ${noun}${number === 1 ? '' : 's'}`;
}

function countFormats(files: readonly ImportedFile[]): [Format, number][] {
  const numbers = new Map<Format, number>();
  for (const { format } of files) numbers.set(format, (numbers.get(format) ?? 0) + 1);
  return [...numbers];
}

export function describeSkipped({ reason, count, examples }: Skipped): string {
  return `left out ${count.toLocaleString('en')}: ${reason} (${examples.join(', ')}${count > examples.length ? ', ...' : ''})`;
}
