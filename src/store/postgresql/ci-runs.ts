import { type BuildKey, buildDigest, type QueueKey, type SplitKey, shortDigest } from '../../engine/keys.js';
import type { CiRun, CiRuns } from '../../engine/ports/ci-runs.js';
import { limits } from '../../limits.js';
import type { Database } from './database.js';
import { fromNames, toNames } from './json.js';

export const CI_RUN = 'id, project, kind, plan, ci_run, digest, names, node_total, created_at, runs_before';

export interface CiRunRow extends Omit<CiRun, 'commit_hash' | 'branch' | 'ci_run'> {
  /** The commit hash and the branch, and the id that the CI system gave it, as JSON. */
  names: string;
  ci_run: string;
}

export function toCiRun({ names, ci_run, ...row }: CiRunRow): CiRun {
  return { ...row, ...fromNames(names), ci_run: JSON.parse(ci_run) as string };
}

/** The columns of a CI run that begins. */
export const CI_RUN_COLUMNS = 'id, project, kind, plan, ci_run, digest, build, names, node_total, created_at, runs_before';

/** The values of `project`, `ci_run`, `digest`, `build`, `names` and `node_total`. */
export function ciRunValues({ project, build, ci_run }: QueueKey | SplitKey): unknown[] {
  return [
    ...[project, JSON.stringify(ci_run.slice(0, limits.ciRunCharacters)), shortDigest(ci_run), buildDigest(project, build)],
    ...[toNames(build), build.node_total],
  ];
}

export function postgresqlCiRuns(database: Database) {
  return {
    async get(project, id) {
      const [row] = await database.read<CiRunRow>(`select ${CI_RUN} from ci_runs where id = $1 and project = $2`, [id, project]);
      return row ? toCiRun(row) : null;
    },
    async list(project, before, limit) {
      const rows = await database.read<CiRunRow>(
        `select ${CI_RUN} from ci_runs where project = $1 and created_at < $2 order by created_at desc, id desc limit $3`,
        [project, Math.min(before, Number.MAX_SAFE_INTEGER), limit],
      );
      return rows.map(toCiRun);
    },
    async ofBuild(project: number, build: BuildKey) {
      const rows = await database.read<CiRunRow>(
        `select ${CI_RUN} from ci_runs where build = $1 order by created_at desc, id desc limit $2`,
        [buildDigest(project, build), limits.ciRunsPerBuild],
      );
      return rows.map(toCiRun);
    },
  } satisfies CiRuns;
}
