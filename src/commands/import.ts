import { createHash } from 'node:crypto';
import { ConfigError } from '../config.js';
import { readBuilds } from '../reports/builds.js';
import type { Format } from '../reports/format.js';
import { readers } from '../reports/readers.js';
import { ReportError } from '../reports/report.js';
import { type Skipped, SuiteTimes } from '../reports/suite-times.js';
import { type OpenReport, openReport } from './open-report.js';
import { type Progress, startProgress } from './progress.js';
import { BuildRecorder, parts, type Tally } from './record-builds.js';
import type { Remote } from './remote.js';
import { remoteBuilds } from './remote-builds.js';

export interface ImportOptions {
  url?: string;
  token?: string;
  format?: Format;
  root?: string;
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

interface FileTold {
  file: string;
  format: Format;
}

interface Outcome extends Tally {
  files: FileTold[];
  /** Of reports. */
  commit_hash?: string;
  skipped: Skipped[];
  dry_run: boolean;
}

/** Records timings of elsewhere on a server, so that its first split is balanced. Reports are read whole before any of them is recorded. */
export async function importTimings(files: readonly string[], options: ImportOptions): Promise<void> {
  const to = target(files, options);
  const recorder = new BuildRecorder(to);
  const progress = startProgress();
  const told: FileTold[] = [];
  const skipped: Skipped[] = [];
  let commit_hash: string | undefined;
  try {
    if (options.from !== undefined) {
      const from = { url: options.from, token: options.fromToken! };
      for await (const build of remoteBuilds(from, options.builds ?? Infinity, recorder.leftovers, progress)) await recorder.record(build);
    } else {
      const opened: OpenReport[] = [];
      for (const file of files) opened.push(await openReport(file, options.format ?? null, progress));
      told.push(...opened.map(({ file, format }) => ({ file, format })));
      const reports = opened.filter(({ format }) => format !== 'ballast');
      if (reports.length > 0) commit_hash = await recordReports(reports, recorder, options, skipped);
      for (const report of opened) if (report.format === 'ballast') commit_hash = (await recordExport(report, recorder, options, skipped, progress)) ?? commit_hash;
    }
  } catch (error) {
    const { runs } = recorder.tally;
    if (runs === 0 || to === null) throw error;
    throw new Error(`${(error as Error).message}; ${runs} runs were recorded before that: import again, and what is there stays as it is`, { cause: error });
  } finally {
    progress.end();
  }
  skipped.push(...recorder.leftovers.all);
  const { seconds, ...tally } = recorder.tally;
  print({ files: told, ...(commit_hash === undefined ? {} : { commit_hash }), ...tally, seconds: Number(seconds.toFixed(4)), skipped, dry_run: to === null }, options);
}

/** Adds up what all reports tell, and records it as one build. Returns the commit of that. */
async function recordReports(reports: readonly OpenReport[], recorder: BuildRecorder, options: ImportOptions, skipped: Skipped[]): Promise<string> {
  const suite = new SuiteTimes({ root: options.root ?? process.cwd(), cases: options.cases ?? false });
  for (const { file, format, bytes } of reports) {
    try {
      if (format !== 'ballast') await readers[format](bytes, suite.tell, options.root ?? null);
      const complaint = suite.endReport();
      if (complaint) throw new ReportError(complaint);
    } catch (error) {
      throw new Error(`cannot read ${file} as ${format}: ${(error as Error).message}; nothing was imported`, { cause: error });
    }
  }
  return recordSuite(suite, reports, recorder, options, skipped);
}

async function recordSuite(suite: SuiteTimes, reports: readonly OpenReport[], recorder: BuildRecorder, options: ImportOptions, skipped: Skipped[]): Promise<string> {
  const times = suite.times();
  skipped.push(...suite.leftovers.all);
  if (times.size === 0) {
    const names = reports.map(({ file, format }) => `${file} (${format})`).join(', ');
    throw new Error(`there are no timings in ${names}${skipped.map(leftOut).map(line => `; ${line}`).join('')}`);
  }
  const test_files = [...times].map(([path, time_execution]) => ({ path, time_execution }));
  const build_subsets = [...parts(test_files)].map((part, node_index) => ({ node_index, test_files: part }));
  // Of the same content the same build, of newer timings another: estimates follow builds.
  const commit_hash = options.commitHash ?? `import-${digest(times)}`;
  await recorder.record({ commit_hash, branch: options.branch, node_total: build_subsets.length, build_subsets });
  return commit_hash;
}

/** Returns the commit of timings that came without builds. */
async function recordExport(report: OpenReport, recorder: BuildRecorder, options: ImportOptions, skipped: Skipped[], progress: Progress): Promise<string | undefined> {
  const { file, bytes } = report;
  const timings = new SuiteTimes({ root: '/', cases: true });
  let builds = 0;
  try {
    for await (const build of readBuilds(bytes, options.project ?? null, timings.tell)) {
      await recorder.record(build);
      builds += 1;
      progress.tell(() => `${file}: ${builds.toLocaleString('en')} builds imported`);
    }
  } catch (error) {
    throw new Error(`cannot import ${file}: ${(error as Error).message}`, { cause: error });
  }
  return builds > 0 ? undefined : recordSuite(timings, [report], recorder, options, skipped);
}

/** Where to record, null for a dry run. Throws what is wrong with the flags. */
function target(files: readonly string[], { from, fromToken, builds, url, token, dryRun }: ImportOptions): Remote | null {
  const complaints: string[] = [];
  if (files.length === 0 && from === undefined) complaints.push('name the files to import, or another server with --from');
  if (files.length > 0 && from !== undefined) complaints.push('import either files or --from another server');
  if (from !== undefined && !fromToken) complaints.push('--from needs --from-token (BALLAST_FROM_TOKEN): the token of the project there');
  if (builds === 0) complaints.push('--builds 0 imports nothing: leave it out for all of them');
  if (from === undefined && builds !== undefined) complaints.push('--builds goes with --from: a file is read as it comes');
  if (!dryRun && (!url || !token)) complaints.push('--url and --token (BALLAST_URL, BALLAST_TOKEN) name the server and the project to import into; --dry-run only reads');
  if (complaints.length > 0) throw new ConfigError(complaints);
  return dryRun ? null : { url: url!, token: token! };
}

function digest(times: ReadonlyMap<string, number>): string {
  const hash = createHash('sha256');
  for (const path of [...times.keys()].sort()) hash.update(`${JSON.stringify(path)}${times.get(path)!}\n`);
  return hash.digest('hex').slice(0, 12);
}

function print(outcome: Outcome, { json, branch, cases }: ImportOptions): void {
  if (json) {
    process.stdout.write(`${JSON.stringify(outcome)}\n`);
    return;
  }
  const { files, builds, runs, test_files, seconds, known_runs, commit_hash, skipped, dry_run } = outcome;
  const count = (number: number, what: string) => `${number.toLocaleString('en')} ${what}${number === 1 ? '' : 's'}`;
  const isSuite = commit_hash !== undefined && builds <= 1;
  const lines = files.map(({ file, format }) => `${file}: ${format}`);
  const amount = `${count(test_files, isSuite ? (cases ? 'test case' : 'test file') : 'time')}, ${seconds.toFixed(1)} s`;
  if (runs > 0 || known_runs === 0) {
    lines.push(`${dry_run ? 'would import' : 'imported'} ${isSuite ? `${amount}, as commit ${commit_hash} of branch ${branch}` : `${count(builds, 'build')}, ${count(runs, 'run')}, ${amount}`}`);
  }
  if (known_runs > 0) lines.push(`${count(known_runs, 'run')} ${known_runs === 1 ? 'was' : 'were'} there already, and ${known_runs === 1 ? 'stays' : 'stay'} as ${known_runs === 1 ? 'it is' : 'they are'}`);
  if (!isSuite && runs > 0 && !dry_run) lines.push('they count as recorded now, in the order of before: the protocol has no way to say when');
  // A path may be anything, and a terminal obeys.
  process.stdout.write([...lines, ...skipped.map(leftOut), ''].join('\n').replaceAll(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/g, '?'));
}

function leftOut({ reason, count, examples }: Skipped): string {
  return `left out ${count.toLocaleString('en')}: ${reason} (${examples.join(', ')}${count > examples.length ? ', ...' : ''})`;
}
