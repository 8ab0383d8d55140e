import { statSync } from 'node:fs';
import { relative, resolve } from 'node:path';
import { type KnownFiles, plainPath } from './known-files.js';

/** Files of a folder, as paths from there on: what a report names is known when it is there. */
export class DiskFiles implements KnownFiles {
  readonly #asked = new Map<string, string | null>();

  constructor(readonly folder: string) {}

  find(reported: string): string | null {
    let found = this.#asked.get(reported);
    if (found === undefined) this.#asked.set(reported, (found = this.#look(plainPath(reported))));
    return found;
  }

  #look(path: string): string | null {
    const inside = plainPath(relative(this.folder, resolve(this.folder, path)));
    if (inside === '' || inside.startsWith('../') || inside.includes('\0')) return null;
    return statSync(resolve(this.folder, inside), { throwIfNoEntry: false })?.isFile() ? inside : null;
  }
}
