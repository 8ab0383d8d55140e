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

/** How two lists of test files differ. */
export interface ListDifference {
  /** The number of files in the list of the split or queue, and in the list of a node. */
  planned: number;
  listed: number;
  onlyPlanned: string[];
  onlyListed: string[];
}

export function listDifference(planned: readonly string[], listed: readonly string[]): ListDifference {
  const [isPlanned, isListed] = [new Set(planned), new Set(listed)];
  return {
    planned: isPlanned.size,
    listed: isListed.size,
    onlyPlanned: [...isPlanned].filter(path => !isListed.has(path)),
    onlyListed: [...isListed].filter(path => !isPlanned.has(path)),
  };
}

const MAX_PATHS = 3;
const MAX_PATH_CHARACTERS = 200;

/** Describes both lists in a clause that begins a sentence. */
export function describeDifference(what: 'split' | 'queue', { planned, listed, onlyPlanned, onlyListed }: ListDifference): string {
  return `the ${what} was made of ${planned} test files, and this node lists ${listed}: ${named(onlyPlanned)} only in the ${what}, ${named(onlyListed)} only on this node`;
}

function named(paths: readonly string[]): string {
  if (paths.length === 0) return 'none';
  const more = paths.length - MAX_PATHS;
  const names = paths.slice(0, MAX_PATHS).map(path => JSON.stringify(path.slice(0, MAX_PATH_CHARACTERS)));
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
