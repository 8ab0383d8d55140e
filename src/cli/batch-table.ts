import type { PlannedFile } from '../client/batch-results.js';
import { durationText } from '../duration.js';
import { pluralize } from '../terminal.js';

/** A batch that the node ran. */
export interface RanBatch {
  /** That of its first command, as in BALLAST_BATCH. */
  number: number;
  files: readonly PlannedFile[];
  seconds: number;
  /** How many files failed. */
  failed: number;
}

/** Says what a batch is before its command starts. */
export function batchLine(number: number, files: readonly PlannedFile[]): string {
  const { expected, unmeasured } = forecast(files);
  const never = unmeasured === 0 ? '' : `, ${unmeasured === files.length ? '' : `${unmeasured} `}never measured`;
  return `batch ${number}: ${pluralize(files.length, 'test file')}${expected === '-' ? '' : `, ${expected} expected`}${never}`;
}

/** The batches of a node as lines of a table, with their sums. */
export function batchTable(batches: readonly RanBatch[]): string[] {
  const row = (name: string, { files, seconds, failed }: Omit<RanBatch, 'number'>) => {
    const { expected, unmeasured } = forecast(files);
    return [name, String(files.length), String(unmeasured), expected, durationText(seconds), String(failed)];
  };
  const all = {
    files: batches.flatMap(({ files }) => files),
    seconds: batches.reduce((sum, { seconds }) => sum + seconds, 0),
    failed: batches.reduce((sum, { failed }) => sum + failed, 0),
  };
  const head = ['batch', 'files', 'new', 'expected', 'took', 'failed'];
  const rows = [head, ...batches.map(batch => row(String(batch.number), batch)), ...(batches.length > 1 ? [row('all', all)] : [])];
  const widths = head.map((_, column) => Math.max(...rows.map(cells => cells[column]!.length)));
  return rows.map(cells => cells.map((cell, column) => cell.padStart(widths[column]!)).join('  '));
}

/** @returns `expected`: the time of the files that were measured before; `-`: none was */
function forecast(files: readonly PlannedFile[]): { expected: string; unmeasured: number } {
  const measured = files.flatMap(({ expected }) => (expected === null ? [] : [expected]));
  const seconds = measured.reduce((sum, time) => sum + time, 0);
  return { expected: measured.length > 0 ? durationText(seconds) : '-', unmeasured: files.length - measured.length };
}
