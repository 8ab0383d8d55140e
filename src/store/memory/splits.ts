import { randomUUID } from 'node:crypto';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { beginningCiRun } from '../../engine/ci-run.js';
import { buildDigest, type SplitKey } from '../../engine/keys.js';
import type { NewSplit, Split, Splits, SplitUse } from '../../engine/ports/splits.js';
import type { Millis } from '../../engine/ports/store.js';
import { segment, toSegments } from '../../engine/segments.js';
import { plannedFile } from './planned-file.js';
import type { Tables } from './tables.js';

export interface KeptSplit extends Pick<NewSplit, 'files' | 'basis' | 'forecast'> {
  split: Split;
  /** First uses of a fixed split, by CI run. */
  readonly uses: Map<string, SplitUse>;
}

export function memorySplits({ splits, ciRuns, recorded }: Tables): Splits {
  const runsBefore = ({ project, build }: SplitKey) => recorded.get(buildDigest(project, build)) ?? 0;
  const kept = ({ id }: Pick<Split, 'id'>) => [...splits.values()].find(({ split }) => split.id === id);
  /** The first use of a split by a CI run, which is noted. */
  const begin = (key: SplitKey, { id: plan }: Split, at: Millis, id: string = randomUUID()): SplitUse => {
    const runs_before = runsBefore(key);
    ciRuns.set(id, beginningCiRun(key, { id, kind: 'split', plan, created_at: at, runs_before }));
    return { at, runs_before };
  };
  return {
    find: key => splits.get(key.digest)?.split ?? null,
    async create(key, { list, files, basis, forecast }, at) {
      if (!splits.has(key.digest)) {
        const { node_total } = key.build;
        const split: Split = { id: randomUUID(), node_total, created_at: at, runs_before: runsBefore(key), list, used_at: at };
        const use = begin(key, split, at, split.id);
        const uses = new Map(key.isFixed ? [[key.ci_run, use]] : []);
        splits.set(key.digest, { split, files, basis, forecast, uses });
      }
      const { split } = splits.get(key.digest)!;
      await nextTurn();
      return split;
    },
    use(key, split, at) {
      const used = kept(split);
      if (!used) return;
      used.split = { ...used.split, used_at: Math.max(at, used.split.used_at) };
      if (!key.isFixed || used.uses.has(key.ci_run)) return;
      used.uses.set(key.ci_run, begin(key, split, at));
      return nextTurn();
    },
    async noteOtherList(key, split, other_list, at) {
      // The first difference is kept.
      const noted = kept(split);
      if (noted && key.isFixed) {
        const use = noted.uses.get(key.ci_run) ?? begin(key, split, at);
        noted.uses.set(key.ci_run, { other_list, ...use });
      } else if (noted) noted.split = { other_list, ...noted.split };
      await nextTurn();
    },
    firstUse: (split, ci_run) => kept(split)?.uses.get(ci_run) ?? null,
    files(split, node_index) {
      const files = kept(split)?.files;
      return files && node_index < files.ends.length ? segment(files, node_index) : null;
    },
    forecast: split => kept(split)?.forecast ?? null,
    basis: split => kept(split)?.basis ?? null,
    encode: (files, nodes) => toSegments(nodes.map(indices => `[${indices.map(file => plannedFile(files, file)).join()}]`)),
  };
}
