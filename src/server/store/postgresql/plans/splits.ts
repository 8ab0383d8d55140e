import { randomUUID } from 'node:crypto';
import { LRUCache } from 'lru-cache';
import { digest, type SplitKey } from '../../../engine/keys.js';
import type { NewSplit, Split, Splits, SplitUse } from '../../../engine/ports/splits.js';
import type { Millis } from '../../../engine/ports/store.js';
import { LAST_USE_UPDATE_MILLISECONDS } from '../../../engine/retention.js';
import { CACHED_SPLIT_USERS } from '../../../engine/splits.js';
import type { TestFileList } from '../../../engine/suites/compare-lists.js';
import { CI_RUN_COLUMNS, ciRunValues } from '../ci-runs.js';
import type { Database } from '../connection/database.js';
import { otherList } from '../json.js';
import { piecesOf } from './pieces.js';

const SPLIT = 'key, id, node_total, created_at, runs_before, used_at, list, other_list';

interface SplitRow extends Omit<Split, 'list' | 'other_list'> {
  key: string;
  list: string;
  other_list: string | null;
}

function toSplit({ key: _, list, other_list, ...row }: SplitRow): Split {
  return { ...row, list: JSON.parse(list) as TestFileList, ...otherList(other_list) };
}

export function postgresqlSplits(database: Database) {
  /** Creations under way in this process, by the digest of their key: one of them is enough. */
  const creations = new Map<string, Promise<Split>>();
  /** CI runs whose first use of a split is noted: split id, a blank, ci_build_id. */
  const users = new LRUCache<string, true>({ max: CACHED_SPLIT_USERS });

  async function found({ digest: key }: SplitKey): Promise<Split | null> {
    const [row] = await database.read<SplitRow>(`select ${SPLIT} from splits where key = $1`, [key]);
    return row ? toSplit(row) : null;
  }

  /** Creates a split with its pieces, and the CI run that uses it first. The split of another process that was faster stays. */
  async function create(key: SplitKey, split: NewSplit, at: Millis): Promise<Split> {
    const id = randomUUID();
    const { list, forecast } = split;
    const [parts, bytes] = piecesOf(split);
    await database.change(
      `with s as (
        insert into splits (key, id, project, node_total, created_at, runs_before, used_at, list, forecast)
        select $1, $2, $3, $8, $9, coalesce((select recorded from builds where key = $6), 0), $9, $10, $11
        on conflict (key) do nothing returning id, runs_before
      ), p as (
        insert into pieces (owner, part, bytes) select s.id, v.part, v.bytes from s, unnest($12::int4[], $13::bytea[]) as v (part, bytes)
      ), u as (
        insert into split_uses (split, ci_run, at, runs_before) select id, $14, $9, runs_before from s where $15
      )
      insert into ci_runs (${CI_RUN_COLUMNS}) select id, $3, 'split', id, $4, $5, $6, $7, $8, $9, runs_before from s`,
      [
        ...[key.digest, id, ...ciRunValues(key), at, JSON.stringify(list), JSON.stringify(forecast), parts, bytes],
        ...[digest(key.ci_run), key.isFixed],
      ],
    );
    // It may have expired meanwhile.
    return (await found(key)) ?? create(key, split, at);
  }

  /** Notes that a CI run uses a fixed split. */
  async function noteUse(key: SplitKey, { id }: Split, at: Millis): Promise<void> {
    await database.change(
      `with s as (
        select id from splits where key = $1 and id = $2 for share
      ), u as (
        insert into split_uses (split, ci_run, at, runs_before)
        select id, $11, $9, coalesce((select recorded from builds where key = $6), 0) from s
        on conflict (split, ci_run) do nothing returning split, runs_before
      )
      insert into ci_runs (${CI_RUN_COLUMNS}) select $10, $3, 'split', split, $4, $5, $6, $7, $8, $9, runs_before from u`,
      [key.digest, id, ...ciRunValues(key), at, randomUUID(), digest(key.ci_run)],
    );
  }

  return {
    async find(key) {
      await creations.get(key.digest)?.catch(() => {});
      return found(key);
    },
    create(key, split, at) {
      const creating = creations.get(key.digest) ?? found(key).then(existing => existing ?? create(key, split, at));
      creations.set(key.digest, creating);
      const end = () => {
        if (creations.get(key.digest) === creating) creations.delete(key.digest);
      };
      creating.then(end, end);
      return creating;
    },
    async use(key, split, at) {
      if (at - split.used_at >= LAST_USE_UPDATE_MILLISECONDS)
        await database.change('update splits set used_at = greatest(used_at, $3) where key = $1 and id = $2', [key.digest, split.id, at]);
      const user = `${split.id} ${key.ci_run}`;
      if (!key.isFixed || users.has(user)) return;
      await noteUse(key, split, at);
      users.set(user, true);
    },
    async noteOtherList(key, split, difference, at) {
      const other_list = JSON.stringify(difference);
      if (!key.isFixed) {
        const values = [key.digest, split.id, other_list];
        await database.change('update splits set other_list = $3 where key = $1 and id = $2 and other_list is null', values);
        return;
      }
      await noteUse(key, split, at);
      const values = [split.id, digest(key.ci_run), other_list];
      await database.change('update split_uses set other_list = $3 where split = $1 and ci_run = $2 and other_list is null', values);
    },
    async firstUse(split: Split, ci_run: string): Promise<SplitUse | null> {
      const [row] = await database.read<SplitUse & { other_list: string | null }>(
        'select at, runs_before, other_list from split_uses where split = $1 and ci_run = $2',
        [split.id, digest(ci_run)],
      );
      if (!row) return null;
      const { other_list, ...use } = row;
      return { ...use, ...otherList(other_list) };
    },
  } satisfies Splits;
}
