import { statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { type KnownFiles, normalizePath } from './known-files.js';

/** Files of a folder, as paths from there on: what a report names is known when it is there. */
export class DiskFiles implements KnownFiles {
  readonly #cache = new Map<string, string | null>();

  constructor(readonly folder: string) {}

  find(reported: string): string | null {
    let found = this.#cache.get(reported);
    if (found === undefined) this.#cache.set(reported, (found = this.#lookUp(normalizePath(reported))));
    return found;
  }

  #lookUp(path: string): string | null {
    const inside = normalizePath(relative(this.folder, resolve(this.folder, path)));
    if (inside === '' || inside.startsWith('../') || inside.includes('\0')) return null;
    return statSync(resolve(this.folder, inside), { throwIfNoEntry: false })?.isFile() ? inside : null;
  }
}
