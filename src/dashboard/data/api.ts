/** Why a request brought nothing. `status` 0: the server did not answer. */
export class Problem extends Error {
  constructor(
    /** What was attempted, as in "load the builds". */
    readonly attempt: string,
    readonly status: number,
    /** The server's own words. */
    readonly reasons: string[],
  ) {
    super(`${attempt}: ${status} ${reasons.join('; ')}`);
  }
}

export interface Request {
  /** What it is for, as in "load the builds": an error begins with it. */
  attempt: string;
  /** The project's id: for paths below /v1. */
  project?: number | undefined;
  signal?: AbortSignal | undefined;
}

/** Gets JSON from the server. Rejects with a Problem, or with an AbortError. */
export function get<T>(path: string, request: Request): Promise<T> {
  return send<T>(path, { headers: projectHeader(request) }, request);
}

/** Sends JSON to the server, and returns what it answers: null for an empty answer. */
export function post<T>(path: string, message: object, request: Request): Promise<T> {
  const headers = { ...projectHeader(request), 'Content-Type': 'application/json', 'Ballast-Dashboard': '1' };
  return send<T>(path, { method: 'POST', headers, body: JSON.stringify(message) }, request);
}

function projectHeader({ project }: Request): Record<string, string> {
  return project === undefined ? {} : { 'Ballast-Project': String(project) };
}

async function send<T>(path: string, init: RequestInit, { attempt, signal }: Request): Promise<T> {
  let response: Response;
  let text: string;
  try {
    response = await fetch(path, { ...init, credentials: 'same-origin', signal: signal ?? null });
    text = await response.text();
  } catch (error) {
    if (signal?.aborted) throw error;
    throw new Problem(attempt, 0, []);
  }
  if (response.ok) return parsed(text) as T;
  throw new Problem(attempt, response.status, reasonsOf(parsed(text)));
}

function parsed(text: string): unknown {
  try {
    return text === '' ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/** The sentences of an error answer: `{errors: [...]}`, where validation errors are nested by parameter. */
function reasonsOf(answer: unknown): string[] {
  const sentences: string[] = [];
  const visit = (value: unknown, name: string) => {
    if (typeof value === 'string') sentences.push(name === '' ? value : `${name}: ${value}`);
    else if (Array.isArray(value)) for (const item of value) visit(item, name);
    else if (typeof value === 'object' && value !== null) for (const [key, item] of Object.entries(value)) visit(item, key);
  };
  visit((answer as { errors?: unknown } | null)?.errors, '');
  return sentences;
}
