import { randomUUID } from 'node:crypto';
import { beginningCiRun } from '../../../engine/ci-run.js';
import { buildDigest, digest, type SplitKey } from '../../../engine/keys.js';
import type { Split, Splits, SplitUse } from '../../../engine/ports/splits.js';
import type { Millis } from '../../../engine/ports/store.js';
import { LAST_USE_UPDATE_MILLISECONDS } from '../../../engine/retention.js';
import { encodeParts } from '../../codecs/plan-parts.js';
import { runsRecordedOf } from '../builds.js';
import { putCiRun } from '../ci-runs.js';
import { DecodedRecords } from '../decoded-records.js';
import type { Parts } from '../parts.js';
import { commit } from '../writes/commit.js';
import { createOnce, creationSettled } from '../writes/create-once.js';

export function lmdbSplits(parts: Parts) {
  const { splits, splitRuns, splitUsers, forecasts, creations } = parts;
  // Only the thread that serves the folder has the journal open.
  const records = new DecodedRecords(parts.root, splits, () => parts.journal.files.isOpen);

  const found = (key: SplitKey): Split | null => records.get(key.digest) ?? null;

  /** Notes within a write transaction that a CI run uses a fixed split, and how the list of one of its nodes differs, if it does. */
  function putUse(key: SplitKey, split: Split, at: Millis, other_list?: string): void {
    const use = useKey(split, key.ci_run);
    const noted = splitRuns.get(use);
    if (noted !== undefined && (noted.other_list !== undefined || other_list === undefined)) return;
    const first = noted ?? firstUseOf(key, at);
    void splitRuns.put(use, { ...first, ...(other_list !== undefined && { other_list }) });
    if (noted === undefined) putCiRunOf(key, randomUUID(), split, first);
  }

  /** Notes that a CI run begins to use a split, together with the other puts of this turn. */
  function putCiRunOf(
    key: SplitKey,
    id: string,
    { id: plan }: Pick<Split, 'id'>,
    { at, runs_before }: { at: Millis; runs_before: number },
  ) {
    putCiRun(parts, beginningCiRun(key, { id, kind: 'split', plan, created_at: at, runs_before }));
  }

  const firstUseOf = ({ project, build }: SplitKey, at: Millis) => ({
    at,
    runs_before: runsRecordedOf(parts, buildDigest(project, build)),
  });

  /** Changes the record of a split within a write transaction, unless it expired. The caller may have an older record. */
  function change({ digest: key }: SplitKey, { id }: Split, changed: (current: Split) => Partial<Split>): void {
    const current = splits.get(key);
    if (current?.id === id) void splits.put(key, { ...current, ...changed(current) });
  }

  const firstUse = (split: Split, ci_run: string): SplitUse | null => splitRuns.get(useKey(split, ci_run)) ?? null;

  return {
    find: key =>
      creations.size > 0 && creations.has(nameOf(key)) ? creationSettled(parts, nameOf(key)).then(() => found(key)) : found(key),

    async create(key, plan, at) {
      const { list, forecast } = plan;
      const id = randomUUID();
      const { node_total } = key.build;
      const split = await createOnce(parts, {
        name: nameOf(key),
        id,
        project: key.project,
        expiry: [at, 'split', key.digest, id],
        blobs: () => encodeParts(plan),
        find: () => found(key),
        put() {
          const use = firstUseOf(key, at);
          const times = { created_at: at, runs_before: use.runs_before, used_at: at };
          const record: Split = { id, node_total, list, ...times };
          void splits.put(key.digest, record);
          void forecasts.put(id, forecast);
          if (key.isFixed) void splitRuns.put(useKey(record, key.ci_run), use);
          putCiRunOf(key, id, record, use);
          return record;
        },
      });
      return split!;
    },

    use(key, split, at) {
      const isDue = at - split.used_at >= LAST_USE_UPDATE_MILLISECONDS;
      // Most calls come from other nodes of the same CI run, and end here.
      const { isFixed, ci_run } = key;
      if (!isDue && (!isFixed || splitUsers.has(`${split.id} ${ci_run}`))) return;
      const isStored = !isFixed || splitRuns.doesExist(useKey(split, ci_run));
      const noted = () => {
        if (isFixed) splitUsers.set(`${split.id} ${ci_run}`, true);
      };
      if (!isDue && isStored) return noted();
      return commit(parts, () => {
        if (splits.get(key.digest)?.id !== split.id) return;
        if (isDue) change(key, split, () => ({ used_at: at }));
        if (isFixed) putUse(key, split, at);
      }).then(noted);
    },

    async noteOtherList(key, split, difference, at) {
      const noted = key.isFixed ? firstUse(split, key.ci_run) : splits.get(key.digest);
      if (noted?.other_list !== undefined) return;
      await commit(parts, () => {
        if (key.isFixed) putUse(key, split, at, difference);
        else change(key, split, ({ other_list = difference }) => ({ other_list }));
      });
    },

    firstUse,
  } satisfies Splits;
}

/** The name of the creation of a split. */
const nameOf = ({ digest: key }: SplitKey) => `split ${key}`;

function useKey({ id }: Pick<Split, 'id'>, ci_run: string): [split: string, ci_build: string] {
  return [id, digest(ci_run)];
}
