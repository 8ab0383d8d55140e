import { limits } from '../../../limits.js';
import { timestamp } from '../../../time.js';
import { wholeMilliseconds } from '../rounding.js';
import { buildHead, type Subject } from '../subject.js';
import type { Timeline } from '../timeline/timeline.js';
import { assumptionsOf } from './assumptions.js';
import { fileOutcomes } from './file-outcomes.js';
import { minutesOf } from './minutes.js';
import type { MinutesAnswer } from './minutes-answer.js';
import { verdictOf } from './verdict.js';

/** Where the wall time of a CI run went, with the nodes, files and sentences that explain it. */
export function explainMinutes(subject: Subject, timeline: Timeline): MinutesAnswer {
  const minutes = minutesOf(timeline);
  const { wall, floor, parts } = minutes;
  const { slowest, failed, missing } = fileOutcomes(timeline, limits.slowFiles);
  return {
    ...buildHead(subject, timeline),
    ...{ wall, floor, lost: wholeMilliseconds(wall - floor), parts },
    verdict: verdictOf(timeline, minutes),
    assumptions: assumptionsOf(timeline, minutes),
    nodes: timeline.nodes.map(({ node_index, start, end, recordedAt, spans }, i) => {
      const { work, repeats, gaps, idle, slowness } = minutes.nodes[i]!;
      return {
        ...{ node_index, start, end, recorded: recordedAt !== null },
        batches: spans.filter(({ batch }) => batch !== null).length,
        files: new Set(spans.flatMap(span => span.files)).size,
        busy: wholeMilliseconds(work + repeats),
        gaps: wholeMilliseconds(gaps),
        idle: wholeMilliseconds(idle),
        repeats: wholeMilliseconds(repeats),
        slowness: slowness === null ? null : Number(slowness.toFixed(3)),
      };
    }),
    slowest,
    failed: (failed ?? []).slice(0, limits.completenessEntries),
    missing: missing.slice(0, limits.completenessEntries),
    missing_count: missing.length,
    files: timeline.paths.length,
    other_ci_runs: subject.ciRuns
      .filter(({ id }) => id !== subject.ciRun?.id)
      .map(({ id, ci_run, kind, created_at }) => ({ ci_run_id: id, ci_run, kind, created_at: timestamp(created_at) })),
  };
}
