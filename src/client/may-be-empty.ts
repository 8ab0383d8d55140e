import picomatch from 'picomatch';
import { relativeToCwd } from './test-files.js';

/** Returns whether a test file matches one of the globs that --may-be-empty names. */
export function emptyTest(globs: readonly string[] = []): (path: string) => boolean {
  return globs.length === 0 ? () => false : picomatch(globs.map(relativeToCwd), { dot: true });
}
