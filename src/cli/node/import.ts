import { createHash } from 'node:crypto';
import { resolve } from 'node:path';
import { pluralize } from '../../base/plural.js';
import { abbreviate, printToStderr, startProgress } from '../../base/terminal.js';
import { UsageError } from '../../base/usage-error.js';
import { isServerUrl, isToken, withoutSecrets } from '../../node/client/address.js';
import { parseBuildList } from '../../node/client/answers.js';
import { Api } from '../../node/client/api.js';
import { filesMatching, readList } from '../../node/client/test-files.js';
import { describeSkipped, type ImportedFile, type ImportedSuite, MAX_NAMED, printOutcome } from '../../node/import/import-outcome.js';
import { type OpenReport, openReport } from '../../node/import/open-report.js';
import { BuildRecorder, requestChunks } from '../../node/import/record-builds.js';
import { remoteBuilds } from '../../node/import/remote-builds.js';
import { readBuilds } from '../../node/reports/builds.js';
import type { Format } from '../../node/reports/format.js';
import { ListedFiles } from '../../node/reports/known-files.js';
import { readers } from '../../node/reports/readers.js';
import { ReportError } from '../../node/reports/report.js';
import type { Skipped } from '../../node/reports/skipped-entries.js';
import { SuiteTimes } from '../../node/reports/suite-times.js';

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
  /** Number of the newest builds to import from another server. */
  builds?: number;
  dryRun?: true;
  json?: true;
}

/** Reading or recording a large build takes a while. */
const TIMEOUT_SECONDS = 60;
/** One answer has all runs of a build. */
const MAX_ANSWER_BYTES = 256 * 2 ** 20;

/** Imports timings recorded by other tools. It reads all reports before it records the first one. */
export async function importTimings(files: readonly string[], options: ImportOptions): Promise<void> {
  const errors = optionErrors(files, options);
  if (errors.length > 0) throw new UsageError(errors);
  await new Import(options).run(files);
}

class Import {
  /** Null: a dry run. */
  readonly #api: Api | null;
  readonly #recorder: BuildRecorder;
  readonly #progress = startProgress();
  readonly #files: ImportedFile[] = [];
  readonly #skipped: Skipped[] = [];
  #suite: ImportedSuite | undefined;

  constructor(private readonly options: ImportOptions) {
    this.#api = options.dryRun ? null : createApi(options.url!, options.token!, options);
    this.#recorder = new BuildRecorder(this.#api);
  }

