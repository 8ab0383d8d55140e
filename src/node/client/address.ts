import { type Fault, faultText, UsageError } from '../../base/usage-error.js';

export function isServerUrl(text: string): boolean {
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text)) return false;
  const { search, hash, username, password } = new URL(text);
  return `${search}${hash}${username}${password}` === '';
}

/** Reports whether the text could be the token of any server: one word of characters that an HTTP header allows. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** Validates the address and the token of a server. Throws a UsageError, which never contains the token. */
export function parseServer(options: { url?: string; token?: string }): { url: string; token: string } {
  const url = options.url?.trim() ?? '';
  const token = options.token?.trim() ?? '';
  const faults = [urlFault(url), tokenFault(token)].filter(fault => fault !== null);
  if (faults.length > 0) throw new UsageError(faults.map(faultText));
  return { url, token };
}

/** An address as messages may quote it: without the password and the query, which logs of CI systems would show. */
export function withoutSecrets(url: string): string {
  const [scheme] = /^["'`]?(https?:\/\/)?/.exec(url)!;
  const rest = url.slice(scheme.length);
  // A password may have any character.
  return `${scheme}${rest.replace(/^.*@/s, '***@').replace(/\?.+/s, '?***')}`;
}

/** Returns why a text is no address of a server; null: it may be one. The fault has neither a password nor a query. */
export function urlFault(url: string): Fault | null {
  if (url === '') return { what: 'the address of the server is not known', remedy: 'give --url <address> or set BALLAST_URL' };
  if (isServerUrl(url)) return null;
  const what = `${JSON.stringify(withoutSecrets(url))} is not a server address`;
  return { what, remedy: 'give one such as https://ballast.example.com (--url, BALLAST_URL)' };
}

/** Returns why a text is no token; null: it may be one. The fault never contains the token. */
export function tokenFault(token: string): Fault | null {
  if (token === '') return { what: 'the test-suite token is not known', remedy: 'give --token <token> or set BALLAST_TOKEN' };
  if (isToken(token)) return null;
  const what = 'the test-suite token has characters that no token has';
  return { what, remedy: 'check that it was copied completely and without other text (--token, BALLAST_TOKEN)' };
}
