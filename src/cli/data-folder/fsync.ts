import { closeSync, fsyncSync, openSync } from 'node:fs';

/** A file, or what a folder lists, survives a power cut from then on. */
export function fsyncPath(path: string): void {
  const handle = openSync(path, 'r');
  try {
    fsyncSync(handle);
  } finally {
    closeSync(handle);
  }
}
