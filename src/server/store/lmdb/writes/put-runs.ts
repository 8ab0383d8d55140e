import type { NodeKey } from '../../../engine/keys.js';
import type { Recorded } from '../../../engine/ports/recordings.js';
import type { Millis } from '../../../engine/ports/store.js';
import { defaultBranchAfter, type LastRun, newBuild, outcomeOf, withRun } from '../../../engine/recordings.js';
import { areSameRuns, fileCount } from '../../codecs/run-times.js';
import { addToIndex, buildCount } from '../build-index.js';
import { hasRun, runsOfNode } from '../builds.js';
import type { BuildRecord, RunKey, RunRecord } from '../records.js';
import type { Tables } from '../tables.js';
import { kindOf, type PendingRun } from './apply-times.js';

/** A recorded run of a node, to be put into the tables. */
export interface RunToPut {
  project: number;
  key: NodeKey;
  /** The digest of its build, see buildDigest. */
  build: string;
  hasTestCases: boolean;
  isRetry: boolean;
  /** Counts all runs in the order in which they were sent. Numbers may be missing. `pendingRuns` and the journal use it. */
  entry: number;
  /** Its ordinal is 0 until it is put. */
  run: RunRecord;
  /** Its node has no other run in the build: known when it was sent, and not after a restart. */
  isFirst?: true;
}

/** Facts to apply the times of a run that was put, or the reason why the run was not put. */
export type PutRun = PendingRun | Exclude<Recorded, 'recorded'>;

/**
 * Puts runs within one write transaction. Many runs are of the same builds, so each build is read and put once. Puts the keys of all runs
 * into `pendingRuns`, under the number of the last run.
 */
export function putRuns(tables: Tables, runs: readonly RunToPut[]): PutRun[] {
  const group = new Group(tables);
  const put = runs.map(run => group.put(run));
  group.end(runs.at(-1)!.entry);
  return put;
}

interface NumberedBuild {
  number: number;
  record: BuildRecord;
}

class Group {
  readonly #builds = new Map<string, NumberedBuild>();
  readonly #changed = new Set<NumberedBuild>();
  readonly #recorded: RunKey[] = [];
  /** The last build that was created. */
  #last: NumberedBuild | null = null;

  constructor(readonly tables: Tables) {}

  put({ project, key, build: digest, run, hasTestCases, isRetry, isFirst }: RunToPut): PutRun {
    const { tables } = this;
    const at = run.created_at;
    const existing = this.#find(digest);
    const last = existing && !isFirst ? lastRun(tables, existing.number, key.node_index) : null;
    const outcome = outcomeOf(last && toLastRun(tables, last, run, isRetry), isRetry, at);
    if (outcome !== 'recorded') return outcome;

    const build = existing ?? this.#create(project, key, digest, at);
    const { number, record } = build;
    Object.assign(record, withRun(record, fileCount(run), at));
    this.#changed.add(build);
    const runKey: RunKey = [number, key.node_index, (last?.key[2] ?? 0) + 1];
    void tables.subsets.put(runKey, { ...run, ordinal: record.recorded });
    this.#recorded.push(runKey);
    if (hasTestCases) noteTestCases(tables, project);
    return { project, branch: key.branch, build: record.id, began: record.created_at, at, run: kindOf(runKey) };
  }

  /** Puts what several runs of the group may have changed. */
  end(entry: number): void {
    const { builds, meta, pendingRuns } = this.tables;
    if (this.#recorded.length > 0) void pendingRuns.put(entry, this.#recorded);
    for (const { number, record } of this.#changed) void builds.put(number, record);
    if (this.#last) void meta.put('nextBuild', this.#last.number + 1);
  }

  #find(digest: string): NumberedBuild | null {
    const found = this.#builds.get(digest);
    if (found) return found;
    const number = this.tables.buildNumbers.get(digest);
    if (number === undefined) return null;
    const build = { number, record: this.tables.builds.get(number)! };
    this.#builds.set(digest, build);
    return build;
  }

  #create(project: number, key: NodeKey, digest: string, at: Millis): NumberedBuild {
    const { tables } = this;
    const number = this.#last ? this.#last.number + 1 : (tables.meta.get('nextBuild') ?? 1);
    const before = this.#last?.record ?? tables.builds.get(number - 1);
    const record: BuildRecord = newBuild(project, key, before, tables.meta.get('lastOrdinal') ?? 0, at);
    addToIndex(tables, project, record, number);
    void tables.buildNumbers.put(digest, number);
    void tables.buildNumbers.put(record.id, number);
    void tables.expiry.put([at, 'build', number], true);
    this.#chooseDefaultBranch(project, key.branch);
    const build = { number, record };
    this.#builds.set(digest, build);
    this.#last = build;
    return build;
  }

  /** Chooses the default branch after a build was created. */
  #chooseDefaultBranch(project: number, branch: string): void {
    const { projects } = this.tables;
    const record = projects.get(project);
    if (!record) return;
    const default_branch = defaultBranchAfter(record, branch, name => buildCount(this.tables, project, { branch: name }));
    if (default_branch !== record.default_branch) void projects.put(project, { ...record, default_branch });
  }
}

interface KeptRun {
  key: RunKey;
  run: RunRecord;
}

/** The last run of a node in a build; null: it has none. */
function lastRun(tables: Pick<Tables, 'subsets'>, build: number, node_index: number): KeptRun | null {
  // Nearly always it has none, and a count costs less than a range.
  if (!hasRun(tables, build, node_index)) return null;
  const newestFirst = { start: [build, node_index, Infinity], end: [build, node_index, 0], reverse: true, limit: 1 };
  const [last] = [...tables.subsets.getRange(newestFirst as object)];
  return { key: last!.key, run: last!.value };
}

function toLastRun({ subsets }: Pick<Tables, 'subsets'>, { key, run }: KeptRun, next: RunRecord, isRetry: boolean): LastRun {
  const [build, node_index] = key;
  const kept = subsets.getKeysCount(runsOfNode(build, node_index));
  return { created_at: run.created_at, isSame: isRetry && areSameRuns(run, next), kept };
}

/** Notes that a file of the project may have times of its test cases only. */
function noteTestCases(tables: Tables, project: number): void {
  const record = tables.projects.get(project);
  if (record && !record.has_test_cases) void tables.projects.put(project, { ...record, has_test_cases: true });
}
