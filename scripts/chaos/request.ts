import { headers } from '../../bench/load/server.js';
import { invariant } from './invariants.js';

/** Sends a body, or asks without one; the answer, null when it is empty. Throws Violation when it is a refusal, TypeError when there is none. */
export async function requestJson(url: string, path: string, body?: object, attempt = 0): Promise<any> {
  const post = { method: 'POST', body: JSON.stringify(body), headers: { ...headers, 'X-Retry-Count': String(attempt) } };
  const response = await fetch(url + path, body ? post : { headers });
  const text = await response.text();
  invariant(response.ok, `${path} was answered with ${response.status}: ${text.slice(0, 500)}`);
  return text === '' ? null : (JSON.parse(text) as unknown);
}
