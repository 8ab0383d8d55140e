import { statfsSync } from 'node:fs';
import { refusals } from '../../../engine/refusal.js';
import { limits } from '../../../limits.js';

/**
 * Refuses writes when little space is left on the disk. lmdb 3.5.6 writes the message of a failed write past the end of its buffer,
 * which may crash the process, and the next start needs some space too.
 */
export class DiskSpaceGuard {
  #lookedAt = -Infinity;
  #lack: Error | null = null;

  constructor(readonly folder: string) {}

  /** Throws a 503 when the disk has too little space left. */
  assert(): void {
    const now = performance.now();
    if (now - this.#lookedAt >= limits.diskCheckMilliseconds) {
      this.#lookedAt = now;
      this.#lack = this.#look();
    }
    if (this.#lack) throw refusals.storeFailed(this.#lack);
  }

  /** The space that a process can use without being root. */
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
