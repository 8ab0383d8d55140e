import { statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { type KnownFiles, normalizePath } from './known-files.js';

/** The files in a folder, by their relative paths. */
export class DiskFiles implements KnownFiles {
  readonly #cache = new Map<string, string | null>();

  constructor(readonly folder: string) {}

  find(reported: string): string | null {
    let path = this.#cache.get(reported);
    if (path === undefined) this.#cache.set(reported, (path = this.#lookUp(normalizePath(reported))));
    return path;
  }

  #lookUp(path: string): string | null {
    const relativePath = normalizePath(relative(this.folder, resolve(this.folder, path)));
    if (relativePath === '' || relativePath.startsWith('../') || relativePath.includes('\0')) return null;
    return statSync(resolve(this.folder, relativePath), { throwIfNoEntry: false })?.isFile() ? relativePath : null;
  }
}
