import { Refusal, refusals } from '../../../engine/refusal.js';
import type { Address } from './address.js';

/** Code of an error, or of the cause of a refusal, by the database, the network or TLS; null: it has no code. */
export function codeOf(error: unknown): string | null {
  const { code } = ((error as Error).cause ?? error) as { code?: unknown };
  return typeof code === 'string' ? code : null;
}

/** Reports whether the database refused a value that must be unique. */
export const isTaken = (error: unknown) => codeOf(error) === '23505';

/** The statement lost against another one, and can run again. */
export const isConflict = (error: unknown) => ['40001', '40P01'].includes(codeOf(error)!);

/** The server takes no writes, because it is a standby or was told to. */
export const isReadOnly = (error: unknown) => codeOf(error) === '25006';

/** The codes of the database: five digits and capital letters. Those of the network begin with E. */
const SQLSTATE = /^[0-9A-DF-Z][0-9A-Z]{4}$/;

/** Reports whether a server answered, although with an error. */
export const isAnswer = (error: unknown) => error instanceof Error && 'severity' in error && SQLSTATE.test(codeOf(error) ?? '');

/** The server ends its connections, accepts none or no more, or takes no writes; or it does not know what became of the statement. */
const AWAY = /^(08...|57P0[1235]|53300|25006|40003)$/;

/** Errors of the network: not those of TLS, and not those of files. That of a socket is none of these. */
const isOfNetwork = (error: unknown, code: string) => /^E[A-Z_]+$/.test(code) && !code.startsWith('ERR_') && !isOfFile(error);

/** The file with the password or the certificate cannot be read. */
const isOfFile = (error: unknown) => codeOf(error) === 'EISDIR' || (error as NodeJS.ErrnoException).syscall === 'open';

/** Reports whether the database may answer the same another time, or on another server. */
export function mayPass(error: unknown): boolean {
  const code = codeOf(error);
  if (code !== null) return SQLSTATE.test(code) ? AWAY.test(code) : isOfNetwork(error, code);
  return error instanceof Error && /^(Connection terminated|There was an error establishing an SSL connection)/.test(error.message);
}

/** The database did not answer in time. */
export const noAnswer = (milliseconds: number) => Object.assign(new Error(`no answer in ${milliseconds / 1000} s`), { code: 'ETIMEDOUT' });

export const closed = () => new Error('the store is closed');

/** The error for the caller of the store. A refusal of the statement itself stays as it is: of its values, or of a value that is taken. */
export function refusalOf(error: unknown): unknown {
  if (error instanceof Refusal) return error;
  if (mayPass(error) || isConflict(error)) return refusals.databaseAway(error);
  const code = codeOf(error) ?? '';
  return SQLSTATE.test(code) && !/^2[23]/.test(code) ? refusals.databaseFailed(error) : error;
}

/** Why a database cannot be used, and what to do, in a sentence without the password. */
export function openingError(error: unknown, { host, port, database, user }: Address): Error {
  const cause = (error instanceof Refusal && error.cause) || error;
  const text = (cause as Error).message || codeOf(cause);
  const advice = isOfFile(cause)
    ? 'are BALLAST_DATABASE_PASSWORD_FILE and BALLAST_DATABASE_CA right, and may this process read these files?'
    : adviceFor(codeOf(cause) ?? '', { database, user: user ?? 'that of the operating system' });
  return new Error(`cannot use the database ${database} at ${host}:${port}: ${text}${advice && `; ${advice}`}`, { cause });
}

function adviceFor(code: string, { database, user }: { database: string; user: string }): string {
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN') return 'is the name of the host right?';
  if (code === '3D000') return `make it: create database ${database}`;
  if (code.startsWith('28')) return `is the password right, and may the user ${user} use this database from here (pg_hba.conf)?`;
  if (code === '42501') return `grant it to the user ${user}; the owner of the database may do everything that is needed`;
  if (code === '25006') return `name a server that accepts writes; is default_transaction_read_only on for the user ${user}?`;
  if (code === '3F000') return `name a schema that exists in the search_path of the user ${user}`;
  // A statement is prepared on another connection than the one that runs it.
  if (code === '42P05' || code === '26000')
    return 'is it behind pgbouncer in transaction mode? That must be 1.21 or later, with max_prepared_statements = 100 or more';
  if (code === '53300') return 'end others, or raise max_connections';
  if (/CERT|SIGNATURE|ISSUER/.test(code))
    return 'name the certificate of the authority that signed that of the server, and the host as that certificate does';
  return /^E[A-Z_]+$/.test(code) ? 'does it run there, and can this machine reach it?' : '';
}
