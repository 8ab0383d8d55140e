import type { FailedFile } from '../../../protocol/answers/minutes.js';
import { limits } from '../../../protocol/limits.js';
import { fileOfPiece, pieceOf } from '../../../protocol/piece-path.js';
import { digest } from '../../engine/keys.js';
import type { Store } from '../../engine/ports/store.js';
import type { Subject } from '../subject.js';

/** Bytes of reports on the cases of a file that are read: about 5 ms. */
const CASE_BYTES = 524_288;

/** Adds to the first files and pieces that failed what a client told of their test cases in this CI run. */
export async function addFailedCases({ cases }: Store, { project, build, ciRun }: Subject, failed: readonly FailedFile[]): Promise<void> {
  const ci_run = ciRun && digest(build.commit_hash, build.branch, build.node_total, ciRun.ci_run);
  for (const file of failed.slice(0, limits.namedFailures)) {
    const number = pieceOf(file.path)?.number;
    const told = (await cases.of(project, fileOfPiece(file.path), CASE_BYTES))?.kept ?? [];
    const own = told.filter(report => report.ci_run === ci_run && (report.piece === null || report.piece.number === number));
    const passedWhole = new Set(own.flatMap(({ passed_whole }) => passed_whole));
    const failures = own.flatMap(report => report.cases).filter(({ name, outcomes }) => outcomes.failed && !passedWhole.has(name));
    const [name, ...more] = new Set(failures.map(each => each.name));
    if (name !== undefined) file.first_case = { name, more: more.length };
  }
}
