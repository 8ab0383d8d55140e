import { agree, pluralize } from '../../../base/plural.js';
import { abbreviate } from '../../../base/terminal.js';
import type { ReceivedCompleteness } from '../../../node/client/answers.js';
import type { ProvedPart } from '../../../protocol/answers/completeness.js';

/** The count of a known queue or split, as the end of the sentence that begins with the verdict, which it explains. */
export function countOf(answer: ReceivedCompleteness): string {
  const { is_complete, kind, test_files, recorded, proved, flaky = [], about } = answer;
  const { ran_not_recorded, handed_out_not_recorded, recorded_without_time } = answer;
  const were = (files: number) => agree(files, 'was', 'were');
  const count = `${recorded} of ${pluralize(test_files, 'test file')} of the ${kind} ${were(recorded)} recorded`;
  const untimed = about?.allow_empty ? 0 : recorded_without_time.length;
  if (is_complete) {
    // The lists of a complete build have only files that count as run.
    const empty = handed_out_not_recorded.length + untimed;
    const ran = test_files - recorded - empty;
    const leftOut = proved && leftOutText(proved);
    const retried = flaky.length > 0 && `${flaky.length} failed and passed when retried (${abbreviate(flaky.map(({ path }) => path))})`;
    const others = [ran > 0 && `${ran} ran and ${were(ran)} not recorded`, empty > 0 && `${empty} may be empty`];
    const muted = answer.muted_count && `green with ${pluralize(answer.muted_count, 'muted failure')}`;
    return `: ${[count, leftOut, retried, ...others, muted].filter(Boolean).join(', ')}`;
  }
  if (recorded === test_files) return `, although ${count}`;
  const others = [untimed > 0 && 'others with a time of 0 only', ran_not_recorded.length > 0 && 'others ran and were not recorded'];
  return `: ${[count, ...others].filter(Boolean).join(', ')}`;
}

/** Names every file whose failure the repository mutes; null: none. */
export function mutedOf({ muted = [], muted_count = 0 }: ReceivedCompleteness): string | null {
  if (muted_count === 0) return null;
  const more = muted_count - muted.length;
  return `${muted.map(({ path }) => path).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

/** The files that the queue left out, which other CI runs proved. */
function leftOutText({ test_files, ci_runs }: ProvedPart): string {
  const names = abbreviate(ci_runs.map(({ ci_run }) => ci_run));
  return `${test_files} ${agree(test_files, 'was', 'were')} proved by CI ${agree(ci_runs.length, 'run', 'runs')} ${names}`;
}

/** Which nodes came, if fewer came than the queue had room for: "12 of at most 16 nodes came: 0-11". Null: all came, or it is no queue. */
export function comersOf({ kind, about, nodes_came, nodes_never_came }: ReceivedCompleteness): string | null {
  const most = about?.node_total ?? null;
  if (kind !== 'queue' || most === null || nodes_never_came.length === 0) return null;
  return `${nodes_came.length} of at most ${pluralize(most, 'node')} came: ${rangesOf(nodes_came)}`;
}

/** Numbers in ascending order, with a range for each run of them: "0-3, 7". */
function rangesOf(numbers: readonly number[]): string {
  const ends = numbers.filter((number, i) => numbers[i + 1] !== number + 1);
  const starts = numbers.filter((number, i) => numbers[i - 1] !== number - 1);
  return starts.map((start, i) => (start === ends[i] ? start : `${start}-${ends[i]}`)).join(', ');
}
