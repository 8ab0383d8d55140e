import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeTemporaryFolder, removeTemporaryFolder } from './temporary-folder.js';

/** The file that `{file}` names: the paths of the current batch, one a line. Only this user may read it. */
export class BatchList {
  #folder: string | null = null;
  /** A second signal may end the process before anybody removes the file. */
  readonly #removeAtExit = () => this.remove();

  /** Writes the paths of a batch in place of those of the last one, and returns the absolute path of the file. Throws the error of the system. */
  write(paths: readonly string[]): string {
    // Tests may have removed the last folder.
    this.remove();
    this.#folder = makeTemporaryFolder();
    process.once('exit', this.#removeAtExit);
    const file = join(this.#folder, 'batch.txt');
    writeFileSync(file, paths.map(path => `${path}\n`).join(''), { mode: 0o600 });
    return file;
  }

  remove(): void {
    process.off('exit', this.#removeAtExit);
    if (this.#folder !== null) removeTemporaryFolder(this.#folder);
    this.#folder = null;
  }
}
