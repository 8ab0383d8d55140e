import type { Request } from '../../http/request.js';
import { limits } from '../../limits.js';

/** Browsers accept the first name only over TLS, for this host alone and all of its paths. */
const SECURE_NAME = '__Host-ballast';
const PLAIN_NAME = 'ballast_session';

/** The secret in the session cookie; null: there is none. Over TLS only the secure name counts, because others can set the plain one. */
export function sessionSecret({ cookie, scheme }: Request): string | null {
  const names = scheme === 'https' ? [SECURE_NAME] : [SECURE_NAME, PLAIN_NAME];
  for (const name of names) {
    for (const pair of cookie.split(';')) {
      const [key, value = ''] = pair.split('=');
      if (key?.trim() === name && /^[0-9a-f]{64}$/.test(value.trim())) return value.trim();
    }
  }
  return null;
}

/** The header that gives a browser a session, until it is signed out or the session ends. */
export function sessionCookie(request: Request, secret: string): { 'Set-Cookie': string } {
  return cookie(request, secret, limits.sessionDays * 86_400);
}

/** The header that takes the session away. */
export function noSessionCookie(request: Request): { 'Set-Cookie': string } {
  return cookie(request, '', 0);
}

function cookie({ origin, scheme }: Request, value: string, seconds: number): { 'Set-Cookie': string } {
  // The browser's own word, which no proxy changes.
  const isSecure = origin === '' ? scheme === 'https' : origin.startsWith('https://');
  const name = isSecure ? SECURE_NAME : PLAIN_NAME;
  return { 'Set-Cookie': `${name}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${isSecure ? '; Secure' : ''}` };
}
