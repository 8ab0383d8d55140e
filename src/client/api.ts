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

interface Request {
  method: 'GET' | 'POST';
  target: string;
  body: string | null;
  timeoutSeconds: number;
  /** A status above 299 that is an answer all the same. */
  taken: number | null;
}

/** The server as a CI node sees it. */
export class Api {
  readonly #base: string;

  constructor(readonly options: ApiOptions) {
    this.#base = baseOf(options.url);
  }

  /** The parsed answer; undefined when it is empty. Throws Unreachable or Refused. */
  async post(path: string, message: object, retries = this.options.retries): Promise<unknown> {
    const body = JSON.stringify(message);
    return this.#send({ method: 'POST', target: `${this.#base}${path}`, body, timeoutSeconds: TIMEOUT_SECONDS, taken: null }, retries);
  }

  /**
   * As `post`.
   * @param waitSeconds the server may take so long
   * @param taken a status above 299 that is an answer all the same
   */
  async get(path: string, waitSeconds: number, taken: number): Promise<unknown> {
    return this.#send({ method: 'GET', target: `${this.#base}${path}`, body: null, timeoutSeconds: waitSeconds + TIMEOUT_SECONDS, taken }, this.options.retries);
  }

  async #send(request: Request, retries: number): Promise<unknown> {
    for (let count = 0; ; count += 1) {
      const outcome = await this.#once(request, count);
      if (!(outcome instanceof Trouble)) return outcome.value;
      if (count >= retries) {
        const times = count > 0 ? `, ${count + 1} times` : '';
        throw new Unreachable(`no answer from ${request.method} ${request.target}${times} (${outcome.why})`);
      }
      await sleep(1000 * Math.min(LONGEST_PAUSE_SECONDS, outcome.retryAfter ?? FIRST_PAUSE_SECONDS * 2 ** count));
    }
  }

  async #once({ method, target, body, timeoutSeconds, taken }: Request, count: number): Promise<Trouble | { value: unknown }> {
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
      // A redirect would lose the body, and might take the token elsewhere.
      response = await fetch(target, { method, redirect: 'manual', headers, body, signal: AbortSignal.timeout(timeoutSeconds * 1000) });
      text = await response.text();
    } catch (error) {
      return new Trouble(causeOf(error), null);
    }
    const { status, ok } = response;
    // 408 and 429: it did not look at what was sent.
    if (status >= 500 || status === 408 || status === 429) return new Trouble(`it answered ${status}: ${sentenceOf(text)}`, secondsIn(response.headers.get('Retry-After')));
    const elsewhere = status < 400 ? response.headers.get('Location') : null;
    if (elsewhere !== null) throw new Refused(`${method} ${target} was answered with a redirect to ${elsewhere}: give the address that this leads to (--url, BALLAST_URL)`);
    if (!ok && status !== taken) throw new Refused(`${method} ${target} was refused with ${status}: ${sentenceOf(text)}`);
    if (text === '') return { value: undefined };
    try {
      return { value: JSON.parse(text) };
    } catch {
      throw new Refused(`${method} ${target} was not answered by Ballast: ${sentenceOf(text)}`);
    }
  }
}

class Trouble {
  constructor(
    readonly why: string,
    readonly retryAfter: number | null,
  ) {}
}

/** Why there was no answer, in a line. */
function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  const { message: why = '', code = '' } = (cause ?? {}) as { message?: string; code?: string };
  const [line = ''] = (why || code || message).trim().split('\n');
  if (/certificate/i.test(line)) return `${line}: NODE_EXTRA_CA_CERTS may name a file of certificates to trust`;
  return code.startsWith('ERR_SSL') ? `no TLS there: ${code}` : line;
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
