import type { Link, Password, Session, SignIns } from '../../engine/ports/sign-ins.js';
import type { Database } from './database.js';
import { fromJson } from './json.js';

const LINK = 'hash, project, created_at, expires_at';
const SESSION = 'hash, project, origin, created_at, used_at, ends_at';

/** Keeps a setting: $1 and $2 are its name and its value. */
const KEEP = 'insert into settings (name, value) values ($1, $2) on conflict (name) do update set value = excluded.value';

export function postgresqlSignIns(database: Database) {
  const one = async <Row>(text: string, value: string): Promise<Row | null> => (await database.read<Row>(text, [value]))[0] ?? null;
  const setting = async <T>(name: string): Promise<T | null> => {
    const row = await one<{ value: string }>('select value from settings where name = $1', name);
    return fromJson<T>(row?.value);
  };
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
        password as (select value from settings where name = 'password' and value::json ->> 'hash' = $3 for share),
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
    password: () => setting<Password>('password'),
    async setPassword(password) {
      const sessions = 'delete from sessions where is_of_password and origin is distinct from';
      const hash = password?.hash ?? null;
      if (password) await database.change(`with s as (${sessions} $3) ${KEEP}`, ['password', JSON.stringify(password), hash]);
      else await database.change(`with p as (delete from settings where name = 'password') ${sessions} $1`, [hash]);
      // A session that was being created had the password locked, so only this statement sees it.
      await database.change(`${sessions} $1`, [hash]);
    },
    async deleteEnded(at, unusedSince) {
      const [ended, unused] = [Math.floor(at), Math.floor(unusedSince)];
      await database.change('delete from links where expires_at < $1', [ended]);
      await database.change('delete from sessions where used_at < $1 or ends_at < $2', [unused, ended]);
    },
    address: () => setting<string>('address'),
    async keepAddress(url) {
      await database.change(KEEP, ['address', JSON.stringify(url)]);
    },
  } satisfies SignIns;
}
