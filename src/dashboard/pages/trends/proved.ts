import type { BuildTrend } from '../../../protocol/answers/trends.js';
import { count, nodeTime } from '../../text/format.js';

/** Says what proofs saved in some days: "Proofs saved 19 node-hours of tests in 31 CI runs of the last 30 days." Empty: nothing. */
export function provedSentences(
  { proved_runs, proved_seconds }: Pick<BuildTrend, 'proved_runs' | 'proved_seconds'>,
  days: number,
): string[] {
  if (proved_runs === 0) return [];
  return [`Proofs saved ${nodeTime(proved_seconds)} of tests in ${count(proved_runs, 'CI run')} of the last ${count(days, 'day')}.`];
}
