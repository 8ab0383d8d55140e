import { closeSync, copyFileSync, openSync, writeSync } from 'node:fs';
import type { Flush, Moment, Write } from './trace.js';

/** What a disk writes whole, and LMDB's page; the first two have LMDB's notes of the last transactions. */
const PAGE_BYTES = 4096;
const META_PAGES = 2;

/** What may be lost: of so many writes to a page that were not flushed, how many are on disk all the same, the first ones. */
export const losses: Record<string, (page: number, writes: number, random: () => number) => number> = {
  'all that was not flushed': () => 0,
  nothing: (_, writes) => writes,
  'some of each page': (_, writes, random) => Math.floor(random() * (writes + 1)),
  'what is no meta page': (page, writes) => (page < META_PAGES ? writes : 0),
  'meta pages': (page, writes) => (page < META_PAGES ? 0 : writes),
};

/** One file on a disk whose power may be cut: a write is safe when a flush that began after its end has ended. */
export class Disk {
  readonly #safe: number;
  #pending: Write[] = [];
  readonly #ended = new Set<Write>();
  readonly #covered = new Map<Flush, Set<Write>>();

  /** @param path where to keep what is safe */
  constructor(readonly path: string) {
    this.#safe = openSync(path, 'w');
  }

  pass({ call, isEnd }: Moment): void {
    if (call.kind === 'write') {
      if (!isEnd) this.#pending.push(call);
      else if (call.isSynchronous) this.#save(new Set([call]));
      else this.#ended.add(call);
    } else if (!isEnd) {
      this.#covered.set(call, new Set(this.#ended));
    } else {
      this.#save(this.#covered.get(call)!);
      this.#covered.delete(call);
    }
  }

  /** Makes the file as the disk has it after a power cut now. */
  cut(path: string, kept: (page: number, writes: number) => number): void {
    copyFileSync(this.path, path);
    const pages = new Map<number, { at: number; bytes: Buffer }[]>();
    for (const { at, bytes } of this.#pending) {
      for (let from = 0; from < bytes.length; ) {
        const page = Math.floor((at + from) / PAGE_BYTES);
        const until = Math.min(bytes.length, (page + 1) * PAGE_BYTES - at);
        const part = { at: at + from, bytes: bytes.subarray(from, until) };
        pages.set(page, [...(pages.get(page) ?? []), part]);
        from = until;
      }
    }
    const file = openSync(path, 'r+');
    for (const [page, writes] of pages) {
      for (const { at, bytes } of writes.slice(0, kept(page, writes.length))) writeSync(file, bytes, 0, bytes.length, at);
    }
    closeSync(file);
  }

  close(): void {
    closeSync(this.#safe);
  }

  #save(writes: ReadonlySet<Write>): void {
    this.#pending = this.#pending.filter(write => {
      if (!writes.has(write)) return true;
      writeSync(this.#safe, write.bytes, 0, write.bytes.length, write.at);
      this.#ended.delete(write);
      return false;
    });
  }
}
