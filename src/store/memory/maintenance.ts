import { setImmediate as nextTurn } from 'node:timers/promises';
import { endOfDay } from '../../engine/insight/trends/days.js';
import type { ExpiringKind, Maintenance } from '../../engine/ports/maintenance.js';
import type { Millis } from '../../engine/ports/store.js';
import type { Tables } from './tables.js';

type Count = (kind: ExpiringKind) => void;

export function memoryMaintenance(tables: Tables): Maintenance {
  return {
    assertWritable() {},
    probe: () => nextTurn(),
    publishRuns: () => {},
    publishTimings: () => nextTurn(),
    publishQueues: () => nextTurn(),
    refresh() {},
    async *sweep({ before, deletedBefore }, count) {
      sweepProjects(tables, deletedBefore, count);
      const { splits, queues, ciRuns, paths, days } = tables;
      sweepRuns(tables, before, count);
      yield;
      sweepTable(
        splits,
        ({ split }) => split.used_at < before,
        () => count('split'),
      );
      yield;
      sweepTable(
        queues,
        ({ info }) => info.used_at < before,
        () => count('queue'),
      );
      yield;
      sweepTable(
        ciRuns,
        ({ created_at }) => created_at < before,
        () => count('ci_run'),
      );
      yield;
      sweepTable(
        paths,
        ({ seen_at }) => seen_at < before,
        () => {
          count('path');
        },
      );
      yield;
      sweepTable(
        days,
        ({ day }) => endOfDay(day) < before,
        () => count('day'),
      );
    },
    keptTime: () => tables.keptTime,
    async keepTime(at) {
      tables.keptTime = at;
      await nextTurn();
    },
    backedUpAt: () => tables.backedUpAt,
    async noteBackup(at) {
      tables.backedUpAt = at;
      await nextTurn();
    },
    load() {
      const { builds, runs, paths, splits, queues, ciRuns } = tables;
      const subset = [...runs.values()].reduce((sum, { length }) => sum + length, 0);
      const records = { build: builds.size, subset, path: paths.size, split: splits.size, queue: queues.size, ci_run: ciRuns.size };
      return { bytes: 0, diskFreeBytes: Number.MAX_SAFE_INTEGER, journalTurns: 0, records };
    },
  };
}

function sweepTable<Key, Value>(table: Map<Key, Value>, isOld: (value: Value) => boolean, count: () => void): void {
  for (const [key, value] of table) {
    if (!isOld(value)) continue;
    table.delete(key);
    count();
  }
}

/** Deletes what deleted projects recorded. */
function sweepProjects(tables: Tables, before: Millis, count: Count): void {
  const { deletedProjects, builds, runs, summaries, days, paths, splits, queues, ciRuns } = tables;
  for (const [id, at] of deletedProjects) {
    if (at >= before) continue;
    const isOwn = ({ project }: { project: number }) => project === id;
    const plans = new Set([...ciRuns.values()].filter(isOwn).map(({ plan }) => plan));
    for (const { number } of [...builds.values()].filter(isOwn)) {
      runs.delete(number);
      summaries.delete(number);
    }
    sweepTable(builds, isOwn, () => {});
    sweepTable(paths, isOwn, () => count('path'));
    sweepTable(ciRuns, isOwn, () => count('ci_run'));
    sweepTable(
      splits,
      ({ split }) => plans.has(split.id),
      () => count('split'),
    );
    sweepTable(
      queues,
      ({ info }) => plans.has(info.id),
      () => count('queue'),
    );
    for (const key of days.keys()) if (key.startsWith(`[${id},`)) days.delete(key);
    deletedProjects.delete(id);
    count('project');
  }
}

/** Deletes old runs, and builds with their last run. */
function sweepRuns({ builds, runs, summaries }: Tables, before: Millis, count: Count): void {
  for (const [digest, build] of builds) {
    const all = runs.get(build.number)!;
    const left = all.filter(({ created_at }) => created_at >= before);
    for (let gone = left.length; gone < all.length; gone++) count('subset');
    if (left.length === 0) {
      builds.delete(digest);
      runs.delete(build.number);
      summaries.delete(build.number);
    } else if (left.length < all.length) {
      runs.set(build.number, left);
      builds.set(digest, { ...build, subsets: left.length, test_files: left.reduce((sum, run) => sum + run.test_files, 0) });
    }
  }
}
