import { createHash } from 'node:crypto';
import { limits } from '../../protocol/limits.js';
import type { RecordedTestFile } from '../../protocol/messages/parameters.js';
import { parseBuildList, parseRecording } from '../client/answers.js';
import type { Api } from '../client/api.js';
import { oldestFirst, type RecordedBuild, type RecordedRun } from '../reports/builds.js';
import { pathError, SkippedEntries, secondsError } from '../reports/skipped-entries.js';
import { fetchBuild } from './remote-builds.js';

export interface ImportCounts {
  builds: number;
  runs: number;
  test_files: number;
  seconds: number;
  /** Runs that the server already had. */
  known_runs: number;
}

/** Fields that identify a build. */
type BuildKey = Pick<RecordedBuild, 'commit_hash' | 'branch' | 'node_total'>;

/** Limits of one request: it must not block the server for long, nor exceed its limits. */
const MAX_FILES = Math.min(50_000, limits.testFilesPerRequest);
const MAX_BYTES = 8 * 2 ** 20;

/** Records builds on a server. Importing a build again does not record its runs again. */
export class BuildRecorder {
  readonly counts: ImportCounts = { builds: 0, runs: 0, test_files: 0, seconds: 0, known_runs: 0 };
  readonly skipped = new SkippedEntries();

  /** @param api null: count what would be recorded, but record nothing */
  constructor(private readonly api: Api | null) {}

  /** Resolves when the server has stored the build. */
  async record({ build_subsets, ...build }: RecordedBuild): Promise<void> {
    const key: BuildKey = { commit_hash: build.commit_hash, branch: build.branch, node_total: build.node_total };
    const error = keyError(key);
    if (error) return this.skipped.add(error, `build of commit ${key.commit_hash.slice(0, 100)}`);
    const stored = this.api === null ? new Map<string, number>() : await countStoredRuns(this.api, key);
    const { runs } = this.counts;
    for (const run of oldestFirst(build_subsets)) {
      if (run.node_index < key.node_total) await this.#recordRun(key, run, stored);
      else
        this.skipped.add(
          'the index of the node is not below the number of nodes of its build',
          `node ${run.node_index} of ${key.node_total} of commit ${key.commit_hash}`,
        );
    }
    if (this.counts.runs > runs) this.counts.builds += 1;
  }

  async #recordRun(key: BuildKey, run: RecordedRun, stored: Map<string, number>): Promise<void> {
    const { node_index } = run;
    // A node that had nothing to run is recorded, too.
    const chunks = run.test_files.length === 0 ? [[]] : requestChunks(this.#recordableFiles(run));
    for (const test_files of chunks) {
      const digest = runDigest(node_index, test_files);
      const count = stored.get(digest) ?? 0;
      if (count > 0) {
        stored.set(digest, count - 1);
        this.counts.known_runs += 1;
        continue;
      }
      const message = { ...key, node_index, test_files };
      if (this.api !== null && !(await this.api.post('/v1/build_subsets', message, parseRecording)).isStored) {
        this.skipped.add('the server keeps no more runs of the node', `node ${node_index} of commit ${key.commit_hash}`);
        continue;
      }
      this.counts.runs += 1;
      this.counts.test_files += test_files.length;
      for (const { time_execution } of test_files) this.counts.seconds += time_execution;
    }
  }

  #recordableFiles({ test_files }: RecordedRun): RecordedTestFile[] {
    const files: RecordedTestFile[] = [];
    for (const { path, time_execution, outcome } of test_files) {
      const seconds = time_execution ?? NaN;
      const error = pathError(path) ?? secondsError(seconds);
      if (error) this.skipped.add(error, path);
      else files.push({ path, time_execution: seconds, ...(outcome && { outcome }) });
    }
    return files;
  }
}

/** Returns the runs that the server has of a build, counted by digest. */
async function countStoredRuns(api: Api, { commit_hash, branch, node_total }: BuildKey): Promise<Map<string, number>> {
  const query = new URLSearchParams({ commit_hash, branch, node_total: String(node_total) });
  const { data } = await api.get(`/v1/builds?${query.toString()}`, parseBuildList);
  const stored = new Map<string, number>();
  for (const { id } of data) {
    const build = await fetchBuild(api, id);
    // A server that ignores the filter lists other builds, too.
    if (build?.commit_hash !== commit_hash || build.branch !== branch || build.node_total !== node_total) continue;
    for (const { node_index, test_files } of build.build_subsets) {
      const digest = runDigest(node_index, test_files);
      stored.set(digest, (stored.get(digest) ?? 0) + 1);
    }
  }
  return stored;
}

/** Divides test files into parts that fit into one request each. */
export function* requestChunks(test_files: readonly RecordedTestFile[]): Generator<RecordedTestFile[]> {
  let chunk: RecordedTestFile[] = [];
  let bytes = 0;
  for (const file of test_files) {
    // A bound on its size as JSON: a UTF-16 code unit takes at most three bytes.
    const size = 60 + 3 * file.path.length;
    if (chunk.length > 0 && (chunk.length >= MAX_FILES || bytes + size > MAX_BYTES)) {
      yield chunk;
      chunk = [];
      bytes = 0;
    }
    chunk.push(file);
    bytes += size;
  }
  if (chunk.length > 0) yield chunk;
}

/** Identifies a run by its content, independent of the order of its test files. */
export function runDigest(node_index: number, test_files: RecordedRun['test_files']): string {
  const lines = test_files.map(({ path, time_execution }) => `${JSON.stringify(path)}${String(time_execution)}`).sort();
  return createHash('sha256')
    .update(`${node_index}\n${lines.join('\n')}`)
    .digest('base64');
}

function keyError({ commit_hash, branch, node_total }: BuildKey): string | null {
  const { textMaxCharacters: max, nodesPerBuild } = limits;
  if (commit_hash.length > max || branch.length > max) return `the commit or branch has more than ${max} characters`;
  return node_total > nodesPerBuild ? `the build has more than ${nodesPerBuild} nodes` : null;
}
