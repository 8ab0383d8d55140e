import type { Problem } from './api.js';

const ANOTHER = 'Run "ballast dashboard link" on the machine of the server, and open the link that it prints.';

/** Why somebody was not signed in, and what to do. */
export function refusalOf({ status, reasons }: Pick<Problem, 'status' | 'reasons'>, isLink: boolean): string {
  const words = reasons.length > 0 ? `${sentenceOf(reasons.join('; '))} ` : '';
  if (status === 0) return 'The server does not answer. Your link is not used up: open it again when the server is back.';
  if (status === 429) return `${words || 'Too many attempts. '}Wait, then try again.`;
  if (status >= 500) return `${words || `The server answered ${status}. `}Try again.`;
  if (isLink) return `This link does not sign you in: it was used, it has expired, or it was revoked. ${words}${ANOTHER}`;
  return `${words || 'The password is wrong. '}If you do not know the password: ${ANOTHER[0]!.toLowerCase()}${ANOTHER.slice(1)}`;
}

const sentenceOf = (text: string) => `${text.replace(/^./, letter => letter.toUpperCase()).replace(/[.!?]$/, '')}.`;

/** Where a reader lands after signing in: the path that asked for it, if it is one of this server; else the projects. */
export function landingOf(to: string | null, origin: string): string {
  if (to === null || !to.startsWith('/') || !URL.canParse(to, origin)) return '/';
  const address = new URL(to, origin);
  if (address.origin !== origin || address.pathname === '/sign-in') return '/';
  return address.pathname + address.search;
}
