import { pluralize } from '../../../base/plural.js';
import type { TreeAndKeys } from '../completeness/checkouts.js';

/** Identifies the list of test files that a split or queue is made from. */
export interface TestFileList {
  /** See list-digest.ts. */
  digest: string;
  test_files: number;
  /**
   * The test runner for which the queue has some of the files in pieces. Then every path of the queue that has the form of a piece is one, since no
   * list with such a path is cut. Missing: all files are whole, whatever their names.
   */
  pieces_for?: string;
  /** Files of the list that the queue leaves out, because other CI runs proved them. Missing: it has all. */
  proved?: LeftOut;
}

/** Test files that a queue leaves out. */
export interface LeftOut extends TreeAndKeys {
  test_files: number;
  /** What these took in the CI runs that proved them. */
  seconds: number;
  /** The CI runs that proved them, newest first. */
  ci_runs: { ci_run_id: string; ci_run: string }[];
}

/** The list that a node sent to initialize a split or queue. */
export interface SentList extends TestFileList {
  /** The difference to the list of the existing split or queue; null: there is no difference, or none existed. */
  difference: string | null;
}

/** Tells whether a node's list differs from that of a split or queue. */
export function differs(list: TestFileList, sent: SentList): boolean {
  return list.digest !== sent.digest;
}

/**
 * Tells whether a node gets no files, because its list of test files is not `list`. A node that sent only a digest then sends its list, and the
 * answer names the difference.
 *
 * @param digest the digest that the node sent; undefined: its client sends none, and gets files of any list
 * @param sent the list that the node sent; null: it sent none
 */
export function isOtherList(list: TestFileList, digest: string | undefined, sent: SentList | null): boolean {
  return digest !== undefined && list.digest !== (sent?.digest ?? digest);
}

/** Describes how the list of a node differs from that of a split or queue. */
export function describeLists(plan: 'split' | 'queue', list: TestFileList, { test_files, difference }: SentList): string {
  return (
    difference ?? `the ${plan} was made of ${pluralize(list.test_files, 'test file')}, and a node lists ${pluralize(test_files, 'other')}`
  );
}

const MAX_PATHS = 3;
const MAX_PATH_CHARACTERS = 200;

/** The difference between the list of a node and that of a split or queue, as a clause that begins a sentence; null: both have the same files. */
export function differenceOf(plan: 'split' | 'queue', planned: ReadonlySet<string>, listed: ReadonlySet<string>): string | null {
  const onlyPlanned = [...planned].filter(path => !listed.has(path));
  const onlyListed = [...listed].filter(path => !planned.has(path));
  if (onlyPlanned.length + onlyListed.length === 0) return null;
  return `the ${plan} was made of ${pluralize(planned.size, 'test file')}, and this node lists ${listed.size}: ${named(onlyPlanned)} only in the ${plan}, ${named(onlyListed)} only on this node`;
}

function named(paths: readonly string[]): string {
  if (paths.length === 0) return 'none';
  const more = paths.length - MAX_PATHS;
  const names = paths.slice(0, MAX_PATHS).map(path => JSON.stringify(path.slice(0, MAX_PATH_CHARACTERS)));
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
