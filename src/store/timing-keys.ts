import { fileOf } from '../plan/times/test-case.js';
import { digest } from './digest.js';

/**
 * Turns the paths of a project into keys of timings: project, file, and for a test case inside the file its whole
 * path, the latter two as digests. So the cases of a file follow the file itself.
 */
export class TimingKeys {
  /** Files have many cases. */
  readonly #files = new Map<string, string>();

  constructor(readonly project: number) {}

  of(path: string): string {
    const file = fileOf(path);
    return file === null ? this.ofFile(path) : this.ofFile(file) + digest(path);
  }

  ofFile(file: string): string {
    let key = this.#files.get(file);
    if (key === undefined) this.#files.set(file, (key = `${this.project}/${digest(file)}`));
    return key;
  }

  /** All cases of a file. */
  casesOf(file: string): { start: string; end: string } {
    const key = this.ofFile(file);
    // Before and after whatever a digest begins with.
    return { start: `${key}-`, end: `${key}~` };
  }
}
