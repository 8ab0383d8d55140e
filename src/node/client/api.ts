import { isUtf8 } from 'node:buffer';
import { setTimeout as sleep } from 'node:timers/promises';
import { NOT_OPEN } from '../../protocol/public-token.js';

/** Every attempt ended without an answer or with a server error. */
export class ServerUnreachable extends Error {
  readonly exitCode = 3;
}

/** The server refused the request or broke the protocol. A retry would get the same answer. */
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
  /** When it was sent, by the clock of the server, as in the header; null: the server does not say. */
  date?: string | null;
}

/** Returns the body of an answer that the protocol allows; null: the protocol forbids it. */
export type AnswerParser<T> = (answer: Answer) => T | null;

export interface ApiOptions {
  /** With or without /v1 at the end. */
  url: string;
  token: string;
  /** Repetitions of a failed request. */
  retries: number;
  /** Name by which the server knows this client (default: ballast). */
  clientName?: string;
  clientVersion: string;
  /** Time limit for one answer. */
  timeoutSeconds?: number;
  /** Size limit of one answer. */
  maxBytes?: number;
  /** Ends requests, which then reject with its reason. */
  signal?: AbortSignal;
}

const TIMEOUT_SECONDS = 15;
const MAX_BYTES = 64 * 2 ** 20;
const FIRST_PAUSE_SECONDS = 1;
const MAX_PAUSE_SECONDS = 30;
/** Limits on what error messages quote: from a Ballast server, and from anything else. */
const MAX_MESSAGE_CHARACTERS = 500;
const MAX_EXCERPT_CHARACTERS = 200;

interface Request {
  method: 'GET' | 'POST';
  target: string;
  body: string | null;
  /** Time that the server may wait before it answers. */
  waitSeconds: number;
}

interface Reply {
  status: number;
  bytes: Buffer;
  location: string | null;
  date: string | null;
}

/** The client of the HTTP API. It repeats failed requests, follows no redirects and checks every answer. */
export class Api {
  /** The address without a trailing slash or /v1. Users give it with or without them. */
  readonly #base: string;

  constructor(readonly options: ApiOptions) {
    this.#base = options.url.replace(/\/+$/, '').replace(/\/v1$/, '');
  }

  /** Throws ServerUnreachable, or RequestRejected if `parse` returns null. */
  async post<T>(path: string, message: object, parse: AnswerParser<T>, retries = this.options.retries): Promise<T> {
    return this.#send({ method: 'POST', target: `${this.#base}${path}`, body: JSON.stringify(message), waitSeconds: 0 }, parse, retries);
  }

  /** Like `post`. The server may wait some seconds before it answers. */
  async get<T>(path: string, parse: AnswerParser<T>, waitSeconds = 0): Promise<T> {
    return this.#send({ method: 'GET', target: `${this.#base}${path}`, body: null, waitSeconds }, parse, this.options.retries);
  }

