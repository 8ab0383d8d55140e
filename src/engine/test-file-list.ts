/** Identifies the list of test files that a split or queue is made of. */
export interface TestFileList {
  /** See list-digest.ts. */
  digest: string;
  test_files: number;
}

/** The list that a node sent to initialize a split or queue. */
export interface SentList extends TestFileList {
  /** How it differs from the list of the existing split or queue; null: it does not, or there was none. */
  difference: string | null;
}

/** What a node says about its list. */
export interface NodeList {
  /** The digest that the node sent; undefined: its client sends none. */
  digest: string | undefined;
  /** Null: this request brings no list. */
  sent: SentList | null;
  isFirstRequest: boolean;
}

/** Whether a node sent another list than `list`, the one that a split or queue was made of. Undefined: an older Ballast made it, and only the comparison tells. */
export function differs(list: TestFileList | undefined, sent: SentList): boolean {
  return list ? list.digest !== sent.digest : sent.difference !== null;
}

/**
 * Whether a node that names its list gets no files of `list`. A first request without the list must match it: on a mismatch the node
 * sends its list, and learns the difference.
 */
export function isOtherList(list: TestFileList | undefined, { digest, sent, isFirstRequest }: NodeList): boolean {
  if (digest === undefined) return false;
  if (sent) return differs(list, sent);
  return isFirstRequest ? list?.digest !== digest : list !== undefined && list.digest !== digest;
}

/** Describes both lists. */
export function describeLists(plan: 'split' | 'queue', list: TestFileList | undefined, { test_files, difference }: SentList): string {
  return difference ?? `the ${plan} was made of ${list?.test_files ?? 'other'} test files, and a node lists ${test_files} others`;
}
