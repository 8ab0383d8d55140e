import { closeSync, copyFileSync, openSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { STORE_FILE } from '../../../src/server/store/lmdb/tables.js';
import type { Flush, TraceEvent, Write } from './trace.js';

/** The unit that a disk writes atomically, and the page size of LMDB. */
const PAGE_BYTES = 4096;
/** Probability that a page of the journal is written in part. */
const TORN = 0.3;
/** The first pages of the file: LMDB's record of the last transactions. */
const META_PAGES = 2;

/** Kinds of loss. The disk keeps the first of the unflushed writes to a page. Each kind returns how many. The pages are those of LMDB. */
export const losses: Record<string, (page: number, writes: number, random: () => number) => number> = {
  'all unflushed writes': () => 0,
  nothing: (_, writes) => writes,
  'some unflushed writes of each page': (_, writes, random) => Math.floor(random() * (writes + 1)),
  'unflushed writes to data pages': (page, writes) => (page < META_PAGES ? writes : 0),
  'unflushed writes to meta pages': (page, writes) => (page < META_PAGES ? 0 : writes),
};

/** The files on a disk that may lose power. */
export class Disk {
  readonly #files = new Map<string, FileOnDisk>();

  /** @param folder for the safe writes */
  constructor(readonly folder: string) {}

  apply(event: TraceEvent): void {
    const { file } = event.call;
    let onDisk = this.#files.get(file);
    if (!onDisk) this.#files.set(file, (onDisk = new FileOnDisk(join(this.folder, file), file !== STORE_FILE)));
    onDisk.apply(event);
  }

  /** Writes the image of each file after a power cut at this moment to a folder. */
  writeImages(folder: string, kept: Kept, random: () => number): void {
    for (const [name, file] of this.#files) file.writeImage(join(folder, name), kept, random);
  }

  close(): void {
    for (const file of this.#files.values()) file.close();
  }
}

/** Returns how many of the unflushed writes to a page the disk keeps. */
type Kept = (page: number, writes: number) => number;

/** A write is safe once a flush that began after the end of the write has ended. */
class FileOnDisk {
  readonly #safe: number;
  #pending: Write[] = [];
  readonly #ended = new Set<Write>();
  readonly #coveredWrites = new Map<Flush, Set<Write>>();

  /**
   * @param path file for the safe writes
   * @param mayTear a page may be written in part. LMDB relies on a disk that writes its meta page at once
   */
  constructor(
    readonly path: string,
    readonly mayTear: boolean,
  ) {
    this.#safe = openSync(path, 'w');
  }

  apply({ call, isEnd }: TraceEvent): void {
    if (call.kind === 'write') {
      if (!isEnd) this.#pending.push(call);
      else if (call.isSynchronous) this.#save(new Set([call]));
      else this.#ended.add(call);
    } else if (!isEnd) {
      this.#coveredWrites.set(call, new Set(this.#ended));
    } else {
      this.#save(this.#coveredWrites.get(call)!);
      this.#coveredWrites.delete(call);
    }
  }

  writeImage(path: string, kept: Kept, random: () => number): void {
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
      for (const { at, bytes } of writes.slice(0, kept(page, writes.length))) {
        const torn = this.mayTear && random() < TORN ? Math.floor(random() * bytes.length) : bytes.length;
        writeSync(file, bytes, 0, torn, at);
      }
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
