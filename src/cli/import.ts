import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { isServerUrl, isToken } from '../client/address.js';
import { parseBuildList } from '../client/answers.js';
import { Api } from '../client/api.js';
import { filesMatching, readList } from '../client/test-files.js';
import { describeSkipped, type ImportedFile, type ImportedSuite, MAX_NAMED, printOutcome } from '../import/import-outcome.js';
import { type OpenReport, openReport } from '../import/open-report.js';
import { BuildRecorder, requestChunks } from '../import/record-builds.js';
import { remoteBuilds } from '../import/remote-builds.js';
import { readBuilds } from '../reports/builds.js';
import type { Format } from '../reports/format.js';
import { ListedFiles } from '../reports/known-files.js';
import { readers } from '../reports/readers.js';
import { ReportError } from '../reports/report.js';
import type { Skipped } from '../reports/skipped-entries.js';
import { SuiteTimes } from '../reports/suite-times.js';
import { ConfigError } from '../server/config.js';
import { type Progress, startProgress } from '../terminal.js';

export interface ImportOptions {
  url?: string;
  token?: string;
  retries: number;
  clientVersion: string;
  format?: Format;
  root?: string;
  /** A list of the test files; `-` is stdin. */
  filesFrom?: string;
  cases?: true;
  commitHash?: string;
  branch: string;
  /** The project to read from an export. */
  project?: string;
  from?: string;
  fromToken?: string;
  /** How many of the newest builds to import from another server. */
  builds?: number;
  dryRun?: true;
  json?: true;
}

/** Reading or recording a large build takes a while. */
const TIMEOUT_SECONDS = 60;
/** One answer has all runs of a build. */
const MAX_ANSWER_BYTES = 256 * 2 ** 20;

/** What was read, besides the builds, which the recorder counts. */
interface Imported {
  files: ImportedFile[];
  suite: ImportedSuite | undefined;
  skipped: Skipped[];
}

/** Imports timings recorded by other tools. It reads all reports before it records the first one. */
export async function importTimings(files: readonly string[], options: ImportOptions): Promise<void> {
  const api = createTargetApi(files, options);
  const recorder = new BuildRecorder(api);
  const progress = startProgress();
  const imported: Imported = { files: [], suite: undefined, skipped: [] };
  try {
    if (options.from !== undefined) await importServer(options.from, api, recorder, options, progress);
    else await importFiles(files, imported, recorder, options, progress);
  } catch (error) {
    const { runs } = recorder.counts;
    if (runs === 0 || api === null) throw error;
    const { message, exitCode } = error as Error & { exitCode?: number };
    throw Object.assign(
      new Error(`${message}; ${runs} runs were recorded before that: import again, which does not record them twice`, { cause: error }),
      { exitCode },
    );
  } finally {
    progress.end();
  }
  const { seconds, ...counts } = recorder.counts;
  const skipped = [...imported.skipped, ...recorder.skipped.entries];
  printOutcome(
    { files: imported.files, ...imported.suite, ...counts, seconds: Number(seconds.toFixed(4)), skipped, dry_run: api === null },
    options,
  );
}

async function importServer(
  url: string,
  target: Api | null,
  recorder: BuildRecorder,
  options: ImportOptions,
  progress: Progress,
): Promise<void> {
  const source = createApi(url, options.fromToken!, options);
  // Detects a wrong token of the target before the lists of builds are read.
  if (target) await target.get('/v1/builds', parseBuildList);
  for await (const build of remoteBuilds(source, options.builds ?? Infinity, recorder.skipped, progress)) await recorder.record(build);
}

async function importFiles(
  args: readonly string[],
  imported: Imported,
  recorder: BuildRecorder,
  options: ImportOptions,
  progress: Progress,
): Promise<void> {
  const paths = await expandArguments(args);
  const times = await createSuite(options, paths.length === 1);
  const exports: OpenReport[] = [];
  for (const path of paths) {
    const report = await openReport(path, options.format ?? null, progress);
    imported.files.push({ file: path, format: report.format });
    if (report.format === 'ballast') exports.push(report);
    else await readReport(times, report, options);
  }
  if (exports.length < paths.length) await recordSuite(times, imported.files, imported, recorder, options);
  for (const report of exports) await recordExport(report, imported, recorder, options, progress);
}

async function createSuite({ root, cases, filesFrom }: ImportOptions, isOnlyReport: boolean): Promise<SuiteTimes> {
  const known = filesFrom === undefined ? null : new ListedFiles(await readList(filesFrom));
  return new SuiteTimes({ root: root ?? process.cwd(), known, cases: cases ?? false, isOnlyReport });
}

/** Expands globs that the shell left alone, and removes duplicates. A path that does not exist is kept: opening it fails with an error. */
async function expandArguments(args: readonly string[]): Promise<string[]> {
  const byPath = new Map<string, string>();
  for (const arg of args) {
    const files = arg === '-' ? [] : (await filesMatching([arg])).sort();
    for (const file of files.length > 0 ? files : [arg]) byPath.set(file === '-' ? file : resolve(file), file);
  }
  return [...byPath.values()];
}

