import { apiErrors } from '../api-error.js';
import type { SplitKey } from './keys.js';
import type { Planned, Suite } from './plans.js';
import type { NewSplit, Split } from './ports/splits.js';
import type { Millis, Store } from './ports/store.js';
import { describeLists, differs, isOtherList } from './test-file-list.js';

/** A request of a node for its share of a split. */
export interface SplitRequest {
  key: SplitKey;
  node_index: number;
  /** Null: the request brings no list of test files. */
  suite: Suite | null;
  /** The digest of the node's list; undefined: its client sends none. */
  listDigest: string | undefined;
}

export interface Share {
  split: Split;
  /** In UTF-8, a JSON array of PlannedTestFile; null: the node lists other test files than the split, and gets none of them. */
  files: Buffer | null;
  /** How the lists differ; null: the node must send its list. */
  difference: string | null;
}

/** The share of a node. Creates the split when the request plans one. Null: there is no split. Throws a 503 when it expired meanwhile. */
export async function shareOf(store: Store, request: SplitRequest, { plan, sent }: Planned<NewSplit>, at: Millis): Promise<Share | null> {
  const { splits } = store;
  const { key, node_index, listDigest: digest } = request;
  const split = (await splits.find(key)) ?? (plan && (await splits.create(key, plan, at)));
  if (!split) {
    // The request brought a list because there was a split to compare it with.
    if (sent) throw apiErrors.expired('split');
    return null;
  }
  const difference = sent && differs(split.list, sent) ? describeLists('split', split.list, sent) : null;
  // Before the node is answered, because the completeness check needs it.
  if (difference !== null) await splits.noteOtherList(key, split, difference, at);
  if (isOtherList(split.list, { digest, sent, isFirstRequest: true })) return { split, files: null, difference };
  await splits.use(key, split, at);
  const files = await splits.files(split, node_index);
  if (!files) throw apiErrors.expired('split');
  return { split, files, difference: null };
}
