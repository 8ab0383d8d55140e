import type { Millis } from '../../ports/store.js';
import type { DraftSpan } from './draft-span.js';
import type { FileColumns } from './file-columns.js';

/** A node is no longer at work when it is silent with its files for this long plus this multiple of their estimates. */
export const SILENT_MILLISECONDS = 900_000;
const SILENT_FACTOR = 3;

/** Whether a node that was not heard of since it got its files may still run them. */
export function mayBeAtWork(span: DraftSpan, columns: FileColumns, now: Millis): boolean {
  const isTaken = span.lease === 'expired' || span.lease === 'restarted';
  return !isTaken && now - span.from <= SILENT_MILLISECONDS + SILENT_FACTOR * estimateOf(span, columns);
}

/** How long the files of a span take by their estimates, in milliseconds. */
export function estimateOf({ files }: Pick<DraftSpan, 'files'>, columns: FileColumns): number {
  return Math.round(files.reduce((sum, file) => sum + columns.estimate(file), 0) * 1000);
}
