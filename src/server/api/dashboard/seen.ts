import { LRUCache } from 'lru-cache';
import { escapeControls } from '../../../base/terminal.js';
import type { ApiError, ValidationErrors } from '../../http/api-error.js';
import type { Request } from '../../http/request.js';

/** Clients that the dashboard lists. */
export const SEEN_CLIENTS = 200;
/** Kinds of refused requests that the dashboard lists. */
export const REFUSED_KINDS = 200;
/** Characters of each text about a client or a refused request. */
const SEEN_TEXT_CHARACTERS = 300;

export interface SeenClient {
  name: string;
  version: string;
  requests: number;
  /** Milliseconds since 1970. */
  last_at: number;
}

/** Counts the requests of each client by the name and version that it sends. Of too many, the one that was not seen for longest is forgotten. */
export class SeenClients {
  readonly #clients = new LRUCache<string, SeenClient>({ max: SEEN_CLIENTS });
  /** The client of the last request. The next request mostly comes from the same client. */
  #last: { name: string; version: string; client: SeenClient } | null = null;

  count(name: string, version: string, at: number): void {
    if (name === '') return;
    if (this.#last?.name !== name || this.#last.version !== version) this.#last = { name, version, client: this.#clientOf(name, version) };
    const { client } = this.#last;
    client.requests += 1;
    client.last_at = at;
  }

  /** The last seen first. */
  list(): SeenClient[] {
    return [...this.#clients.values()].sort((a, b) => b.last_at - a.last_at);
  }

  #clientOf(name: string, version: string): SeenClient {
    const cut = (text: string) => escapeControls(text.slice(0, SEEN_TEXT_CHARACTERS));
    const key = JSON.stringify([cut(name), cut(version)]);
    const known = this.#clients.get(key);
    if (known) return known;
    const client: SeenClient = { name: cut(name), version: cut(version), requests: 0, last_at: 0 };
    this.#clients.set(key, client);
    return client;
  }
}

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
  readonly #kinds = new LRUCache<string, RefusedRequest>({ max: REFUSED_KINDS });

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
  return escapeControls(text.length > SEEN_TEXT_CHARACTERS ? `${text.slice(0, SEEN_TEXT_CHARACTERS)}…` : text);
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
