import { CI_RUNS_PER_BUILD } from '../../engine/ci-run.js';
import { type BuildKey, buildDigest } from '../../engine/keys.js';
import type { CiRun, CiRuns, NotedLinks } from '../../engine/ports/ci-runs.js';
import type { Tables } from './tables.js';
import { entriesOf } from './writes/blobs.js';
import { type Committing, commit } from './writes/commit.js';

export type CiRunTables = Pick<Tables, 'ciRuns' | 'ciRunKeys' | 'ciRunsOfBuild' | 'unrecorded' | 'expiry'>;

export function lmdbCiRuns(parts: CiRunTables & Pick<Tables, 'jobs'> & Committing) {
  const { ciRuns, ciRunKeys, ciRunsOfBuild, jobs } = parts;
  /** The CI run of a node that sent addresses, unless they are noted. */
  const toNote = ({ id, node_index, job_url, commit_url, diff_url }: NotedLinks): CiRun | null => {
    const key = ciRunKeys.get(id);
    const run = key && ciRuns.get([...key, id]);
    const isJobNoted = job_url === null || jobs.get([id, node_index]) === job_url;
    return run && !(isJobNoted && (run.links || (commit_url === null && diff_url === null))) ? run : null;
  };
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
      const range = { ...newestFirst(buildDigest(project, build)), limit: CI_RUNS_PER_BUILD };
      return [...ciRunsOfBuild.getKeys(range)].flatMap(([, created_at, id]) => ciRuns.get([project, created_at, id]) ?? []);
    },
    newest: (project, builds) =>
      builds.map(build => {
        const [key] = ciRunsOfBuild.getKeys({ ...newestFirst(buildDigest(project, build)), limit: 1 });
        return key ? (ciRuns.get([project, key[1], key[2]]) ?? null) : null;
      }),
    async noteLinks(sent) {
      const due = sent.filter(toNote);
      if (due.length === 0) return;
      await commit(parts, () => {
        for (const links of due) {
          const run = toNote(links);
          if (!run) continue;
          const { id, project, created_at } = run;
          const { node_index, job_url, commit_url, diff_url } = links;
          if (job_url !== null) void jobs.put([id, node_index], job_url);
          if (!run.links && (commit_url ?? diff_url) !== null)
            void ciRuns.put([project, created_at, id], { ...run, links: { commit_url, diff_url } });
        }
      });
    },
    jobs: id => Array.from(jobs.getRange(entriesOf(id)), ({ key: [, node_index], value: url }) => ({ node_index, url })),
  } satisfies CiRuns;
}

/** The range of the CI runs of a build in `ciRunsOfBuild`. */
const newestFirst = (build: string) => ({ start: [build, Infinity] as never, end: [build, -Infinity] as never, reverse: true });

/** Notes a CI run that begins, together with the other puts of this turn. */
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
