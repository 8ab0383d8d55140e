import { durationText } from '../../../base/duration.js';
import { abbreviate } from '../../../base/terminal.js';
import { estimateOf, estimateText, type PlannedFile } from '../../../node/client/planned-file.js';
import { filesText } from '../../../protocol/piece-path.js';
import { tableLines } from './table.js';

/** A batch that the node ran. */
export interface RanBatch {
  /** The number of its first command, as in BALLAST_BATCH. */
  number: number;
  files: readonly PlannedFile[];
  seconds: number;
  /** Number of files that failed. */
  failed: number;
}

/** Says what a batch is before its command starts. */
export function batchLine(number: number, files: readonly PlannedFile[]): string {
  const pieces = files.flatMap(({ path, piece }) => (piece ? path : []));
  const named = pieces.length > 0 ? ` (${abbreviate(pieces)})` : '';
  return `batch ${number}: ${filesText(files.map(({ path }) => path))}${named}${estimateText(files)}`;
}

/** The batches of a node as lines of a table, with their sums. */
export function batchTable(batches: readonly RanBatch[]): string[] {
  const row = (name: string, { files, seconds, failed }: Omit<RanBatch, 'number'>) => {
    const { seconds: expected, unmeasured } = estimateOf(files);
    const estimate = expected === null ? '-' : durationText(expected);
    return [name, String(files.length), String(unmeasured), estimate, durationText(seconds), String(failed)];
  };
  const all = {
    files: batches.flatMap(({ files }) => files),
    seconds: batches.reduce((sum, { seconds }) => sum + seconds, 0),
    failed: batches.reduce((sum, { failed }) => sum + failed, 0),
  };
  const head = ['batch', 'files', 'new', 'estimate', 'took', 'failed'];
  const rows = [head, ...batches.map(batch => row(String(batch.number), batch)), ...(batches.length > 1 ? [row('all', all)] : [])];
  return tableLines(rows, () => 'end');
}
