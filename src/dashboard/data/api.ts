import { AGE_HEADER } from '../../protocol/answers/build-head.js';

/** Why a request brought nothing. `status` 0: this server did not answer, or something else did in its place. */
export class Problem extends Error {
  constructor(
    /** The attempt, as in "load the builds". */
    readonly attempt: string,
    readonly status: number,
    /** The server's own words. */
    readonly reasons: string[],
  ) {
    super(`${attempt}: ${status} ${reasons.join('; ')}`);
  }

  /** The request may work later without a change. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }

  /** In words, without a full stop. */
  get reason(): string {
    if (this.reasons.length > 0) return this.reasons.join('; ');
    return this.status === 0 ? 'the server does not answer' : `the server answered ${this.status}`;
  }
}

export interface Request {
  /** The purpose, as in "load the builds": an error begins with it. */
  attempt: string;
  /** The project's id: for paths below /v1. */
  project?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** JSON from the server, or the news that what the page has still holds. */
export interface Answered<T> {
  /** Null: the answer with the tag still holds. */
  data: T | null;
  /** Null: the answer has none. */
  tag: string | null;
  /** Seconds since the server made the answer. */
  age: number;
  /** Its bytes on the line. */
  bytes: number;
}

/** Gets JSON from the server. Rejects with a Problem, or with an AbortError. @param known the tag of the answer that the page has; null: it has none */
export async function getUnless<T>(known: string | null, path: string, request: Request): Promise<Answered<T>> {
  const headers = { ...projectHeader(request), ...(known !== null && { 'If-None-Match': known }) };
  const { response, text } = await exchange(path, { headers }, request);
  const data = response.status === 304 ? null : (answerOf(request.attempt, response, text) as T);
  const header = (name: string) => response.headers.get(name);
  return { data, tag: header('etag'), age: Number(header(AGE_HEADER)), bytes: Number(header('content-length') ?? text.length) };
}

/** Gets JSON as `getUnless` does. */
export async function get<T>(path: string, request: Request): Promise<T> {
  return (await getUnless<T>(null, path, request)).data!;
}

/** Sends JSON to the server, and returns what it answers. Rejects with a Problem. */
export async function post<T>(path: string, message: object, request: Request): Promise<T> {
  const headers = { ...projectHeader(request), 'Content-Type': 'application/json', 'Ballast-Dashboard': '1' };
  const { response, text } = await exchange(path, { method: 'POST', headers, body: JSON.stringify(message) }, request);
  return answerOf(request.attempt, response, text) as T;
}

function projectHeader({ project }: Request): Record<string, string> {
  return project === undefined ? {} : { 'Ballast-Project': String(project) };
}

/** Gets HTML that is a part of the dashboard. Rejects like `get`. */
export async function getHtml(path: string, request: Request): Promise<string> {
  const { response, text } = await exchange(path, {}, request);
  // A guide is a part of a page. A whole page comes from somewhere else.
  if (!response.ok || /^\s*<(!doctype|html)\b/i.test(text)) throw foreignAnswer(request.attempt, response, text);
  return text;
}

async function exchange(path: string, init: RequestInit, { attempt, signal }: Request): Promise<{ response: Response; text: string }> {
  try {
    // This server redirects nobody. A redirect to another origin would look like a server that does not answer.
    const response = await fetch(path, { ...init, credentials: 'same-origin', redirect: 'manual', signal: signal ?? null });
    return { response, text: await response.text() };
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(attempt, 0, []);
  }
}

type Head = Pick<Response, 'ok' | 'status' | 'headers'>;

/** The data of an answer. Throws a Problem when the server refuses the request, and when the answer is not one of this server. */
export function answerOf(attempt: string, head: Head, text: string): object {
  const answer = isJson(head) ? parsed(text) : null;
  if (answer === null) throw foreignAnswer(attempt, head, text);
  if (!head.ok) throw new Problem(attempt, head.status, reasonsOf(answer));
  return answer;
}

const isJson = ({ headers }: Head) => /^application\/json\b/i.test(headers.get('content-type') ?? '');

function parsed(text: string): object | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' ? value : null;
  } catch {
    return null;
  }
}

/** Why an answer that is not one of this server, or not a whole one, is of no use. A 401 of a proxy loses its status: it ends no session of ours. */
function foreignAnswer(attempt: string, head: Head, text: string): Problem {
  const { status } = head;
  if (status >= 500) return new Problem(attempt, status, []);
  if (isJson(head) && text !== '') return new Problem(attempt, 0, ["the server's answer broke off"]);
  const what = status === 0 || (status >= 300 && status < 400) ? 'a redirect' : text === '' ? 'nothing' : 'a web page';
  const code = status >= 400 ? ` (${status})` : '';
  return new Problem(attempt, 0, [
    `the server's address answered with ${what}${code} instead of data: a proxy may have ended your session. Reload the page`,
  ]);
}

/** The sentences of an error answer: `{errors: [...]}`, where validation errors are nested by parameter. */
function reasonsOf(answer: object): string[] {
  const sentences: string[] = [];
  const visit = (value: unknown, name: string) => {
    if (typeof value === 'string') sentences.push(name === '' ? value : `${name}: ${value}`);
    else if (Array.isArray(value)) for (const item of value) visit(item, name);
    else if (typeof value === 'object' && value !== null) for (const [key, item] of Object.entries(value)) visit(item, key);
  };
  visit((answer as { errors?: unknown }).errors, '');
  return sentences;
}
