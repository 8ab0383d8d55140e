import { setTimeout as sleep } from 'node:timers/promises';
import { baseOf, tokenHeaders } from '../client/address.js';

/** A server that answered before and is restarted is back by then. */
const RETRY_SECONDS = 30;
const PAUSE_MILLISECONDS = 1000;
/** A large build takes a while to be recorded. */
const ANSWER_SECONDS = 60;

export interface Remote {
  /** Its address, with or without /v1. */
  url: string;
  token: string;
}

/** Those that answered once: they are waited for. */
const reached = new WeakSet<Remote>();

interface Reply {
  status: number;
  /** Null where there was none. */
  body: unknown;
}

/** What was answered is no success. */
export class Refused extends Error {
  constructor(
    message: string,
    readonly status: number,
  ) {
    super(message);
  }
}

/** GET. Throws a sentence unless it is answered with 200. */
export async function read(remote: Remote, path: string): Promise<unknown> {
  const { status, body } = await send(remote, 'GET', path);
  if (status !== 200) throw new Refused(refusal('GET', remote, path, { status, body }), status);
  return body;
}

/** POST; tried again while nobody answers, as the same request. Throws a sentence unless it is answered with 2xx. */
export async function post(remote: Remote, path: string, message: object): Promise<number> {
  const { status, body } = await send(remote, 'POST', path, JSON.stringify(message));
  if (status >= 300) throw new Refused(refusal('POST', remote, path, { status, body }), status);
  return status;
}

async function send(remote: Remote, method: string, path: string, message?: string): Promise<Reply> {
  const { url, token } = remote;
  const target = `${baseOf(url)}/v1${path}`;
  const until = performance.now() + RETRY_SECONDS * 1000;
  const headers = { ...tokenHeaders(token), 'Content-Type': 'application/json' };
  for (let attempt = 0; ; attempt++) {
    let pause = PAUSE_MILLISECONDS;
    try {
      const response = await fetch(target, {
        method,
        headers: { ...headers, 'X-Retry-Count': String(attempt) },
        signal: AbortSignal.timeout(ANSWER_SECONDS * 1000),
        ...(message === undefined ? {} : { body: message }),
      });
      const text = await response.text();
      reached.add(remote);
      const mayRecover = response.status >= 500 || response.status === 408 || response.status === 429;
      if (!mayRecover || performance.now() >= until) return { status: response.status, body: parse(text) };
      pause = Math.max(pause, Number(response.headers.get('retry-after') ?? 0) * 1000 || 0);
    } catch (error) {
      if (performance.now() >= until || !reached.has(remote)) throw new Error(`no answer from ${url} to ${method} ${path} (${causeOf(error)})`, { cause: error });
    }
    await sleep(Math.min(pause, Math.max(PAUSE_MILLISECONDS, until - performance.now())));
  }
}

function parse(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

function refusal(method: string, { url }: Remote, path: string, { status, body }: Reply): string {
  const errors = (body as { errors?: unknown } | null)?.errors ?? body;
  return `${url} answered ${method} ${path} with ${status}: ${(JSON.stringify(errors) ?? 'nothing').slice(0, 500)}`;
}

function causeOf(error: unknown): string {
  const { message, cause } = error as Error;
  return cause instanceof Error ? cause.message.trim() || String((cause as { code?: string }).code) : message;
}
