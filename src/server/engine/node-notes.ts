import { buildDigest, type QueueKey, type SplitKey, shortDigest } from './keys.js';
import type { Checkout, NodeNote, ToldByNode } from './ports/ci-runs.js';
import type { Store } from './ports/store.js';

/** Nodes whose notes wait to be written. Those beyond it are dropped. */
const PENDING_NODES = 10_000;

interface Note {
  key: QueueKey | SplitKey;
  /** The id of the queue or split: a CI run may have both. */
  plan: string;
  node_index: number;
  told: ToldByNode;
}

/**
 * Notes what nodes tell of themselves, beside their requests: no request waits for that, and what cannot be noted is dropped. One write at a
 * time has all that came during the one before.
 */
export class NodeNotes {
  /** By build, CI run and node. */
  #pending = new Map<string, Note>();
  #writing: Promise<void> | null = null;

  /** @param failed called when a write failed */
  constructor(
    readonly store: Pick<Store, 'ciRuns'>,
    readonly failed: (error: unknown) => void,
  ) {}

  /** Notes what a node told. Its CI run has begun. @param plan the id of its queue or split */
  note(key: QueueKey | SplitKey, plan: string, node_index: number, told: ToldByNode): void {
    if (this.#pending.size >= PENDING_NODES) return;
    const name = `${ciRunKey(key, plan)} ${node_index}`;
    const before = this.#pending.get(name);
    const checkout = before ? joinCheckouts(before.told.checkout, told.checkout) : told.checkout;
    const command = before ? joinCommands(before.told.command, told.command) : told.command;
    this.#pending.set(name, { key, plan, node_index, told: { ...told, checkout, command } });
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
    const noted: NodeNote[] = [];
    for (const { key, plan, node_index, told } of notes) {
      const name = ciRunKey(key, plan);
      if (!ids.has(name)) ids.set(name, await this.#idOf(key, plan));
      const id = ids.get(name);
      if (id) noted.push({ id, node_index, ...told });
    }
    if (noted.length > 0) await this.store.ciRuns.noteNodes(noted);
  }

  /** The id of a CI run; null: it expired. */
  async #idOf({ project, build, ci_run }: QueueKey | SplitKey, plan: string): Promise<string | null> {
    const digest = shortDigest(ci_run);
    return (await this.store.ciRuns.ofBuild(project, build)).find(run => run.plan === plan && run.digest === digest)?.id ?? null;
  }
}

/** A node that did not always run on the same files: nothing is known of what ran before. */
export const CHANGING_CHECKOUT: Checkout = {
  tree: null,
  doubt: 'its processes told different trees, keys or changes',
  keys: [],
};

/** What is known of the files of a node whose processes told these. Null: a process told nothing. */
export function joinCheckouts(before: Checkout | null, after: Checkout | null): Checkout | null {
  if (before && after && JSON.stringify(before) === JSON.stringify(after)) return before;
  return before || after ? CHANGING_CHECKOUT : null;
}

/** The command of a node whose processes told these. Null: one of them told none. */
export function joinCommands(before: string | null, after: string | null): string | null {
  return before === after ? before : null;
}

/** Bytes that a note takes on the disk, approximately. */
export function bytesOfNote({ links, checkout, command }: ToldByNode): number {
  return (links ? JSON.stringify(links).length : 0) + (checkout ? JSON.stringify(checkout).length : 0) + (command?.length ?? 0);
}

function ciRunKey({ project, build, ci_run }: QueueKey | SplitKey, plan: string): string {
  return `${buildDigest(project, build)} ${shortDigest(ci_run)} ${plan}`;
}
