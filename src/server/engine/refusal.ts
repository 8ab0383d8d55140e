import { limits } from '../../protocol/limits.js';

/**
 * Why something is refused: a rule forbids it, or the value of a parameter; it is not there; the project has stored what it may today; too
 * much waits to be written; the store cannot be written; its database does not answer; or what was asked for expired meanwhile.
 */
export type Reason = 'rule' | 'parameter' | 'not found' | 'daily bytes' | 'busy' | 'disk' | 'database' | 'expired';

/** The engine or its store refuses what was asked for. The message is for the person or client that asked. */
export class Refusal extends Error {
  constructor(
    message: string,
    readonly reason: Reason = 'rule',
    /** The parameter that the message is about; null: it is about none. */
    readonly parameter: string | null = null,
    cause?: unknown,
  ) {
    super(message, { cause });
  }
}

/** Refusals of several use cases. */
export const refusals = {
  buildNotFound: () => new Refusal('Could not find Build', 'not found'),
  ciRunNotFound: (id: string) =>
    new Refusal(
      `Could not find CI run ${JSON.stringify(id.slice(0, limits.ciRunCharacters))} of the build: see ci_runs in GET /v1/builds/:id`,
      'not found',
    ),
  expired: (what: string) => new Refusal(`the ${what} expired during the request; try again`, 'expired'),
  databaseAway: (cause: unknown) => new Refusal('the database does not answer, or takes no writes; try again', 'database', null, cause),
  databaseFailed: (cause: unknown) =>
    new Refusal('the database refused a statement; see the server log, and try again', 'database', null, cause),
  storeFailed: (cause: unknown) =>
    new Refusal('the store cannot be written (is the disk of BALLAST_DATA_DIR full?); try again', 'disk', null, cause),
};
