import type { ComparedFile } from '../../../protocol/answers/comparison.js';
import type { Measured, MeasuredBuild } from './measured.js';

/** The files whose times differ, those with the largest difference first. */
export function comparedFiles(now: MeasuredBuild, before: Measured): ComparedFile[] {
  const paths = new Set([...now.files.keys(), ...before.files.keys()]);
  const size = (file: ComparedFile) => Math.abs(differenceOf(file));
  return Array.from(paths, (path): ComparedFile => {
    const seconds = now.files.get(path) ?? null;
    return { path, seconds, before: before.files.get(path) ?? null, node_index: now.nodeOf.get(path) ?? null };
  })
    .filter(file => size(file) > 0)
    .sort((a, b) => size(b) - size(a) || (a.path < b.path ? -1 : 1));
}

/** Additional seconds that a file took. A file that did not run took no time. */
export function differenceOf({ seconds, before }: ComparedFile): number {
  return (seconds ?? 0) - (before ?? 0);
}