  async #send<T>(request: Request, parse: AnswerParser<T>, retries: number): Promise<T> {
    for (let count = 0; ; count += 1) {
      const attempt = await this.#attempt(request, count);
      if (!(attempt instanceof FailedAttempt)) return parseReply(request, attempt, parse);
      if (count >= retries) {
        const times = count > 0 ? `, ${count + 1} times` : '';
        throw new ServerUnreachable(`no answer from ${request.method} ${request.target}${times} (${attempt.reason})`, {
          cause: attempt.cause,
        });
      }
      const pause = 1000 * Math.min(MAX_PAUSE_SECONDS, attempt.retryAfter ?? FIRST_PAUSE_SECONDS * 2 ** count);
      await sleep(pause, undefined, this.options.signal && { signal: this.options.signal });
    }
  }

  async #attempt({ method, target, body, waitSeconds }: Request, count: number): Promise<FailedAttempt | Reply> {
    const {
      token,
      clientName = 'ballast',
      clientVersion,
      timeoutSeconds = TIMEOUT_SECONDS,
      maxBytes = MAX_BYTES,
      signal: ended,
    } = this.options;
    const headers = {
      'Content-Type': 'application/json',
      // A cached answer would be mistaken for the current state of the build.
      'Cache-Control': 'no-cache',
      // The token in both headers of the protocol.
      'SERVICE-TEST-SUITE-TOKEN': token,
      'KNAPSACK-PRO-TEST-SUITE-TOKEN': token,
      'SERVICE-CLIENT-NAME': clientName,
      'SERVICE-CLIENT-VERSION': clientVersion,
      'X-Retry-Count': String(count),
    };
    let response: Response;
    let bytes: Buffer | null;
    try {
      // A redirect would lose the body and could send the token to another server.
      const late = AbortSignal.timeout((waitSeconds + timeoutSeconds) * 1000);
      const signal = ended ? AbortSignal.any([late, ended]) : late;
      response = await fetch(target, { method, redirect: 'manual', headers, body, signal });
      bytes = await readBody(response, maxBytes);
    } catch (error) {
      ended?.throwIfAborted();
      return new FailedAttempt(networkFailure(error), null, error);
    }
    const { status } = response;
    if (bytes === null)
      throw new RequestRejected(
        `${method} ${target} was answered with ${status} and more than ${maxBytes} bytes, more than Ballast ever sends: give the address of a Ballast server`,
        status,
      );
    // 408 and 429: the server did not process the request.
    if (status >= 500 || status === 408 || status === 429)
      return new FailedAttempt(`it answered ${status}: ${errorMessage(bytes)}`, parseRetryAfter(response.headers.get('Retry-After')));
    return { status, bytes, location: response.headers.get('Location'), date: response.headers.get('Date') };
  }
}

class FailedAttempt {
  constructor(
    readonly reason: string,
    readonly retryAfter: number | null,
    /** Of the network; missing: the server answered. */
    readonly cause?: unknown,
  ) {}
}

function parseReply<T>({ method, target }: Request, { status, bytes, location, date }: Reply, parse: AnswerParser<T>): T {
  const json = parseJson(bytes);
  const accepted = json && parse({ status, body: json.value, date });
  if (accepted !== null) return accepted;
  const request = `${method} ${target}`;
  if (status >= 400) {
    const reason = errorMessage(bytes);
    // A public token is known, and the server says what it may not do.
    const isUnknown = status === 403 && !reason.includes(NOT_OPEN);
    const remedy = isUnknown ? '; check the token: it may be revoked, or belong to another server' : '';
    throw new RequestRejected(`${request} was refused with ${status}: ${reason}${remedy}`, status);
  }
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

/** Returns null if the body has more than `max` bytes, and does not read the rest. */
async function readBody({ body }: Response, max: number): Promise<Buffer | null> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body ?? []) {
    size += chunk.length;
    if (size > max) return null;
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

/** Describes in one line why there was no answer. */
function networkFailure(error: unknown): string {
  const { message, cause } = error as Error;
  const { message: causeMessage = '', code = '' } = (cause ?? {}) as { message?: string; code?: string };
  const [line = ''] = (causeMessage || code || message).trim().split('\n');
  if (/certificate/i.test(line)) return `${line}: set NODE_EXTRA_CA_CERTS to a file of certificates to trust`;
  return code.startsWith('ERR_SSL') ? `the server does not speak TLS: ${code}` : line;
}

function parseRetryAfter(header: string | null): number | null {
  return header !== null && /^\d{1,6}$/.test(header) ? Number(header) : null;
}

/** Returns the error message of a Ballast server, or an excerpt of any other body. */
function errorMessage(bytes: Buffer): string {
  const { errors } = (parseJson(bytes)?.value ?? {}) as { errors?: unknown };
  if (!Array.isArray(errors) || errors.length === 0) return excerpt(bytes);
  const message = errors.map(error => (typeof error === 'string' ? error : parameterErrors(error))).join('; ');
  return message.length > MAX_MESSAGE_CHARACTERS ? `${message.slice(0, MAX_MESSAGE_CHARACTERS)}...` : message;
}

/** Formats the errors of each parameter, as in {"branch": ["parameter is required"]}. */
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
