/** Whether it could be the address of a server. */
export function isAddress(text: string): boolean {
  return /^https?:\/\/./.test(text) && URL.canParse(text);
}

/** The address behind which the paths of the API begin: users give it with or without /v1. */
export function baseOf(url: string): string {
  return url.replace(/\/+$/, '').replace(/\/v1$/, '');
}

/** The token as Ballast, and whatever else speaks its protocol, takes it. */
export function tokenHeaders(token: string): Record<string, string> {
  return { 'SERVICE-TEST-SUITE-TOKEN': token, 'KNAPSACK-PRO-TEST-SUITE-TOKEN': token };
}
