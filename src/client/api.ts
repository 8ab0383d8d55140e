import { setTimeout as sleep } from 'node:timers/promises';
import { baseOf, tokenHeaders } from './address.js';

/** No answer, or only ones that the server is in trouble, after all retries: one may go on without it. */
export class Unreachable extends Error {
  readonly exitCode = 3;
}

/** An answer that says no: it will be the same the next time, and somebody has to know. */
export class Refused extends Error {
  readonly exitCode = 3;
}

export interface ApiOptions {
  /** With or without /v1 behind it. */
  url: string;
  token: string;
  /** How often a request is sent again. */
  retries: number;
  clientVersion: string;
}

const TIMEOUT_SECONDS = 15;
const FIRST_PAUSE_SECONDS = 1;
const LONGEST_PAUSE_SECONDS = 30;

/** The server as a CI node sees it. */
export class Api {
  readonly #base: string;

  constructor(readonly options: ApiOptions) {
    this.#base = baseOf(options.url);
  }

  /** The parsed answer; undefined when it is empty. Throws Unreachable or Refused. */
  async post(path: string, message: object, retries = this.options.retries): Promise<unknown> {
    const target = `${this.#base}${path}`;
    const body = JSON.stringify(message);
    for (let count = 0; ; count += 1) {
      const outcome = await this.#once(target, body, count);
      if (!(outcome instanceof Trouble)) return outcome.value;
      if (count >= retries) {
        const times = count > 0 ? `, ${count + 1} times` : '';
        throw new Unreachable(`no answer from POST ${target}${times} (${outcome.why})`);
      }
      await sleep(1000 * Math.min(LONGEST_PAUSE_SECONDS, outcome.retryAfter ?? FIRST_PAUSE_SECONDS * 2 ** count));
    }
  }

  async #once(target: string, body: string, count: number): Promise<Trouble | { value: unknown }> {
    const { token, clientVersion } = this.options;
    const headers = {
      'Content-Type': 'application/json',
      ...tokenHeaders(token),
      'SERVICE-CLIENT-NAME': 'ballast',
      'SERVICE-CLIENT-VERSION': clientVersion,
      'X-Retry-Count': String(count),
    };
    let response: Response;
    let text: string;
    try {
      response = await fetch(target, { method: 'POST', headers, body, signal: AbortSignal.timeout(TIMEOUT_SECONDS * 1000) });
      text = await response.text();
    } catch (error) {
      const { message, cause } = error as Error;
      return new Trouble(cause instanceof Error && cause.message ? cause.message : message, null);
    }
    // 408 and 429: it did not look at what was sent.
    if (response.status >= 500 || response.status === 408 || response.status === 429) return new Trouble(`it answered ${response.status}: ${sentenceOf(text)}`, secondsIn(response.headers.get('Retry-After')));
    if (!response.ok) throw new Refused(`POST ${target} was refused with ${response.status}: ${sentenceOf(text)}`);
    if (text === '') return { value: undefined };
    try {
      return { value: JSON.parse(text) };
    } catch {
      throw new Refused(`POST ${target} was not answered by Ballast: ${sentenceOf(text)}`);
    }
  }
}

class Trouble {
  constructor(
    readonly why: string,
    readonly retryAfter: number | null,
  ) {}
}

function secondsIn(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : null;
}

/** What the server says, or the beginning of what something else says. */
function sentenceOf(text: string): string {
  try {
    const { errors } = JSON.parse(text) as { errors?: unknown[] };
    if (Array.isArray(errors)) return errors.map(error => (typeof error === 'string' ? error : JSON.stringify(error))).join('; ');
  } catch {
    // Not ours.
  }
  return JSON.stringify(text.slice(0, 200));
}
