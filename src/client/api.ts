import { isUtf8 } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import { baseUrl, tokenHeaders } from './address.js';

/** No answer, or only server errors, after all retries. */
export class ServerUnreachable extends Error {
  readonly exitCode = 3;
}

/** A refusal, or an answer outside the protocol. A retry would get the same. */
export class RequestRejected extends Error {
  readonly exitCode = 3;

  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

export interface Answer {
  status: number;
  /** The parsed JSON; undefined when the body is empty. */
  body: unknown;
}

/** Returns the answer if the protocol allows it for the request, else null. */
export type AnswerParser<T> = (answer: Answer) => T | null;

export interface ApiOptions {
  /** With or without /v1 behind it. */
  url: string;
  token: string;
  /** How often a request is sent again. */
  retries: number;
  clientVersion: string;
  /** Time limit of one answer. */
  timeoutSeconds?: number;
  /** Size limit of one answer. */
  maxBytes?: number;
}

const TIMEOUT_SECONDS = 15;
const MAX_BYTES = 64 * 2 ** 20;
const FIRST_PAUSE_SECONDS = 1;
const MAX_PAUSE_SECONDS = 30;
/** The longest quotation in an error message. */
const MAX_MESSAGE_CHARACTERS = 500;
const MAX_EXCERPT_CHARACTERS = 200;

interface Request {
  method: 'GET' | 'POST';
  target: string;
  body: string | null;
  timeoutSeconds: number;
}

interface Reply {
  status: number;
  bytes: Buffer;
  location: string | null;
}

/** The client of the HTTP API: one rule for retries, no redirects, every answer checked. */
export class Api {
  readonly #base: string;
  readonly #timeoutSeconds: number;
  readonly #mostBytes: number;

  constructor(readonly options: ApiOptions) {
    this.#base = baseUrl(options.url);
    this.#timeoutSeconds = options.timeoutSeconds ?? TIMEOUT_SECONDS;
    this.#mostBytes = options.maxBytes ?? MAX_BYTES;
  }

  /** Throws Unreachable, or Refused when `check` returns null. A request that may have been served is sent again with X-Retry-Count. */
  async post<T>(path: string, message: object, check: AnswerParser<T>, retries = this.options.retries): Promise<T> {
    const body = JSON.stringify(message);
    return this.#send({ method: 'POST', target: `${this.#base}${path}`, body, timeoutSeconds: this.#timeoutSeconds }, check, retries);
  }

  /**
   * As `post`.
   * @param waitSeconds how long the server may wait before it answers
   */
  async get<T>(path: string, check: AnswerParser<T>, waitSeconds = 0): Promise<T> {
    return this.#send(
      { method: 'GET', target: `${this.#base}${path}`, body: null, timeoutSeconds: waitSeconds + this.#timeoutSeconds },
      check,
      this.options.retries,
    );
  }

  async #send<T>(request: Request, check: AnswerParser<T>, retries: number): Promise<T> {
    for (let count = 0; ; count += 1) {
      const reply = await this.#once(request, count);
      if (!(reply instanceof FailedAttempt)) return parseReply(request, reply, check);
      if (count >= retries) {
        const times = count > 0 ? `, ${count + 1} times` : '';
        throw new ServerUnreachable(`no answer from ${request.method} ${request.target}${times} (${reply.why})`);
      }
      await sleep(1000 * Math.min(MAX_PAUSE_SECONDS, reply.retryAfter ?? FIRST_PAUSE_SECONDS * 2 ** count));
    }
  }

