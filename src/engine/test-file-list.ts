/** Identifies the list of test files that a split or queue is made from. */
export interface TestFileList {
  /** See list-digest.ts. */
  digest: string;
  test_files: number;
}

/** The list that a node sent to initialize a split or queue. */
export interface SentList extends TestFileList {
  /** How it differs from the list of the existing split or queue; null: it does not differ, or none existed. */
  difference: string | null;
}

/** The information that a node sends about its list. */
export interface NodeList {
  /** The digest that the node sent; undefined: its client sends none. */
  digest: string | undefined;
  /** Null: this request brings no list. */
  sent: SentList | null;
}

/** Whether a node's list differs from that of a split or queue. */
export function differs(list: TestFileList, sent: SentList): boolean {
  return list.digest !== sent.digest;
}

/**
 * Whether a node that names its list gets no files of `list`. The digest of a first request without a list must match: otherwise the
 * node sends its list, and gets the difference.
 */
export function isOtherList(list: TestFileList, { digest, sent }: NodeList): boolean {
  if (digest === undefined) return false;
  if (sent) return differs(list, sent);
  return list.digest !== digest;
}

/** Describes both lists. */
export function describeLists(plan: 'split' | 'queue', list: TestFileList, { test_files, difference }: SentList): string {
  return difference ?? `the ${plan} was made of ${list.test_files} test files, and a node lists ${test_files} others`;
}
