import { print, printRow, printToStderr } from '../../base/terminal.js';
import { timestamp } from '../../base/time.js';
import { limits } from '../../protocol/limits.js';
import type { Link, Session } from '../../server/engine/ports/sign-ins.js';
import type { Values } from '../../server/engine/ports/values.js';
import { hashPassword } from '../../server/engine/sign-in/password.js';
import { createOperatorLink, createReaderLink, endSession, expiryOf, revokeLink, signInId } from '../../server/engine/sign-in/sign-in.js';
import { reachableUrl, signInUrl } from '../../server/process/dashboard.js';
import { parseConfig } from '../../server/process/settings.js';
import type { StoreSource } from '../../server/store/source.js';
import { requireProject } from './project.js';
import { readPassword } from './terminal-input.js';
import { withExistingStore } from './with-store.js';

/** Validity of a reader's link without `--days`. */
const READER_LINK_DEFAULT_DAYS = 30;

/** Commands for those who use the dashboard. A running server sees a change at its next request. */

export interface LinkOptions {
  project?: string;
  days?: number;
  publicUrl?: string;
  json?: true;
}

/** Creates a sign-in link and prints its address, and nothing else: of an operator, or, with a project, of its readers. */
export function createSignInLink(source: StoreSource, { project: name, days, publicUrl, json }: LinkOptions): Promise<void> {
  if (days !== undefined && name === undefined)
    throw new Error('cannot create a link: --days needs --project; the link of an operator is valid for 10 minutes');
  return withExistingStore(source, async ({ access, signIns, values, now }) => {
    const project = name === undefined ? null : (await requireProject(access, name)).id;
    const link =
      project === null
        ? await createOperatorLink(signIns, now())
        : await createReaderLink(signIns, project, checkedDays(days ?? READER_LINK_DEFAULT_DAYS), now());
    const url = signInUrl(await addressOf(values, publicUrl), link.secret);
    print(json ? JSON.stringify({ id: signInId(link), url, expires_at: timestamp(link.expires_at) }) : url);
  });
}

function checkedDays(days: number): number {
  if (days < 1 || days > limits.readerLinkDays)
    throw new Error(`cannot create a link for ${days} days: give 1 to ${limits.readerLinkDays}`);
  return days;
}

/** The address of the dashboard: the public one, that of the server's last start, or the one that a server would have. */
async function addressOf(values: Values, publicUrl: string | undefined): Promise<string> {
  const { publicUrl: url, host, port } = parseConfig(publicUrl === undefined ? {} : { publicUrl });
  return url ?? (await values.get('address')) ?? reachableUrl(`http://${host}:${port}`);
}

/** Sets the password of operators, read from stdin or typed twice, or removes it. The sessions that it signed in end. */
export async function changePassword(source: StoreSource, { remove }: { remove?: true }): Promise<void> {
  await withExistingStore(source, async ({ values, now }) => {
    if (remove) {
      await values.put('password', null);
      printToStderr('removed the password; sessions that it signed in have ended');
      return;
    }
    await values.put('password', await hashPassword(await readPassword(), now()));
    printToStderr('set the password; sessions that the one before signed in have ended');
  });
}

/** Prints one line for each session and link in force: id, kind, project, creation, last use, expiry. */
export function printSessions(source: StoreSource, { json }: { json?: true }): Promise<void> {
  return withExistingStore(source, async ({ access, signIns, now }) => {
    const names = new Map((await access.projects()).map(({ id, name }) => [id, name]));
    const describe = (kind: string, each: Session | Link, used_at: number | null, expires_at: number) => ({
      id: signInId(each),
      kind,
      project: each.project === null ? null : (names.get(each.project) ?? null),
      created_at: timestamp(each.created_at),
      used_at: used_at === null ? null : timestamp(used_at),
      expires_at: timestamp(expires_at),
    });
    const all = [
      ...(await signIns.sessions()).map(session => describe('session', session, session.used_at, expiryOf(session))),
      ...(await signIns.links()).map(link => describe('link', link, null, link.expires_at)),
    ];
    const inForce = all.filter(({ expires_at }) => Date.parse(expires_at) > now());
    if (json) return print(JSON.stringify(inForce));
    for (const { id, kind, project, created_at, used_at, expires_at } of inForce)
      printRow([id, kind, project === null ? 'operator' : `reader of ${project}`, created_at, used_at ?? '-', `until ${expires_at}`]);
  });
}

/** Ends the session with an id, or revokes the link with it, which ends the sessions of its readers. */
export function endSessionOrLink(source: StoreSource, id: string): Promise<void> {
  return withExistingStore(source, async ({ signIns }) => {
    if ((await signIns.links()).some(link => signInId(link) === id)) {
      await revokeLink(signIns, id);
      printToStderr(`revoked link ${id}`);
    } else {
      await endSession(signIns, id);
      printToStderr(`ended session ${id}`);
    }
  });
}
