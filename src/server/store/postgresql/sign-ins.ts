import type { Link, Session, SignIns } from '../../engine/ports/sign-ins.js';
import type { Database } from './connection/database.js';

const LINK = 'hash, project, created_at, expires_at';
const SESSION = 'hash, project, origin, created_at, used_at, ends_at';

export function postgresqlSignIns(database: Database) {
  const one = async <Row>(text: string, value: string): Promise<Row | null> => (await database.read<Row>(text, [value]))[0] ?? null;
  return {
    links: () => database.read<Link>(`select ${LINK} from links order by created_at, hash`),
    link: hash => one<Link>(`select ${LINK} from links where hash = $1`, hash),
    async createLink({ hash, project, created_at, expires_at }) {
      await database.change(`insert into links (${LINK}) values ($1, $2, $3, $4) on conflict (hash) do nothing`, [
        hash,
        project,
        created_at,
        expires_at,
      ]);
    },
    async deleteLink(hash) {
      const sessions = 'delete from sessions where origin = $1';
      await database.change(`with l as (delete from links where hash = $1) ${sessions}`, [hash]);
      // A session that was being created had the link locked, so only this statement sees it.
      await database.change(sessions, [hash]);
    },
    sessions: () => database.read<Session>(`select ${SESSION} from sessions order by created_at, hash`),
    session: hash => one<Session>(`select ${SESSION} from sessions where hash = $1`, hash),
    async createSession({ hash, project, origin, created_at, used_at, ends_at }, most) {
      // Of an operator the link is used up; of readers it is locked, so that a deletion of the link waits, and then sees the session.
      const { rows } = await database.change(
        `with known as (select hash from sessions where hash = $1),
        used as (delete from links where hash = $3 and project is null and not exists (select 1 from known) returning hash),
        kept as (select hash from links where hash = $3 and project is not null for share),
        password as (select value from kept_values where name = 'password' and value::json ->> 'hash' = $3 for share),
        origin as (
          select false as is_of_password from used union all select false from kept union all select true from password
        ),
        created as (
          insert into sessions (${SESSION}, is_of_password) select $1, $2, $3, $4, $5, $6, is_of_password from origin limit 1
          on conflict (hash) do nothing returning hash
        )
        select hash from created union all select hash from known`,
        [hash, project, origin, created_at, used_at, ends_at],
      );
      // Repeated, the statement may have waited for itself with an older snapshot.
      if (rows.length === 0 && !(await one('select hash from sessions where hash = $1', hash))) return false;
      await database.change(
        `delete from sessions where hash in (
          select hash from sessions where project is not distinct from $1 order by (hash = $2) desc, used_at desc, hash offset $3
        )`,
        [project, hash, most],
      );
      return true;
    },
    async useSession(hash, at) {
      await database.change('update sessions set used_at = $2 where hash = $1', [hash, at]);
    },
    async deleteSession(hash) {
      await database.change('delete from sessions where hash = $1', [hash]);
    },
    async deleteEnded(at, unusedSince) {
      const [ended, unused] = [Math.floor(at), Math.floor(unusedSince)];
      await database.change('delete from links where expires_at < $1', [ended]);
      await database.change('delete from sessions where used_at < $1 or ends_at < $2', [unused, ended]);
    },
  } satisfies SignIns;
}

/**
 * Changes the password, and ends the sessions that came from another one than the new one.
 *
 * @param text the statement that changes it, with its values from $1 on
 * @param hash of the new password; null: it is removed
 */
export async function changePassword(database: Database, text: string, values: readonly unknown[], hash: string | null): Promise<void> {
  const sessions = 'delete from sessions where is_of_password and origin is distinct from';
  await database.change(`with s as (${sessions} $${values.length + 1}) ${text}`, [...values, hash]);
  // A session that was being created had the password locked, so only this statement sees it.
  await database.change(`${sessions} $1`, [hash]);
}
