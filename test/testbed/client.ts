/** The token of the project "default" of every server. */
export const TOKEN = 'a-token-for-benchmarks-0123456789abcdef';

/** Headers as commercial clients send them. */
export const headers = {
  'Content-Type': 'application/json',
  Accept: 'application/json',
  'KNAPSACK-PRO-CLIENT-NAME': 'knapsack_pro',
  'KNAPSACK-PRO-CLIENT-VERSION': '7.14.0',
  'KNAPSACK-PRO-TEST-SUITE-TOKEN': TOKEN,
  'KNAPSACK-PRO-CI-PROVIDER': 'GitHub Actions',
};

/** An answer whose status is an error. The message is a sentence. */
export class Refusal extends Error {}

/**
 * Sends a POST with the body, or a GET without one, as a commercial client. Returns and throws what sendJson does.
 *
 * @param attempt how often the client has sent the request before, if it says so
 */
export function requestJson(url: string, path: string, body?: object, attempt?: number): Promise<any> {
  const retries = attempt === undefined ? {} : { 'X-Retry-Count': String(attempt) };
  return sendJson(url + path, { ...headers, ...retries }, body, `${path} was answered with`);
}

/**
 * Sends a POST with the body, or a GET without one. Returns the parsed answer, null when it is empty. Throws a Refusal when the status is an
 * error, and a TypeError when there is no answer.
 *
 * @param refused what the message of a Refusal says before the status
 */
export async function sendJson(address: string, fields: Record<string, string>, body: object | undefined, refused: string): Promise<any> {
  const post = { method: 'POST', body: JSON.stringify(body), headers: { 'Content-Type': 'application/json', ...fields } };
  const response = await fetch(address, body ? post : { headers: fields });
  const text = await response.text();
  if (!response.ok) throw new Refusal(`${refused} ${response.status}: ${text.slice(0, 500)}`);
  return text === '' ? null : (JSON.parse(text) as unknown);
}
