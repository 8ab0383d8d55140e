import { durationText } from '../../../base/duration.js';
import { agree, pluralize } from '../../../base/plural.js';
import { abbreviate } from '../../../base/terminal.js';
import type { ProvedPart } from '../../../protocol/answers/completeness.js';
import type { QueueForecast } from '../../../protocol/messages/queue.js';

/** Says what the queue of a CI run holds and when it should end, as its first batch tells. @param now milliseconds since 1970 */
export function startLine({ test_files, unknown_files, share, ends_in, earliest_in, latest_in }: QueueForecast, now: number): string {
  const known = test_files - unknown_files;
  const files = `${pluralize(test_files, 'test file')}, ${known === test_files ? 'all' : known === 0 ? 'none' : known} measured before`;
  if (ends_in === null) return `${files}: when the build ends is not known`;
  const margin = Math.max(ends_in - earliest_in!, latest_in! - ends_in);
  const end = `all nodes should end at ${clockTime(now + 1000 * ends_in)}, give or take ${durationText(margin)}`;
  return `${files}; this node should work for ${durationText(share!)}; ${end}`;
}

/** Says which files the queue leaves out. */
export function leftOutLine({ test_files, ci_runs }: ProvedPart): string {
  const names = abbreviate(ci_runs.map(({ ci_run }) => ci_run));
  const passed = `${pluralize(test_files, 'test file')} passed in this tree before, and ${agree(test_files, 'is', 'are')} left out`;
  return `${passed} (CI ${agree(ci_runs.length, 'run', 'runs')} ${names})`;
}

/** Says when the node ended, and how that compares with what was expected at its start; null: nothing was expected. */
export function endLine({ ends_in }: QueueForecast, startedAt: number, seconds: number): string | null {
  if (ends_in === null) return null;
  const ended = `this node ended at ${clockTime(startedAt + 1000 * seconds)}, after ${durationText(seconds)}`;
  const late = seconds - ends_in;
  if (Math.abs(late) < 1) return `${ended}, at the expected end of all nodes`;
  return `${ended}, ${durationText(Math.abs(late))} ${late < 0 ? 'before' : 'after'} the expected end of all nodes`;
}

/** Says what pieces of long files save; null: nothing, or it is not known. */
export function cuttingLine({ cutting }: QueueForecast): string | null {
  if (!cutting) return null;
  const { files, saves, is_done } = cutting;
  const cut = `${pluralize(files, 'long test file')} in pieces`;
  return is_done
    ? `the queue had ${cut}, so the build should end ${durationText(saves)} sooner`
    : `running ${cut} would save ${durationText(saves)}: add --pieces`;
}

/** The local time of day, to the second. */
function clockTime(millis: number): string {
  return new Date(millis).toTimeString().slice(0, 8);
}