  async #once({ method, target, body, timeoutSeconds }: Request, count: number): Promise<FailedAttempt | Reply> {
    const { token, clientVersion } = this.options;
    const headers = {
      'Content-Type': 'application/json',
      // A cached answer would be mistaken for the current state of the build.
      'Cache-Control': 'no-cache',
      ...tokenHeaders(token),
      'SERVICE-CLIENT-NAME': 'ballast',
      'SERVICE-CLIENT-VERSION': clientVersion,
      'X-Retry-Count': String(count),
    };
    let response: Response;
    let bytes: Buffer | null;
    try {
      // A redirect would lose the body, and might take the token elsewhere.
      response = await fetch(target, { method, redirect: 'manual', headers, body, signal: AbortSignal.timeout(timeoutSeconds * 1000) });
      bytes = await readBody(response, this.#mostBytes);
    } catch (error) {
      return new FailedAttempt(networkFailure(error), null);
    }
    const { status } = response;
    if (bytes === null)
      throw new RequestRejected(
        `${method} ${target} was answered with ${status} and more than ${this.#mostBytes} bytes, more than Ballast ever sends: give the address of a Ballast server`,
        status,
      );
    // 408 and 429: it did not look at what was sent.
    if (status >= 500 || status === 408 || status === 429)
      return new FailedAttempt(`it answered ${status}: ${errorMessage(bytes)}`, parseRetryAfter(response.headers.get('Retry-After')));
    return { status, bytes, location: response.headers.get('Location') };
  }
}

class FailedAttempt {
  constructor(
    readonly why: string,
    readonly retryAfter: number | null,
  ) {}
}

function parseReply<T>({ method, target }: Request, { status, bytes, location }: Reply, check: AnswerParser<T>): T {
  const json = parseJson(bytes);
  const accepted = json && check({ status, body: json.value });
  if (accepted !== null) return accepted;
  const request = `${method} ${target}`;
  if (status >= 400) throw new RequestRejected(`${request} was refused with ${status}: ${errorMessage(bytes)}`, status);
  if (status >= 300 && location !== null)
    throw new RequestRejected(
      `${request} was answered with ${status}, a redirect to ${location.slice(0, MAX_MESSAGE_CHARACTERS)}: give that address instead`,
      status,
    );
  throw new RequestRejected(
    `${request} was not answered by a server of Ballast's protocol: status ${status}, ${excerpt(bytes)}; give the address of the server itself, not of a proxy that answers for it`,
    status,
  );
}

/** Returns null beyond `most` bytes, and does not read the rest. */
async function readBody({ body }: Response, most: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > most) return null;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

/** Returns null unless the bytes are JSON in UTF-8. */
function parseJson(bytes: Buffer): { value: unknown } | null {
  if (bytes.length === 0) return { value: undefined };
  if (!isUtf8(bytes)) return null;
  try {
    return { value: JSON.parse(bytes.toString()) };
  } catch {
    return null;
  }
}

/** Why there was no answer, in a line. */
function networkFailure(error: unknown): string {
  const { message, cause } = error as Error;
  const { message: why = '', code = '' } = (cause ?? {}) as { message?: string; code?: string };
  const [line = ''] = (why || code || message).trim().split('\n');
  if (/certificate/i.test(line)) return `${line}: NODE_EXTRA_CA_CERTS may name a file of certificates to trust`;
  return code.startsWith('ERR_SSL') ? `no TLS there: ${code}` : line;
}

function parseRetryAfter(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : null;
}

/** What the server says, or the beginning of what something else says. */
function errorMessage(bytes: Buffer): string {
  const { errors } = (parseJson(bytes)?.value ?? {}) as { errors?: unknown };
  if (!Array.isArray(errors) || errors.length === 0) return excerpt(bytes);
  const sentence = errors.map(error => (typeof error === 'string' ? error : parameterErrors(error))).join('; ');
  return sentence.length > MAX_MESSAGE_CHARACTERS ? `${sentence.slice(0, MAX_MESSAGE_CHARACTERS)}...` : sentence;
}

/** The complaints about each parameter, as in {"branch": ["parameter is required"]}. */
function parameterErrors(errors: unknown): string {
  const entries = Object.entries(errors ?? {});
  const isFlat = entries.every(([, messages]) => Array.isArray(messages) && messages.every(message => typeof message === 'string'));
  return isFlat
    ? entries.map(([parameter, messages]) => `${parameter}: ${(messages as string[]).join(', ')}`).join('; ')
    : JSON.stringify(errors);
}

function excerpt(bytes: Buffer): string {
  if (bytes.length === 0) return 'an empty body';
  // A character has at most 4 bytes.
  return JSON.stringify(bytes.toString('utf8', 0, 4 * MAX_EXCERPT_CHARACTERS).slice(0, MAX_EXCERPT_CHARACTERS));
}
