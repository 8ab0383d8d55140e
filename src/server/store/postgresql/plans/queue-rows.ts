import type { QueueInfo } from '../../../engine/ports/queues.js';
import type { TestFileList } from '../../../engine/suites/compare-lists.js';
import type { Database } from '../connection/database.js';
import { otherList } from '../json.js';

/** The columns of a QueueRow. */
export const QUEUE =
  'id, name, node_total, guessed, learned, copied_at, copied_runs_before, created_at, runs_before, used_at, list, other_list';

export interface QueueRow {
  id: string;
  name: string;
  node_total: number;
  guessed: boolean;
  learned: string | null;
  copied_at: number | null;
  copied_runs_before: number | null;
  created_at: number;
  runs_before: number;
  used_at: number;
  list: string;
  other_list: string | null;
}

export function toQueueInfo({ id, name, node_total, created_at, runs_before, used_at, ...row }: QueueRow): QueueInfo {
  const copied = row.copied_at === null ? null : { at: row.copied_at, runs_before: row.copied_runs_before! };
  const list = JSON.parse(row.list) as TestFileList;
  return { id, name, node_total, created_at, runs_before, used_at, copied, list, ...otherList(row.other_list) };
}

/** The queue with the digest of a key. */
export async function queueRow(database: Database, key: string): Promise<QueueRow | null> {
  const [row] = await database.read<QueueRow>(`select ${QUEUE} from queues where key = $1`, [key]);
  return row ?? null;
}

/** Changes of a queue. */
export interface JournalRow {
  position: number;
  attempt: number;
  changes: Buffer;
}

/** The log of a queue, oldest row first. */
export async function journalOf(database: Database, queue: string): Promise<JournalRow[]> {
  return (await journalsOf(database, [queue])).get(queue) ?? [];
}

/** The logs of some queues by their ids, without those that are gone. */
export async function journalsOf(database: Database, queues: readonly string[]): Promise<Map<string, JournalRow[]>> {
  const rows = await database.read<JournalRow & { queue: string }>(
    `select j.* from unnest($1::text[]) as v (queue)
    cross join lateral (select queue, position, attempt, changes from journal where queue = v.queue order by position) j`,
    [queues],
  );
  const journals = new Map<string, JournalRow[]>();
  for (const row of rows) {
    const journal = journals.get(row.queue);
    if (journal) journal.push(row);
    else journals.set(row.queue, [row]);
  }
  return journals;
}
