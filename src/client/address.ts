import { UsageError } from './usage-error.js';

/** Whether it could be the address of a server. */
export function isServerUrl(text: string): boolean {
  if (!/^https?:\/\/./.test(text) || !URL.canParse(text)) return false;
  const { search, hash, username, password } = new URL(text);
  return `${search}${hash}${username}${password}` === '';
}

/** Whether it could be a test-suite token, of whatever server: what a header may hold, in one word. */
export function isToken(text: string): boolean {
  return /^[\x21-\x7e]+$/.test(text);
}

/** The address behind which the paths of the API begin: users give it with or without /v1. */
export function baseUrl(url: string): string {
  return url.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** The token as Ballast, and whatever else speaks its protocol, takes it. */
export function tokenHeaders(token: string): Record<string, string> {
  return { 'SERVICE-TEST-SUITE-TOKEN': token, 'KNAPSACK-PRO-TEST-SUITE-TOKEN': token };
}

/** Where a server is, and the token for it. Throws the UsageError that says what is missing or wrong; a token is never repeated. */
export function parseServer({ url = '', token = '' }: { url?: string; token?: string }): { url: string; token: string } {
  const given = { url: url.trim(), token: token.trim() };
  const complaints = [urlError(given.url), tokenError(given.token)].filter(complaint => complaint !== null);
  if (complaints.length > 0) throw new UsageError(complaints);
  return given;
}

function urlError(url: string): string | null {
  if (url === '') return 'the address of the server is not known: give --url <address> or set BALLAST_URL';
  return isServerUrl(url)
    ? null
    : `${JSON.stringify(url)} is not a server address: give one such as https://ballast.example.com (--url, BALLAST_URL)`;
}

function tokenError(token: string): string | null {
  if (token === '') return 'the test-suite token is not known: give --token <token> or set BALLAST_TOKEN';
  return isToken(token)
    ? null
    : 'the test-suite token has characters that no token has: was it copied whole, and alone? (--token, BALLAST_TOKEN)';
}
