import { statSync } from 'node:fs';
import type { Maintenance } from '../../engine/ports/maintenance.js';
import { expireDeliveries } from './deliveries.js';
import { deletedProjects, expireProjects, FIRST_ENTRY, forgetProjects } from './expiry/deleted-projects.js';
import { expirePaths, expireStep } from './expiry/expiry.js';
import type { Parts } from './parts.js';
import type { ExpiryKey } from './records.js';
import { commit, written } from './writes/commit.js';

/**
 * @param file the file of the store
 * @param dropQueue called with the digest of the key of each queue that expires
 */
export function lmdbMaintenance(parts: Parts, file: string, dropQueue: (key: string) => void) {
  const { root, meta, diskSpace, failure, journal, runs, timingBuffer } = parts;
  return {
    processes: null,
    assertWritable() {
      diskSpace.assert();
      failure.assert();
    },
    probe: at => commit(parts, () => void meta.put('readiness', at)),
    async publish(what, project = null) {
      if (what === 'queues') return written(journal.checkpoint());
      if (what === 'timings' && project !== null && runs.hasSettled(project) && !timingBuffer.hasChanged(project)) return;
      await runs.settle();
      if (what === 'timings') await written(timingBuffer.save());
    },
    refresh: () => void root.resetReadTxn(),
    async *sweep({ before, deletedBefore }, count) {
      // Changes that are written after their queue expired would never be deleted.
      await journal.checkpoint().catch(() => {});
      const deleted = deletedProjects(parts, deletedBefore);
      const found = new Set<number>();
      const isDeleted = (project: number) => deleted.has(project) && found.add(project).has(project);
      for (let after = FIRST_ENTRY as ExpiryKey | null; deleted.size > 0 && after; yield)
        after = await expireProjects(parts, isDeleted, after);
      while (await expireStep(parts, before, dropQueue, count)) yield;
      while (await expireDeliveries(parts, before, isDeleted)) yield;
      // Paths that are being recorded are skipped.
      await runs.settle();
      await timingBuffer.save();
      for (let after: number | null = 0; after !== null; yield) after = await expirePaths(parts, before, after, count, isDeleted);
      const empty = [...deleted].filter(project => !found.has(project));
      if (empty.length > 0) await forgetProjects(parts, empty);
      for (const _ of empty) count('project');
    },
    load() {
      const { builds: build, subsets: subset, paths: path, splits: split, queues: queue, ciRuns: ci_run } = parts;
      const records: Record<string, number> = {};
      for (const [kind, table] of Object.entries({ build, subset, path, split, queue, ci_run })) {
        records[kind] = (table.getStats() as { entryCount: number }).entryCount;
      }
      return {
        bytes: statSync(file).size,
        diskFreeBytes: diskSpace.freeBytes(),
        database: null,
        journalRecords: journal.recordsWaiting,
        records,
      };
    },
  } satisfies Maintenance;
}
