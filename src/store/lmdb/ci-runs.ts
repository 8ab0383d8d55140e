import { type BuildKey, buildDigest } from '../../engine/keys.js';
import type { CiRun, CiRuns } from '../../engine/ports/ci-runs.js';
import { limits } from '../../limits.js';
import type { Tables } from './tables.js';

export type CiRunTables = Pick<Tables, 'ciRuns' | 'ciRunKeys' | 'ciRunsOfBuild' | 'unrecorded' | 'expiry'>;

export function lmdbCiRuns({ ciRuns, ciRunKeys, ciRunsOfBuild }: CiRunTables) {
  return {
    get(project, id) {
      const key = ciRunKeys.get(id);
      return key?.[0] === project ? (ciRuns.get([...key, id]) ?? null) : null;
    },
    list(project, before, limit) {
      const range = { start: [project, before] as never, end: [project, -Infinity] as never, reverse: true, limit };
      return Array.from(ciRuns.getRange(range), ({ value }) => value);
    },
    ofBuild(project: number, build: BuildKey) {
      const digest = buildDigest(project, build);
      const range = { start: [digest, Infinity] as never, end: [digest, -Infinity] as never, reverse: true, limit: limits.ciRunsPerBuild };
      return [...ciRunsOfBuild.getKeys(range)].flatMap(([, created_at, id]) => ciRuns.get([project, created_at, id]) ?? []);
    },
  } satisfies CiRuns;
}

/** Notes a CI run that begins, within a write transaction. */
export function putCiRun({ ciRuns, ciRunKeys, ciRunsOfBuild, expiry }: CiRunTables, run: CiRun): void {
  const { id, project, created_at } = run;
  void ciRuns.put([project, created_at, id], run);
  void ciRunKeys.put(id, [project, created_at]);
  void ciRunsOfBuild.put([buildDigest(project, run), created_at, id], project);
  void expiry.put([created_at, 'ci_run', id], true);
}

/** Deletes a CI run with its summary and its entries in the indexes, within a write transaction. */
export function deleteCiRun({ ciRuns, ciRunKeys, ciRunsOfBuild, unrecorded }: Omit<CiRunTables, 'expiry'>, id: string): void {
  const key = ciRunKeys.get(id);
  if (!key) return;
  const [project, created_at] = key;
  const record = ciRuns.get([...key, id]);
  if (record) void ciRunsOfBuild.remove([buildDigest(project, record), created_at, id]);
  void ciRuns.remove([...key, id]);
  void unrecorded.remove([...key, id]);
  void ciRunKeys.remove(id);
}
