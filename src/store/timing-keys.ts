import { fileOf } from '../plan/test-case.js';
import { digest } from './digest.js';

/**
 * Keys of timings: scope, file, and for a test case inside the file its whole path, each as a digest. So the cases of
 * a file follow the file itself.
 */

/** What timings are kept for: a branch of a project, or with null all its branches. */
export function scopeOf(project: number, branch: string | null): string {
  return digest(project, branch);
}

/** Turns paths into the part of their keys that follows the scope. */
export class PathKeys {
  /** Files have many cases. */
  readonly #files = new Map<string, string>();

  of(path: string): string {
    const file = fileOf(path);
    return file === null ? this.ofFile(path) : this.ofFile(file) + digest(path);
  }

  ofFile(file: string): string {
    let key = this.#files.get(file);
    if (key === undefined) this.#files.set(file, (key = digest(file)));
    return key;
  }
}
