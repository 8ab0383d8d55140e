import { pluralize } from '../../../base/plural.js';
import { rounded } from '../../../base/rounding.js';
import { limits } from '../../../protocol/limits.js';
import { findPlan } from '../completeness/assigned.js';
import { silentNode, subjectOf } from '../completeness/checkouts.js';
import { compareCiRun } from '../completeness/completeness.js';
import { type Outcomes, outcomesOf } from '../completeness/outcomes.js';
import type { Run } from '../ports/builds.js';
import type { CiRun, NotedNode } from '../ports/ci-runs.js';
import type { Millis, Store } from '../ports/store.js';
import { Refusal } from '../refusal.js';

/** What is known of how the test files of a CI run ended. */
export interface Judgement<Of> {
  /** Of its list of test files; null: it has no known queue or split. */
  listDigest: string | null;
  /** Why the gate does not know all of it; null: it is complete. */
  gap: string | null;
  /** Null: it is not complete. */
  ended: Of | null;
}

/** How the files of a CI run ended, one by one. */
export interface EndedFiles {
  /** The nodes that came, ascending. */
  nodes: readonly number[];
  /** The CI runs that proved the files that its queue left out. */
  provedBy: readonly CiRun[];
  /** What its files took on all nodes, also those that its queue left out, where they were proved. */
  seconds: number;
  /** The number of files in its list. */
  testFiles: number;
  outcomes: Outcomes;
}

/** How the files of a CI run ended, in short. */
export interface EndedInShort extends Record<'failed' | 'flaky' | 'untold', SomePaths> {
  nodes: readonly number[];
  /** When the oldest CI run began that proved files which its queue left out; null: the queue has all files. */
  provedSince: Millis | null;
  seconds: number;
  /** The number of files in its list. */
  test_files: number;
  /** The number of test files and pieces whose tests were all skipped. */
  skipped: number;
}

interface SomePaths {
  count: number;
  /** The first of them. */
  paths: readonly string[];
}

/** The judgement of a complete CI run, kept with the summary of its build. */
export interface KeptJudgement {
  ci_run_id: string;
  /** See Queues.revision. 0: it has a split. */
  revision: number;
  list_digest: string;
  ended: EndedInShort;
}

/** Finds out how the files of a CI run ended. */
export async function judge(store: Store, ciRun: CiRun): Promise<Judgement<EndedFiles>> {
  const none = { listDigest: null, ended: null };
  const subject = subjectOf(ciRun);
  if (!subject) return { ...none, gap: 'its id is too long to be known whole' };
  const { assigned, runs, told, nodesCame, leftOut, answer } = await compareCiRun(store, subject);
  if (!assigned) return { ...none, gap: `it is not complete: ${answer.errors[0]}` };
  const listDigest = assigned.info.list.digest;
  if (answer.errors.length > 0) return { listDigest, gap: `it is not complete: ${answer.errors[0]}`, ended: null };
  // What its nodes told is of another split.
  if (assigned.info.id !== ciRun.plan) return { listDigest, gap: 'its nodes used two splits', ended: null };
  const outcomes = outcomesOf(assigned.handed, told, ciRun.digest);
  let seconds = secondsOf(runs, ciRun.digest);
  for (const [path, proved] of leftOut?.files ?? []) {
    outcomes[proved.ended].push(path);
    seconds += proved.seconds;
  }
  return {
    listDigest,
    gap: null,
    ended: {
      nodes: nodesCame,
      provedBy: leftOut?.ciRuns ?? [],
      seconds: rounded(seconds),
      testFiles: assigned.info.list.test_files,
      outcomes,
    },
  };
}

function secondsOf(runs: readonly Run[], digest: number): number {
  const own = runs.filter(({ ci_run }) => ci_run === digest);
  return own.reduce((sum, { seconds }) => seconds.reduce((all, each) => all + each, sum), 0);
}

/** The same in short. */
export async function judgeInShort(store: Store, ciRun: CiRun): Promise<Judgement<EndedInShort>> {
  return inShort(await judge(store, ciRun));
}

/** The judgement to keep of a CI run; null: it is not complete, or its nodes told no tree, so nobody will ask about it. */
export async function judgementToKeep(store: Store, ciRun: CiRun): Promise<KeptJudgement | null> {
  if (ciRun.tree === undefined) return null;
  // Read first: what changes meanwhile makes another number.
  const revision = await revisionOf(store, ciRun);
  try {
    const { listDigest, ended } = await judgeInShort(store, ciRun);
    // What becomes known of the CI runs that proved some of its files would not be seen.
    return listDigest === null || !ended || ended.provedSince !== null
      ? null
      : { ci_run_id: ciRun.id, revision, list_digest: listDigest, ended };
  } catch (error) {
    // Its plan has expired, or it is too large.
    if (error instanceof Refusal) return null;
    throw error;
  }
}

/** The judgement of a CI run that the summary of its build has. Null: none is kept, or something has changed since. */
export async function keptJudgement(store: Store, ciRun: CiRun): Promise<Judgement<EndedInShort> | null> {
  const { project, id, plan: planId } = ciRun;
  const subject = subjectOf(ciRun);
  if (!subject) return null;
  const ofBuild = async () => {
    const build = await store.builds.find(project, subject.build);
    const summary = build && (await store.summaries.get(build.number));
    return summary?.recorded === build?.recorded ? summary?.judgement : undefined;
  };
  const [kept, plan, revision] = await Promise.all([ofBuild(), findPlan(store, subject), revisionOf(store, ciRun)]);
  const isSamePlan = plan?.info.id === planId && plan.otherList === null && !plan.isUnnamed;
  const isValid = kept?.ci_run_id === id && kept.revision === revision && isSamePlan;
  return isValid ? { listDigest: kept.list_digest, gap: null, ended: kept.ended } : null;
}

async function revisionOf({ queues }: Store, { kind, plan }: CiRun): Promise<number> {
  return kind === 'queue' ? queues.revision(plan) : 0;
}

function inShort({ ended, ...rest }: Judgement<EndedFiles>): Judgement<EndedInShort> {
  if (!ended) return { ...rest, ended };
  const { failed, muted, flaky, untold, skipped } = ended.outcomes;
  const some = (paths: readonly string[], most: number) => ({ count: paths.length, paths: paths.slice(0, most) });
  return {
    ...rest,
    ended: {
      nodes: ended.nodes,
      provedSince: ended.provedBy.length === 0 ? null : Math.min(...ended.provedBy.map(({ created_at }) => created_at)),
      seconds: ended.seconds,
      test_files: ended.testFiles,
      skipped: skipped.length,
      // A mute of the repository turns the exit code of a node, and proves nothing.
      failed: some([...failed, ...muted], 1),
      flaky: some(flaky, limits.completenessEntries),
      untold: some(untold, 1),
    },
  };
}

/** Why it is not known how each file of a complete CI run ended, and on which tree; null: it is known. @param nodes what its nodes told */
export function untoldText(came: readonly number[], nodes: readonly NotedNode[], untold: SomePaths): string | null {
  const silent = silentNode(came, nodes);
  if (silent !== null) return silent;
  return untold.count === 0 ? null : `nobody told how ${firstOf(untold)} ended: its client tells no outcomes, or died`;
}

/** Names some paths in a sentence. */
export function firstOf({ count, paths }: SomePaths): string {
  return count === 1 ? paths[0]! : `${paths[0]} and ${pluralize(count - 1, 'other test file')}`;
}
