import type { Parts } from '../parts.js';

/** What leads to the records of other tables. Each part is read when it is first needed. */
export class References {
  #expiring: Set<string | number> | null = null;
  #splits: Set<string> | null = null;
  #keysOfQueues: Map<string, string> | null = null;
  #pathNumbers: Set<number> | null = null;
  #namedPaths: Set<number> | null = null;

  constructor(readonly parts: Parts) {}

  /** The builds, splits and queues with an entry in `expiry`. */
  get expiring(): Set<string | number> {
    if (this.#expiring) return this.#expiring;
    this.#expiring = new Set();
    for (const [, kind, ...key] of this.parts.expiry.getKeys()) {
      if (kind === 'split') this.#expiring.add(key[1]!);
      else if (kind === 'queue' || kind === 'build') this.#expiring.add(key[0]!);
    }
    return this.#expiring;
  }

  /** Whether a split or queue exists. */
  exists(id: string, kinds: 'split' | 'queue' | 'split or queue'): boolean {
    this.#splits ??= new Set(this.parts.splits.getRange().map(({ value }) => value.id));
    return (kinds !== 'queue' && this.#splits.has(id)) || (kinds !== 'split' && this.parts.queues.doesExist(id));
  }

  /** The first key that leads to each queue, by its id. */
  get keysOfQueues(): Map<string, string> {
    if (this.#keysOfQueues) return this.#keysOfQueues;
    this.#keysOfQueues = new Map();
    for (const { key, value: id } of this.parts.queuesOfNodeBuild.getRange()) {
      if (!this.#keysOfQueues.has(id)) this.#keysOfQueues.set(id, key);
    }
    return this.#keysOfQueues;
  }

  /** The numbers that paths lead to. */
  get pathNumbers(): Set<number> {
    return (this.#pathNumbers ??= new Set(this.parts.paths.getRange().map(({ value }) => value)));
  }

  /** The numbers that have a name. */
  get namedPaths(): Set<number> {
    return (this.#namedPaths ??= new Set(this.parts.pathNames.getKeys()));
  }
}
