import type { FailedFile } from '../../../protocol/answers/minutes.js';
import { limits } from '../../../protocol/limits.js';
import { fileOfPiece, pieceOf } from '../../../protocol/piece-path.js';
import { digest } from '../../engine/keys.js';
import type { CiRun } from '../../engine/ports/ci-runs.js';
import type { Store } from '../../engine/ports/store.js';
import type { Subject } from '../subject.js';

/** Bytes of reports on the cases of a file that are read: about 5 ms. */
const CASE_BYTES = 524_288;

/** Adds to the first files and pieces that failed what a client told of their test cases in this CI run. */
export async function addFailedCases(store: Store, subject: Subject, failed: readonly FailedFile[]): Promise<void> {
  for (const file of failed.slice(0, limits.namedFailures)) {
    const [name, ...more] = await failedCases(store, subject, subject.ciRun ? [subject.ciRun] : [], file.path);
    if (name !== undefined) file.first_case = { name, more: more.length };
  }
}

/** The test cases of a file or piece that failed in these CI runs of a build, if the last report on it is of one of them. */
export async function failedCases(
  { cases }: Pick<Store, 'cases'>,
  { project, build }: Pick<Subject, 'project' | 'build'>,
  ciRuns: readonly Pick<CiRun, 'ci_run'>[],
  path: string,
): Promise<string[]> {
  const digests = new Set(ciRuns.map(({ ci_run }) => digest(build.commit_hash, build.branch, build.node_total, ci_run)));
  const number = pieceOf(path)?.number;
  const told = (await cases.of(project, fileOfPiece(path), CASE_BYTES))?.kept ?? [];
  const own = told.filter(report => digests.has(report.ci_run) && (report.piece === null || report.piece.number === number));
  const passedWhole = new Set(own.flatMap(({ passed_whole }) => passed_whole));
  const failures = own.flatMap(report => report.cases).filter(({ name, outcomes }) => outcomes.failed && !passedWhole.has(name));
  return [...new Set(failures.map(each => each.name))];
}
