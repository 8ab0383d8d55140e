import { commit } from './commit.js';
import type { Parts } from './open.js';
import { findQueue } from './queue-keys.js';
import type { ListRecord, Millis, SplitRecord } from './records.js';
import { firstUseOf, noteSplitRun } from './splits.js';

/** The list that a node sent to initialise a split or queue. */
export interface SentList extends ListRecord {
  /** How it differs from the list in force; null: it does not, or there was none. */
  difference: string | null;
}

/** Records for the completeness gate, before the node is answered, that it sent another list than the one in force. */
export async function noteListOfQueue(store: Parts, key: string, sent: SentList): Promise<void> {
  const id = findQueue(store, key);
  const queue = id === null ? undefined : store.queues.get(id);
  if (id === null || !queue || queue.other_list !== undefined || !differs(queue.list, sent)) return;
  await commit(store, () => {
    const current = store.queues.get(id);
    if (current) void store.queues.put(id, { ...current, other_list: sentenceOf('queue', queue.list, sent) });
  });
}

/**
 * The same for a split.
 *
 * @param ci_build_id the CI run of the node if the split is a fixed one: the list counts only for that run; else null
 */
export async function noteListOfSplit(
  store: Parts,
  key: string,
  build: () => string,
  split: SplitRecord,
  ci_build_id: string | null,
  sent: SentList,
  now: Millis,
): Promise<void> {
  if (!differs(split.list, sent)) return;
  const noted = ci_build_id === null ? store.splits.get(key) : firstUseOf(store, split, ci_build_id);
  if (noted?.other_list !== undefined) return;
  const other_list = sentenceOf('split', split.list, sent);
  await commit(store, () => {
    if (ci_build_id !== null) return noteSplitRun(store, split, ci_build_id, build(), now, other_list);
    const current = store.splits.get(key);
    if (current?.id === split.id && current.other_list === undefined) void store.splits.put(key, { ...current, other_list });
  });
}

/** Describes both lists. */
export function sentenceOf(what: 'split' | 'queue', list: ListRecord | undefined, { test_files, difference }: SentList): string {
  return difference ?? `the ${what} was made of ${list?.test_files ?? 'other'} test files, and a node lists ${test_files} others`;
}

/** Whether a node sent another list. @param list missing: an older Ballast made the split or queue, and only the comparison tells */
export function differs(list: ListRecord | undefined, sent: SentList): boolean {
  return list ? list.digest !== sent.digest : sent.difference !== null;
}

/**
 * Whether a node that connects, and names its list, is to send it: it is another one than that of the split or queue, or that is not known.
 *
 * @param digest the node's; undefined: it does not say
 */
export function isToSend(list: ListRecord | undefined, digest: string | undefined): boolean {
  return digest !== undefined && list?.digest !== digest;
}

/** Whether a node lists other test files than those of a split or queue; false when either list is unknown. @param digest the node's */
export function isOtherList(list: ListRecord | undefined, digest: string | undefined): boolean {
  return list !== undefined && digest !== undefined && list.digest !== digest;
}
