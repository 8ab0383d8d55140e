import { capitalized } from '../../../base/capitalized.js';
import type { Problem } from '../../data/api.js';

const ANOTHER = 'For another one, run "ballast dashboard link" on the machine of the server.';

/** Why somebody was not signed in, and what to do: in the server's words, if it has some. */
export function refusalOf({ status, reasons }: Pick<Problem, 'status' | 'reasons'>, isLink: boolean): string {
  if (reasons.length > 0) return sentenceOf(reasons.join('; '));
  if (status === 0) return 'The server does not answer. Nothing was used up: try again when it is back.';
  if (status === 429) return 'Too many attempts. Wait, then try again.';
  if (status >= 500) return `The server answered ${status}. Try again.`;
  return isLink
    ? `This link was used, was revoked or has expired. ${ANOTHER}`
    : `The password is wrong. You can also use a link. ${ANOTHER}`;
}

const sentenceOf = (text: string) => `${capitalized(text).replace(/[.!?]$/, '')}.`;

/** Tells who comes back that the session has ended, by the reasons of a 401; null: there was none, or it was signed out. */
export function endingOf([reason = '']: readonly string[]): string | null {
  return reason.startsWith('your session has ended') ? sentenceOf(reason) : null;
}

/** Returns the page at which a reader lands after signing in: the path that asked for it, if it is one of this server; else the projects. */
export function landingOf(to: string | null, origin: string): string {
  if (to === null || !to.startsWith('/') || !URL.canParse(to, origin)) return '/';
  const address = new URL(to, origin);
  // As a path, //host would be another site.
  if (address.origin !== origin || address.pathname === '/sign-in' || address.pathname.startsWith('//')) return '/';
  return address.pathname + address.search + address.hash;
}