  async run(files: readonly string[]): Promise<void> {
    const { options } = this;
    try {
      if (options.from !== undefined) await this.#importServer(options.from);
      else await this.#importFiles(files);
    } catch (error) {
      const { runs } = this.#recorder.counts;
      if (runs === 0 || this.#api === null) throw error;
      const { message, exitCode } = error as Error & { exitCode?: number };
      throw Object.assign(
        new Error(`${message}; ${pluralize(runs, 'run was', 'runs were')} recorded before that: import again, which records no run twice`, {
          cause: error,
        }),
        { exitCode },
      );
    } finally {
      this.#progress.end();
    }
    const { seconds, ...counts } = this.#recorder.counts;
    const skipped = [...this.#skipped, ...this.#recorder.skipped.entries];
    printOutcome(
      { files: this.#files, ...this.#suite, ...counts, seconds: Number(seconds.toFixed(4)), skipped, dry_run: this.#api === null },
      options,
    );
  }

  async #importServer(url: string): Promise<void> {
    const source = createApi(url, this.options.fromToken!, this.options);
    // Detects a wrong token of the target before the lists of builds are read.
    if (this.#api) await this.#api.get('/v1/builds', parseBuildList);
    for await (const build of remoteBuilds(source, this.options.builds ?? Infinity, this.#recorder.skipped, this.#progress))
      await this.#recorder.record(build);
  }

  async #importFiles(args: readonly string[]): Promise<void> {
    const { root, cases = false, filesFrom, format = null } = this.options;
    const paths = await expandArguments(args);
    const known = filesFrom === undefined ? null : new ListedFiles(await readList(filesFrom));
    const times = new SuiteTimes({ root: root ?? process.cwd(), known, cases });
    const exports: OpenReport[] = [];
    for (const path of paths) {
      const report = await openReport(path, format, this.#progress);
      this.#files.push({ file: path, format: report.format });
      if (report.format === 'ballast') exports.push(report);
      else await readReport(times, report, root ?? null);
    }
    if (exports.length < paths.length) await this.#recordSuite(times, this.#files);
    for (const report of exports) await this.#recordExport(report);
  }

  /** Records the times of reports as one build. */
  async #recordSuite(suiteTimes: SuiteTimes, reports: readonly ImportedFile[]): Promise<void> {
    const times = suiteTimes.times();
    this.#skipped.push(...suiteTimes.skipped.entries);
    if (times.size === 0) throw new Error(noTimingsMessage(reports, this.#skipped, suiteTimes.known));
    const test_files = [...times].map(([path, time_execution]) => ({ path, time_execution }));
    const build_subsets = [...requestChunks(test_files)].map((chunk, node_index) => ({ node_index, test_files: chunk }));
    // Estimates follow builds, so new timings need a new build. The same timings again give the same build.
    const commit_hash = this.options.commitHash ?? `import-${timesDigest(times)}`;
    await this.#recorder.record({ commit_hash, branch: this.options.branch, node_total: build_subsets.length, build_subsets });
    const longest = test_files.reduce((longest, file) => (file.time_execution > longest.time_execution ? file : longest));
    this.#suite = { commit_hash, longest };
  }

  /** Records the builds of an export; or, if it has none, its timings as one build. */
  async #recordExport(report: OpenReport): Promise<void> {
    const { file, bytes } = report;
    const timings = new SuiteTimes({ root: '/', known: null, cases: true });
    let builds = 0;
    try {
      for await (const build of readBuilds(bytes, this.options.project ?? null, timings.timeCollector('ballast'))) {
        await this.#recorder.record(build);
        builds += 1;
        this.#progress.show(() => `${builds.toLocaleString('en')} builds of ${file}`);
      }
    } catch (error) {
      throw new Error(`cannot import ${file}: ${(error as Error).message}`, { cause: error });
    }
    if (builds === 0) await this.#recordSuite(timings, [report]);
  }
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

async function readReport(suite: SuiteTimes, { file, format, bytes }: OpenReport, root: string | null): Promise<void> {
  const note = (sentence: string) => printToStderr(`WARNING: ${file}: ${sentence}`);
  try {
    if (format !== 'ballast') await readers[format](bytes, suite.timeCollector(format), { root, known: suite.known, note });
    const error = suite.endReport();
    if (error) throw new ReportError(error);
  } catch (error) {
    throw new Error(`cannot read ${file} as ${format}: ${(error as Error).message}; nothing was imported`, { cause: error });
  }
}

function noTimingsMessage(reports: readonly ImportedFile[], skipped: readonly Skipped[], list: ListedFiles | null): string {
  const names =
    reports.length > MAX_NAMED
      ? `${reports.length.toLocaleString('en')} files`
      : reports.map(({ file, format }) => `${file} (${format})`).join(', ');
  return [
    `there are no timings of test files in ${names}`,
    ...skipped.map(describeSkipped),
    ...(list ? [`the list has ${abbreviate(list.paths)}`] : []),
  ].join('; ');
}

function optionErrors(files: readonly string[], options: ImportOptions): string[] {
  const { from, fromToken, filesFrom, builds, url, token, dryRun } = options;
  const errors: string[] = [];
  if (files.length === 0 && from === undefined) errors.push('name the files to import, or another server with --from');
  if (files.length > 0 && from !== undefined) errors.push('import either files or --from another server');
  if (filesFrom === '-' && files.includes('-')) errors.push('stdin (-) is either a file to import or the list of --files-from');
  if (from !== undefined && !fromToken) errors.push('--from needs --from-token (BALLAST_FROM_TOKEN): the token of the project there');
  for (const [flag, text] of Object.entries({ '--url': url, '--from': from }))
    if (text && !isServerUrl(text)) errors.push(`${flag} ${withoutSecrets(text)} is not an address such as https://ballast.example.com`);
  for (const [flag, text] of Object.entries({ '--token': token, '--from-token': fromToken }))
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
