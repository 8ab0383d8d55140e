import { LRUCache } from 'lru-cache';
import type { ApiError, ValidationErrors } from '../../http/api-error.js';
import type { Request } from '../../http/request.js';
import { limits } from '../../limits.js';
import { escapeControls } from '../../terminal.js';

export interface RefusedRequest {
  status: number;
  /** Method and path. */
  path: string;
  reason: string;
  count: number;
  /** Milliseconds since 1970. */
  last_at: number;
  /** Null: the request had no known token in its head. */
  project: number | null;
  /** Name and version; empty: the client sent none. */
  client: string;
}

/**
 * Counts what clients sent that could not be used: requests to the API that were answered with a 4xx, by reason. Of too many kinds, the one
 * that was not seen for longest is forgotten. Texts are cut and made harmless.
 */
export class RefusedRequests {
  readonly #kinds = new LRUCache<string, RefusedRequest>({ max: limits.refusedKinds });

  /** @param projectOf finds the project of a token */
  constructor(readonly projectOf: (token: string) => number | null) {}

  note({ method, path, token, project: page, clientName, clientVersion }: Request, { status, errors }: ApiError, at: number): void {
    // A page of the dashboard is no client.
    if (status < 400 || status >= 500 || page !== '' || !/^\/v[12](\/|$)/.test(path)) return;
    const kind = {
      status,
      path: `${method} ${harmless(path)}`,
      reason: harmless(sentenceOf(errors[0] ?? '')),
      project: token === null ? null : this.projectOf(token),
      client: harmless(`${clientName} ${clientVersion}`.trim()),
    };
    const key = JSON.stringify(Object.values(kind));
    const known = this.#kinds.get(key);
    this.#kinds.set(key, { ...kind, count: (known?.count ?? 0) + 1, last_at: at });
  }

  /** The last seen first. */
  list(): RefusedRequest[] {
    return [...this.#kinds.values()].sort((a, b) => b.last_at - a.last_at);
  }
}

function harmless(text: string): string {
  const { seenTextCharacters: most } = limits;
  return escapeControls(text.length > most ? `${text.slice(0, most)}…` : text);
}

/** The first message of an error, after the names of the parameter and field that it is about. */
function sentenceOf(error: string | ValidationErrors): string {
  if (typeof error === 'string') return error;
  const [entry] = Object.entries(error);
  if (!entry) return '';
  const [name, messages] = entry;
  const first = Array.isArray(messages) ? (messages[0] ?? '') : messages;
  const separator = typeof first === 'string' ? ': ' : '.';
  return `${name}${separator}${sentenceOf(first)}`;
}