async function readReport(suite: SuiteTimes, { file, format, bytes }: OpenReport, { root }: ImportOptions): Promise<void> {
  try {
    if (format !== 'ballast') await readers[format](bytes, suite.timeCollector(format), { root: root ?? null, known: suite.known });
    const error = suite.endReport();
    if (error) throw new ReportError(error);
  } catch (error) {
    throw new Error(`cannot read ${file} as ${format}: ${(error as Error).message}; nothing was imported`, { cause: error });
  }
}

/** Records the times of reports as one build. */
async function recordSuite(
  suiteTimes: SuiteTimes,
  reports: readonly ImportedFile[],
  imported: Imported,
  recorder: BuildRecorder,
  options: ImportOptions,
): Promise<void> {
  const times = suiteTimes.times();
  imported.skipped.push(...suiteTimes.skipped.entries);
  if (times.size === 0) throw new Error(noTimingsMessage(reports, imported.skipped));
  const test_files = [...times].map(([path, time_execution]) => ({ path, time_execution }));
  const build_subsets = [...requestChunks(test_files)].map((chunk, node_index) => ({ node_index, test_files: chunk }));
  // Estimates follow builds, so new timings need a new build. The same timings again give the same build.
  const commit_hash = options.commitHash ?? `import-${timesDigest(times)}`;
  await recorder.record({ commit_hash, branch: options.branch, node_total: build_subsets.length, build_subsets });
  const longest = test_files.reduce((longest, file) => (file.time_execution > longest.time_execution ? file : longest));
  imported.suite = { commit_hash, longest };
}

function noTimingsMessage(reports: readonly ImportedFile[], skipped: readonly Skipped[]): string {
  const names =
    reports.length > MAX_NAMED
      ? `${reports.length.toLocaleString('en')} files`
      : reports.map(({ file, format }) => `${file} (${format})`).join(', ');
  return [`there are no timings of test files in ${names}`, ...skipped.map(describeSkipped)].join('; ');
}

/** Records the builds of an export; or, if it has none, its timings as one build. */
async function recordExport(
  report: OpenReport,
  imported: Imported,
  recorder: BuildRecorder,
  options: ImportOptions,
  progress: Progress,
): Promise<void> {
  const { file, bytes } = report;
  const timings = new SuiteTimes({ root: '/', known: null, cases: true });
  let builds = 0;
  try {
    for await (const build of readBuilds(bytes, options.project ?? null, timings.timeCollector('ballast'))) {
      await recorder.record(build);
      builds += 1;
      progress.show(() => `${builds.toLocaleString('en')} builds of ${file}`);
    }
  } catch (error) {
    throw new Error(`cannot import ${file}: ${(error as Error).message}`, { cause: error });
  }
  if (builds === 0) await recordSuite(timings, [report], imported, recorder, options);
}

/** Returns the API to record with; null: a dry run. Throws if the flags are wrong. */
function createTargetApi(files: readonly string[], options: ImportOptions): Api | null {
  const errors = optionErrors(files, options);
  if (errors.length > 0) throw new ConfigError(errors);
  return options.dryRun ? null : createApi(options.url!, options.token!, options);
}

function optionErrors(files: readonly string[], options: ImportOptions): string[] {
  const { from, fromToken, filesFrom, builds, url, token, dryRun } = options;
  const errors: string[] = [];
  if (files.length === 0 && from === undefined) errors.push('name the files to import, or another server with --from');
  if (files.length > 0 && from !== undefined) errors.push('import either files or --from another server');
  if (filesFrom === '-' && files.includes('-')) errors.push('stdin (-) is either a file to import or the list of --files-from');
  if (from !== undefined && !fromToken) errors.push('--from needs --from-token (BALLAST_FROM_TOKEN): the token of the project there');
  for (const [flag, text] of [
    ['--url', url],
    ['--from', from],
  ])
    if (text && !isServerUrl(text)) errors.push(`${flag} ${text} is not an address such as https://ballast.example.com`);
  for (const [flag, text] of [
    ['--token', token],
    ['--from-token', fromToken],
  ])
    if (text && !isToken(text))
      errors.push(`${flag} has characters that no token has: check that it was copied completely and without other text`);
  if (builds === 0) errors.push('--builds 0 imports nothing: omit it to import all builds');
  if (from === undefined && builds !== undefined) errors.push('--builds needs --from: all builds of a file are imported');
  if (!dryRun && (!url || !token))
    errors.push('--url and --token (BALLAST_URL, BALLAST_TOKEN) name the server and the project to import into; --dry-run only reads');
  return errors;
}

function createApi(url: string, token: string, { retries, clientVersion }: ImportOptions): Api {
  return new Api({ url, token, retries, clientVersion, timeoutSeconds: TIMEOUT_SECONDS, maxBytes: MAX_ANSWER_BYTES });
}

function timesDigest(times: ReadonlyMap<string, number>): string {
  const hash = createHash('sha256');
  for (const path of [...times.keys()].sort()) hash.update(`${JSON.stringify(path)}${times.get(path)!}\n`);
  return hash.digest('hex').slice(0, 12);
}
