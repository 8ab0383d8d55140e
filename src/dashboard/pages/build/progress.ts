import { agree } from '../../../base/plural.js';
import type { ProvedPart } from '../../../protocol/answers/completeness.js';
import type { MinutesAnswer } from '../../../protocol/answers/minutes.js';
import { missesFiles } from '../../../protocol/build-state.js';
import { count, number } from '../../text/format.js';

/** Says how far a build is that runs, or that all of its files ran; empty: nobody knows, or the verdict tells what is missing. */
export function progressText({ is_running, kind, state, files, proved, nodes, done_count, failed_count }: MinutesAnswer): string {
  if (kind === 'recordings' || missesFiles(state)) return '';
  if (!is_running) {
    const ran = files === 0 ? 'No file ran' : `${files === 1 ? 'Its 1 file' : `All ${count(files, 'file')}`} ran`;
    return proved ? `${ran}: ${leftOutText(proved, files)}.` : `${ran}.`;
  }
  // Of most clients nobody knows what a node has ended of its batches until it records. A file may have been handed out twice.
  const taken = nodes.reduce((sum, node) => sum + node.files, 0);
  const reported = done_count === 0 ? 'none' : number(done_count);
  return `${number(Math.min(files, taken))} of ${count(files, 'file')} ${agree(files, 'is', 'are')} handed out, ${reported} reported${failed_count === 0 ? ', none failed' : ''}.`;
}

/** The files that other CI runs of the tree had proved. */
function leftOutText({ test_files, ci_runs }: ProvedPart, files: number): string {
  const which = files === 0 ? `all ${count(test_files, 'file')}` : `${number(test_files)} ${agree(test_files, 'other', 'others')}`;
  return `${which} passed before in ${ci_runs.length === 1 ? `CI run ${ci_runs[0]!.ci_run}` : count(ci_runs.length, 'CI run')}`;
}
