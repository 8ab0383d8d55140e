import { statfsSync } from 'node:fs';
import { apiErrors } from '../../../api-error.js';
import { limits } from '../../../limits.js';

/**
 * Keeps the disk from running full under lmdb: version 3.5.6 writes the message of a failed write beyond its buffer, and the
 * process may end by that. So writes are refused while little is left, which is also what the next start needs.
 */
export class DiskSpaceGuard {
  #lookedAt = -Infinity;
  #lack: Error | null = null;

  constructor(readonly folder: string) {}

  /** Throws a 503 when there is too little room to write. */
  assert(): void {
    const now = performance.now();
    if (now - this.#lookedAt >= limits.diskCheckMilliseconds) {
      this.#lookedAt = now;
      this.#lack = this.#look();
    }
    if (this.#lack) throw apiErrors.storeFailed(this.#lack);
  }

  /** For whoever may write without being root. */
  freeBytes(): number {
    const { bavail, bsize } = statfsSync(this.folder);
    return bavail * bsize;
  }

  #look(): Error | null {
    const free = this.freeBytes();
    if (free >= limits.diskReserveBytes) return null;
    return new Error(`the disk of ${this.folder} has ${free} bytes left, and ${limits.diskReserveBytes} are kept in reserve`);
  }
}
