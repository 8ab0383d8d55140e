import { LRUCache } from 'lru-cache';
import { limits } from '../../limits.js';
import { escapeControls } from '../../terminal.js';

export interface SeenClient {
  name: string;
  version: string;
  requests: number;
  /** Milliseconds since 1970. */
  last_at: number;
}

/** Counts the requests of each client by the name and version that it sends. Of too many, the one that was not seen for longest is forgotten. */
export class SeenClients {
  readonly #clients = new LRUCache<string, SeenClient>({ max: limits.seenClients });
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
    const cut = (text: string) => escapeControls(text.slice(0, limits.seenTextCharacters));
    const key = JSON.stringify([cut(name), cut(version)]);
    const known = this.#clients.get(key);
    if (known) return known;
    const client: SeenClient = { name: cut(name), version: cut(version), requests: 0, last_at: 0 };
    this.#clients.set(key, client);
    return client;
  }
}
