import { createHash } from 'node:crypto';
import type { RecordedTestFile } from '../api/messages/test-file.js';
import { parseBuildList, parseRecording } from '../client/answers.js';
import type { Api } from '../client/api.js';
import { limits } from '../limits.js';
import { oldestFirst, type RecordedBuild, type RecordedRun } from '../reports/builds.js';
import { pathError, SkippedEntries, secondsError } from '../reports/skipped-entries.js';
import { fetchBuild } from './remote-builds.js';

/** What became of builds that were to be recorded. */
export interface ImportCounts {
  builds: number;
  runs: number;
  test_files: number;
  seconds: number;
  /** Runs that were there already, word for word. */
  known_runs: number;
}

type BuildKey = Pick<RecordedBuild, 'commit_hash' | 'branch' | 'node_total'>;

/** A request is not to hold up a server for long, nor to meet a limit of it. */
const MAX_FILES = Math.min(50_000, limits.testFilesPerRequest);
const MAX_BYTES = 8 * 2 ** 20;

/** Records builds on a server, each run of them once, however often that is done. */
export class BuildRecorder {
  readonly counts: ImportCounts = { builds: 0, runs: 0, test_files: 0, seconds: 0, known_runs: 0 };
  readonly skipped = new SkippedEntries();

  /** @param to null: only look what it would be */
  constructor(private readonly api: Api | null) {}

  /** Resolves when the build is on disk. */
  async record({ build_subsets, ...key }: RecordedBuild): Promise<void> {
    const triple: BuildKey = { commit_hash: key.commit_hash, branch: key.branch, node_total: key.node_total };
    const complaint = keyError(triple);
    if (complaint) return this.skipped.add(complaint, `build of commit ${key.commit_hash.slice(0, 100)}`);
    const known = this.api === null ? new Map<string, number>() : await countStoredRuns(this.api, triple);
    const { runs } = this.counts;
    for (const run of oldestFirst(build_subsets)) {
      if (run.node_index < key.node_total) await this.#recordRun(triple, run, known);
      else this.skipped.add('the node is none of its build', `node ${run.node_index} of ${key.node_total} of commit ${key.commit_hash}`);
    }
    if (this.counts.runs > runs) this.counts.builds += 1;
  }

  async #recordRun(triple: BuildKey, run: RecordedRun, known: Map<string, number>): Promise<void> {
    const { node_index } = run;
    // A node that had nothing to run is recorded, too.
    const all = run.test_files.length === 0 ? [[]] : requestChunks(this.#recordableFiles(run));
    for (const test_files of all) {
      const digest = runDigest(node_index, test_files);
      const count = known.get(digest) ?? 0;
      if (count > 0) {
        known.set(digest, count - 1);
        this.counts.known_runs += 1;
        continue;
      }
      const isStored = this.api === null || (await this.#send(this.api, { ...triple, node_index, test_files }));
      if (isStored) this.#count(test_files);
      else this.skipped.add('the server keeps no more runs of the node', `node ${node_index} of commit ${triple.commit_hash}`);
    }
  }

  async #send(to: Api, message: BuildKey & RecordedRun): Promise<boolean> {
    return (await to.post('/v1/build_subsets', message, parseRecording)).isStored;
  }

  #recordableFiles({ test_files }: RecordedRun): RecordedTestFile[] {
    const measured: RecordedTestFile[] = [];
    for (const { path, time_execution } of test_files) {
      const seconds = time_execution ?? NaN;
      const complaint = pathError(path) ?? secondsError(seconds);
      if (complaint) this.skipped.add(complaint, path);
      else measured.push({ path, time_execution: seconds });
    }
    return measured;
  }

  #count(test_files: readonly RecordedTestFile[]): void {
    this.counts.runs += 1;
    this.counts.test_files += test_files.length;
    for (const { time_execution } of test_files) this.counts.seconds += time_execution;
  }
}

/** What is recorded of the build: how many runs of each digest. */
async function countStoredRuns(api: Api, { commit_hash, branch, node_total }: BuildKey): Promise<Map<string, number>> {
  const query = new URLSearchParams({ commit_hash, branch, node_total: String(node_total) });
  const { data } = await api.get(`/v1/builds?${query.toString()}`, parseBuildList);
  const known = new Map<string, number>();
  for (const { id } of data) {
    const build = await fetchBuild(api, id);
    // A server that does not filter lists other builds, too.
    if (build?.commit_hash !== commit_hash || build.branch !== branch || build.node_total !== node_total) continue;
    for (const { node_index, test_files } of build.build_subsets) {
      const digest = runDigest(node_index, test_files);
      known.set(digest, (known.get(digest) ?? 0) + 1);
    }
  }
  return known;
}

/** In parts that a request can have. */
export function* requestChunks(test_files: readonly RecordedTestFile[]): Generator<RecordedTestFile[]> {
  let part: RecordedTestFile[] = [];
  let bytes = 0;
  for (const file of test_files) {
    // As JSON, and a character may take three bytes.
    const size = 60 + 3 * file.path.length;
    if (part.length > 0 && (part.length >= MAX_FILES || bytes + size > MAX_BYTES)) {
      yield part;
      part = [];
      bytes = 0;
    }
    part.push(file);
    bytes += size;
  }
  if (part.length > 0) yield part;
}

/** The same for the same run, in whatever order a server lists its test files. */
export function runDigest(node_index: number, test_files: RecordedRun['test_files']): string {
  const lines = test_files.map(({ path, time_execution }) => `${JSON.stringify(path)}${String(time_execution)}`).sort();
  return createHash('sha256')
    .update(`${node_index}\n${lines.join('\n')}`)
    .digest('base64');
}

function keyError({ commit_hash, branch, node_total }: BuildKey): string | null {
  const { textMaxCharacters: most, nodesPerBuild } = limits;
  if (commit_hash.length > most || branch.length > most) return `the commit or branch has more than ${most} characters`;
  return node_total > nodesPerBuild ? `it has more than ${nodesPerBuild} nodes` : null;
}
