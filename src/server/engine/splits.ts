import { type Soon, whenKnown } from '../../base/soon.js';
import type { SplitKey } from './keys.js';
import type { ToldByNode } from './ports/ci-runs.js';
import type { NewSplit, Split } from './ports/splits.js';
import type { Millis, Store } from './ports/store.js';
import { refusals } from './refusal.js';
import { describeLists, differs, isOtherList, type SentList } from './suites/compare-lists.js';
import type { Planned } from './suites/plan-suite.js';

/** CI runs whose use of a split is cached, so that it is not stored again. */
export const CACHED_SPLIT_USERS = 2000;

/** A request of a node for its share of a split. */
export interface SplitRequest {
  key: SplitKey;
  node_index: number;
  /** The digest of the node's list; undefined: its client sends none. */
  listDigest: string | undefined;
  /** Null: the client tells nothing of itself. */
  told: ToldByNode | null;
}

export interface Share {
  split: Split;
  /** In UTF-8, a JSON array of PlannedTestFile; null: the node lists other test files than the split, and gets none of them. */
  files: Buffer | null;
  /** Difference between the lists; null: the node must send its list. */
  difference: string | null;
  /** This request created the split. */
  isNew: boolean;
}

const NOTHING_SENT = { sent: null, difference: null, isNew: false };

/** The share of a node. Creates the split when the request plans one. Null: there is no split. Throws a 503 when it expired meanwhile. */
export function shareOf(store: Store, request: SplitRequest, planned: Planned<NewSplit>, at: Millis): Soon<Share | null> {
  return whenKnown(store.splits.find(request.key), found =>
    // Nearly every request finds its split, and brings no list to compare.
    found && !planned.sent ? takeShare(store, request, found, at) : createOrCompare(store, request, planned, found, at),
  );
}

async function createOrCompare(
  store: Store,
  request: SplitRequest,
  { plan, sent }: Planned<NewSplit>,
  found: Split | null,
  at: Millis,
): Promise<Share | null> {
  const { key } = request;
  const split = found ?? (plan && (await store.splits.create(key, plan, at)));
  // Of the requests of one millisecond that plan the same split, each counts as the one that created it.
  const isNew = !found && split?.created_at === at;
  if (!split) {
    // The request brought a list because there was a split to compare it with.
    if (sent) throw refusals.expired('split');
    return null;
  }
  const difference = sent && differs(split.list, sent) ? describeLists('split', split.list, sent) : null;
  // Before the node is answered, because the completeness check needs it.
  if (difference !== null) await store.splits.noteOtherList(key, split, difference, at);
  return takeShare(store, request, split, at, { sent, difference, isNew });
}

function takeShare(
  { plans, splits }: Store,
  { key, node_index, listDigest }: SplitRequest,
  split: Split,
  at: Millis,
  { sent, difference, isNew }: { sent: SentList | null; difference: string | null; isNew: boolean } = NOTHING_SENT,
): Soon<Share> {
  if (isOtherList(split.list, listDigest, sent)) return { split, files: null, difference, isNew };
  return whenKnown(splits.use(key, split, at), () =>
    whenKnown(plans.files(split.id, node_index), files => {
      if (!files) throw refusals.expired('split');
      return { split, files, difference: null, isNew };
    }),
  );
}
