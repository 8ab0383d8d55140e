import { isDeepStrictEqual } from 'node:util';
import { LRUCache } from 'lru-cache';
import { noSettings, type ProjectSettings } from '../../../protocol/project-settings.js';
import { FOUND_TOKENS } from '../../engine/access.js';
import type { Access, Project, Token } from '../../engine/ports/access.js';
import { PUBLIC_SUFFIX, publicSideName, publicSideOf } from '../../engine/public-side/side.js';
import type { Database } from './connection/database.js';
import { isTaken } from './connection/errors.js';
import { ReadTogether } from './connection/read-together.js';
import { fromJson } from './json.js';

/** Time for which a token that was read from a database is taken for valid: another process may have revoked it. */
export const KNOWN_TOKEN_MILLISECONDS = 5000;

const PROJECT = 'id, name, created_at, default_branch, is_default_branch_set, settings';

interface ProjectRow extends Omit<Project, 'settings'> {
  settings: string;
}

/** A project whose default branch and settings are JSON. */
function toProject({ default_branch, settings, ...row }: ProjectRow): Project {
  return { ...row, default_branch: fromJson<string>(default_branch), settings: { ...noSettings, ...fromJson<ProjectSettings>(settings) } };
}

const TOKEN = 'tokens.hash, tokens.project, tokens.name, tokens.created_at, tokens.used_at, tokens.revoked_at';
/** The tokens of a deleted project are gone, also one that was created at the same moment. */
const OF_PROJECT = 'join projects on projects.id = tokens.project and projects.deleted_at is null';

export function postgresqlAccess(database: Database) {
  // Each request has a token. A revoked one is refused by other processes when their entry is this old.
  const known = new LRUCache<string, Token>({ max: FOUND_TOKENS, ttl: KNOWN_TOKEN_MILLISECONDS });
  const tokens = new ReadTogether<Token>(
    hashes => database.read(`select ${TOKEN} from tokens ${OF_PROJECT} where tokens.hash = any($1)`, [hashes]),
    ({ hash }) => hash,
  );
  const projectBy = async (condition: string, value: string | number): Promise<ProjectRow | null> => {
    const [project] = await database.read<ProjectRow>(`select ${PROJECT} from projects where ${condition} and deleted_at is null`, [value]);
    return project ?? null;
  };
  return {
    async projects() {
      return (await database.read<ProjectRow>(`select ${PROJECT} from projects where deleted_at is null order by id`)).map(toProject);
    },
    async project(nameOrId) {
      const found = await projectBy(typeof nameOrId === 'string' ? 'name = $1' : 'id = $1', nameOrId);
      return found && toProject(found);
    },
    async createProject(name, tokenHash, at) {
      const { rows } = await database.change<ProjectRow>(
        `with p as (
          insert into projects (name, created_at) values ($1, $3) on conflict (name) where deleted_at is null do nothing returning ${PROJECT}
        ), t as (
          insert into tokens (hash, project, created_at) select $2, id, $3 from p
        )
        select ${PROJECT} from p`,
        [name, tokenHash, at],
      );
      // Repeated, the statement finds what it has made only now: it had waited for itself with an older snapshot.
      const created = rows[0] ?? (await projectBy('id = (select project from tokens where hash = $1)', tokenHash));
      return created && toProject(created);
    },
    // Here and below, the second statement finds a public side that was created at the same moment: the first one had an older snapshot.
    async renameProject(project, name) {
      const rename = () =>
        database.change(
          `update projects set name = case when id = $1 then $2::text else $4 end where id in ($1, $3) and deleted_at is null
        and not exists (select 1 from projects other where other.name = $2::text and other.deleted_at is null and other.id <> $1)`,
          [project, name, publicSideOf(project), publicSideName(name)],
        );
      try {
        const { count } = await rename();
        if (count > 0) await rename();
        return count > 0;
      } catch (error) {
        // Another project got the name at the same moment.
        if (isTaken(error)) return false;
        throw error;
      }
    },
    async deleteProject(project, at) {
      known.clear();
      const remove = () =>
        database.change(
          `with p as (update projects set deleted_at = $2 where id in ($1, $3) and deleted_at is null returning id),
        t as (delete from tokens using p where project = p.id),
        l as (delete from links using p where project = p.id),
        s as (delete from sessions using p where project = p.id)
        select count(*) from p`,
          [project, at, publicSideOf(project)],
        );
      await remove();
      await remove();
      known.clear();
    },
    async setDefaultBranch(project, branch) {
      await database.change(
        'update projects set default_branch = coalesce($2, default_branch), is_default_branch_set = $2 is not null where id = $1',
        [project, branch === null ? null : JSON.stringify(branch)],
      );
    },
    async replaceSettings(project, from, to) {
      const found = await projectBy('id = $1', project);
      if (!found || !isDeepStrictEqual(toProject(found).settings, from)) return false;
      const { count } = await database.change('update projects set settings = $2 where id = $1 and deleted_at is null and settings = $3', [
        project,
        JSON.stringify(to),
        found.settings,
      ]);
      return count === 1;
    },
    tokens: () => database.read<Token>(`select ${TOKEN} from tokens ${OF_PROJECT} order by tokens.created_at, tokens.hash`),
    token(hash) {
      const token = known.get(hash);
      if (token) return token;
      return tokens.get(hash).then(found => {
        if (found) known.set(hash, found);
        return found;
      });
    },
    knownToken: (hash: string) => known.get(hash) ?? null,
    async createToken(project, { hash, name }, at) {
      const { rows } = await database.change<{ project: number }>(
        `with p as (select id from projects where id = $1 and deleted_at is null for share),
        t as (insert into tokens (hash, project, name, created_at) select $2, id, $3, $4 from p on conflict (hash) do nothing)
        select id from p`,
        [project, hash, name, at],
      );
      return rows.length === 1;
    },
    async createPublicToken(project, { hash, name }, at) {
      const { rows } = await database.change<{ id: number }>(
        `with p as (select id, name from projects where id = $1 and deleted_at is null for share),
        s as (insert into projects (id, name, created_at) select $2::int4, name || $6, $5::bigint from p on conflict (id) do nothing),
        t as (insert into tokens (hash, project, name, created_at) select $3, $2::int4, $4, $5::bigint from p on conflict (hash) do nothing)
        select id from p`,
        [project, publicSideOf(project), hash, name, at, PUBLIC_SUFFIX],
      );
      return rows.length === 1;
    },
    async useToken(hash, at) {
      await database.change('update tokens set used_at = $2 where hash = $1', [hash, at]);
      known.delete(hash);
    },
    async revokeToken(hash, at) {
      await database.change('update tokens set revoked_at = coalesce(revoked_at, $2) where hash = $1', [hash, at]);
      known.delete(hash);
    },
  } satisfies Access;
}
