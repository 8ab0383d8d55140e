import { headers } from '../../testbed/server.js';
import { invariant } from './invariants.js';

/**
 * Sends a POST with the body, or a GET without one. Returns the parsed response, null when it is empty. Throws a Violation when the status is
 * an error, and a TypeError when there is no response.
 */
export async function requestJson(url: string, path: string, body?: object, attempt = 0): Promise<any> {
  const post = { method: 'POST', body: JSON.stringify(body), headers: { ...headers, 'X-Retry-Count': String(attempt) } };
  const response = await fetch(url + path, body ? post : { headers });
  const text = await response.text();
  invariant(response.ok, `${path} was answered with ${response.status}: ${text.slice(0, 500)}`);
  return text === '' ? null : (JSON.parse(text) as unknown);
}
