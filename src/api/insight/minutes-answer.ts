import { assumptionsOf } from '../../engine/insight/minutes/assumptions.js';
import { fileOutcomes } from '../../engine/insight/minutes/file-outcomes.js';
import { minutesOf, PART_DEFINITIONS } from '../../engine/insight/minutes/minutes.js';
import { verdictOf } from '../../engine/insight/minutes/verdict.js';
import type { Subject } from '../../engine/insight/subject.js';
import type { Timeline } from '../../engine/insight/timeline/timeline.js';
import { limits } from '../../limits.js';
import { timestamp } from '../../time.js';
import type { MinutesAnswer } from '../messages/insight/minutes.js';
import { secondsOf } from '../units.js';
import { buildHead, orNull } from './build-head.js';

/** Where the wall time of a CI run went, in the form that the API returns. */
export function minutesAnswer(subject: Subject, timeline: Timeline): MinutesAnswer {
  const minutes = minutesOf(timeline);
  const { slowest, failed, missing } = fileOutcomes(timeline, limits.slowFiles);
  const { start, files } = timeline;
  const since = (time: number | null) => (time === null ? null : (time - start) / 1000);
  return {
    ...buildHead(subject, timeline),
    wall: minutes.wall / 1000,
    floor: minutes.floor / 1000,
    lost: (minutes.wall - minutes.floor) / 1000,
    parts: minutes.parts.map(({ name, milliseconds, nodes }) => ({
      name,
      seconds: milliseconds / 1000,
      definition: PART_DEFINITIONS[name],
      nodes: nodes.map(({ node_index, milliseconds: each }) => ({ node_index, seconds: each / 1000 })),
    })),
    verdict: verdictOf(timeline, minutes),
    assumptions: assumptionsOf(timeline, minutes),
    nodes: timeline.nodes.map(({ node_index, start: began, end, recordedAt, spans }, i) => {
      const { work, repeats, gaps, idle, slowness } = minutes.nodes[i]!;
      return {
        node_index,
        start: since(began),
        end: since(end),
        recorded: recordedAt !== null,
        batches: spans.filter(({ seq }) => seq !== null).length,
        files: new Set(spans.flatMap(span => [...span.files])).size,
        busy: secondsOf(work + repeats),
        gaps: secondsOf(gaps),
        idle: secondsOf(idle),
        repeats: secondsOf(repeats),
        slowness: slowness === null ? null : Number(slowness.toFixed(3)),
      };
    }),
    slowest: slowest.map(({ file, seconds, node_index }) => ({
      path: files.paths[file]!,
      seconds,
      estimate: orNull(files.estimates[file]!),
      is_guess: files.isGuess[file] === 1,
      node_index,
    })),
    failed: (failed ?? []).slice(0, limits.completenessEntries),
    missing: missing.slice(0, limits.completenessEntries),
    missing_count: missing.length,
    files: files.paths.length,
    other_ci_runs: subject.ciRuns
      .filter(({ id }) => id !== subject.ciRun?.id)
      .map(({ id, ci_run, kind, created_at }) => ({ ci_run_id: id, ci_run, kind, created_at: timestamp(created_at) })),
  };
}
