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
import { type Progress, startProgress } from './process/progress.js';

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
  /** Of an export that has several. */
  project?: string;
  from?: string;
  fromToken?: string;
  /** The newest so many. */
  builds?: number;
  dryRun?: true;
  json?: true;
}

/** Reading or recording a large build takes a while. */
const TIMEOUT_SECONDS = 60;
/** One answer has all runs of a build. */
const MAX_ANSWER_BYTES = 256 * 2 ** 20;

/** Imports timings recorded by other tools. All reports are read before the first one is recorded. */
export async function importTimings(files: readonly string[], options: ImportOptions): Promise<void> {
  const to = createTargetApi(files, options);
  const recorder = new BuildRecorder(to);
  const progress = startProgress();
  const told: ImportedFile[] = [];
  const skipped: Skipped[] = [];
  let suite: ImportedSuite | undefined;
  try {
    if (options.from !== undefined) {
      const from = createApi(options.from, options.fromToken!, options);
      // A wrong token shows before all lists of builds are read.
      if (to) await to.get('/v1/builds', parseBuildList);
      for await (const build of remoteBuilds(from, options.builds ?? Infinity, recorder.skipped, progress)) await recorder.record(build);
    } else {
      const named = await expandArguments(files);
      const times = await createSuite(options, named.length === 1);
      const exports: OpenReport[] = [];
      for (const file of named) {
        const report = await openReport(file, options.format ?? null, progress);
        told.push({ file, format: report.format });
        if (report.format === 'ballast') exports.push(report);
        else await readReport(times, report, options);
      }
      if (exports.length < told.length) suite = await recordSuite(times, told, recorder, options, skipped);
      for (const report of exports) suite = (await recordExport(report, recorder, options, skipped, progress)) ?? suite;
    }
  } catch (error) {
    const { runs } = recorder.counts;
    if (runs === 0 || to === null) throw error;
    const { message, exitCode } = error as Error & { exitCode?: number };
    throw Object.assign(
      new Error(`${message}; ${runs} runs were recorded before that: import again, which does not record them twice`, { cause: error }),
      { exitCode },
    );
  } finally {
    progress.end();
  }
  skipped.push(...recorder.skipped.entries);
  const { seconds, ...tally } = recorder.counts;
  printOutcome({ files: told, ...suite, ...tally, seconds: Number(seconds.toFixed(4)), skipped, dry_run: to === null }, options);
}

async function createSuite({ root, cases, filesFrom }: ImportOptions, isOnlyReport: boolean): Promise<SuiteTimes> {
  const known = filesFrom === undefined ? null : new ListedFiles(await readList(filesFrom));
  return new SuiteTimes({ root: root ?? process.cwd(), known, cases: cases ?? false, isOnlyReport });
}

/** Each once; globs, too, where the shell left them alone. What there is not is told when it is opened. */
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
    const complaint = suite.endReport();
    if (complaint) throw new ReportError(complaint);
  } catch (error) {
    throw new Error(`cannot read ${file} as ${format}: ${(error as Error).message}; nothing was imported`, { cause: error });
  }
}

/** Records all that the reports told as one build. */
async function recordSuite(
  told: SuiteTimes,
  reports: readonly ImportedFile[],
  recorder: BuildRecorder,
  options: ImportOptions,
  skipped: Skipped[],
): Promise<ImportedSuite> {
  const times = told.times();
  skipped.push(...told.skipped.entries);
  if (times.size === 0) {
    const names =
      reports.length > MAX_NAMED
        ? `${reports.length.toLocaleString('en')} files`
        : reports.map(({ file, format }) => `${file} (${format})`).join(', ');
    throw new Error(
      `there are no timings of test files in ${names}${skipped
        .map(describeSkipped)
        .map(line => `; ${line}`)
        .join('')}`,
    );
  }
  const test_files = [...times].map(([path, time_execution]) => ({ path, time_execution }));
  const build_subsets = [...requestChunks(test_files)].map((part, node_index) => ({ node_index, test_files: part }));
  // Of the same content the same build, of newer timings another: estimates follow builds.
  const commit_hash = options.commitHash ?? `import-${timesDigest(times)}`;
  await recorder.record({ commit_hash, branch: options.branch, node_total: build_subsets.length, build_subsets });
  return { commit_hash, longest: test_files.reduce((longest, file) => (file.time_execution > longest.time_execution ? file : longest)) };
}

/** Returns what was recorded of timings that came without builds. */
async function recordExport(
  report: OpenReport,
  recorder: BuildRecorder,
  options: ImportOptions,
  skipped: Skipped[],
  progress: Progress,
): Promise<ImportedSuite | undefined> {
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
  return builds > 0 ? undefined : recordSuite(timings, [report], recorder, options, skipped);
}

/** Where to record, null for a dry run. Throws what is wrong with the flags. */
function createTargetApi(files: readonly string[], options: ImportOptions): Api | null {
  const { from, fromToken, filesFrom, builds, url, token, dryRun } = options;
  const complaints: string[] = [];
  if (files.length === 0 && from === undefined) complaints.push('name the files to import, or another server with --from');
  if (files.length > 0 && from !== undefined) complaints.push('import either files or --from another server');
  if (filesFrom === '-' && files.includes('-')) complaints.push('stdin (-) is either a file to import or the list of --files-from');
  if (from !== undefined && !fromToken) complaints.push('--from needs --from-token (BALLAST_FROM_TOKEN): the token of the project there');
  for (const [flag, text] of [
    ['--url', url],
    ['--from', from],
  ])
    if (text && !isServerUrl(text)) complaints.push(`${flag} ${text} is no address, such as https://ballast.example.com`);
  for (const [flag, text] of [
    ['--token', token],
    ['--from-token', fromToken],
  ])
    if (text && !isToken(text)) complaints.push(`${flag} has characters that no token has: was it copied whole, and alone?`);
  if (builds === 0) complaints.push('--builds 0 imports nothing: leave it out for all of them');
  if (from === undefined && builds !== undefined) complaints.push('--builds goes with --from: a file is read as it comes');
  if (!dryRun && (!url || !token))
    complaints.push('--url and --token (BALLAST_URL, BALLAST_TOKEN) name the server and the project to import into; --dry-run only reads');
  if (complaints.length > 0) throw new ConfigError(complaints);
  return dryRun ? null : createApi(url!, token!, options);
}

function createApi(url: string, token: string, { retries, clientVersion }: ImportOptions): Api {
  return new Api({ url, token, retries, clientVersion, timeoutSeconds: TIMEOUT_SECONDS, maxBytes: MAX_ANSWER_BYTES });
}

function timesDigest(times: ReadonlyMap<string, number>): string {
  const hash = createHash('sha256');
  for (const path of [...times.keys()].sort()) hash.update(`${JSON.stringify(path)}${times.get(path)!}\n`);
  return hash.digest('hex').slice(0, 12);
}
