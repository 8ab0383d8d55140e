import { buildDigest, type QueueKey, type SplitKey, shortDigest } from './keys.js';
import type { NodeLinks, NotedLinks } from './ports/ci-runs.js';
import type { Store } from './ports/store.js';

/** Addresses of nodes that wait to be noted. Those beyond it are dropped. */
const PENDING_LINKS = 10_000;

interface Note {
  key: QueueKey | SplitKey;
  node_index: number;
  links: NodeLinks;
}

/**
 * Notes the addresses that nodes sent, beside their requests: no request waits for that, and what cannot be noted is dropped. One write at a
 * time has all that came during the one before.
 */
export class LinkNotes {
  /** By build, CI run and node. */
  #pending = new Map<string, Note>();
  #writing: Promise<void> | null = null;

  /** @param failed called when a write failed */
  constructor(
    readonly store: Pick<Store, 'ciRuns'>,
    readonly failed: (error: unknown) => void,
  ) {}

  /** Notes what a node sent. Its CI run has begun. */
  note(key: QueueKey | SplitKey, node_index: number, links: NodeLinks): void {
    if (this.#pending.size >= PENDING_LINKS) return;
    this.#pending.set(`${ciRunKey(key)} ${node_index}`, { key, node_index, links });
    this.#writing ??= this.#writeAll();
  }

  /** Resolves when all that came is written or dropped. */
  async settled(): Promise<void> {
    await this.#writing;
  }

  async #writeAll(): Promise<void> {
    // Requests that came together are noted together.
    await new Promise(resolve => setImmediate(resolve));
    while (this.#pending.size > 0) {
      const notes = this.#pending;
      this.#pending = new Map();
      try {
        await this.#write([...notes.values()]);
      } catch (error) {
        this.failed(error);
      }
    }
    this.#writing = null;
  }

  async #write(notes: readonly Note[]): Promise<void> {
    const ids = new Map<string, string | null>();
    const noted: NotedLinks[] = [];
    for (const { key, node_index, links } of notes) {
      const name = ciRunKey(key);
      if (!ids.has(name)) ids.set(name, await this.#idOf(key));
      const id = ids.get(name);
      if (id) noted.push({ id, node_index, ...links });
    }
    if (noted.length > 0) await this.store.ciRuns.noteLinks(noted);
  }

  /** The id of a CI run; null: it expired. */
  async #idOf({ project, build, ci_run }: QueueKey | SplitKey): Promise<string | null> {
    const digest = shortDigest(ci_run);
    return (await this.store.ciRuns.ofBuild(project, build)).find(run => run.digest === digest)?.id ?? null;
  }
}

/** Bytes that addresses take on the disk, approximately. */
export function bytesOfLinks({ job_url, commit_url, diff_url }: NodeLinks): number {
  return [job_url, commit_url, diff_url].reduce((sum, link) => sum + (link?.length ?? 0), 0);
}

function ciRunKey({ project, build, ci_run }: QueueKey | SplitKey): string {
  return `${buildDigest(project, build)} ${shortDigest(ci_run)}`;
}
