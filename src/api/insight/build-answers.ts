import { assumptionsOf } from '../../engine/insight/minutes/assumptions.js';
import { fileOutcomes } from '../../engine/insight/minutes/file-outcomes.js';
import { minutesOf, PART_DEFINITIONS } from '../../engine/insight/minutes/minutes.js';
import { verdictOf } from '../../engine/insight/minutes/verdict.js';
import type { Subject } from '../../engine/insight/subject.js';
import type { Timeline } from '../../engine/insight/timeline/timeline.js';
import type { HandOut, Why } from '../../engine/insight/why/why.js';
import { limits } from '../../limits.js';
import { timestamp } from '../../time.js';
import { secondsOf } from '../json.js';
import type { BuildHead, MinutesAnswer } from '../messages/insight/minutes.js';
import type { TimelineAnswer } from '../messages/insight/timeline.js';
import type { BatchReason, WhyAnswer } from '../messages/insight/why.js';

/** The kind of a timeline, and its extent. */
export type TimelineExtent = Pick<Timeline, 'kind' | 'start' | 'end' | 'paused' | 'isRunning'>;

/** Which build and CI run an answer is about. */
export function buildHead({ build, recorded, ciRun }: Subject, { kind, start, end, paused, isRunning }: TimelineExtent): BuildHead {
  return {
    build_id: recorded?.id ?? null,
    ci_run_id: ciRun?.id ?? null,
    ci_run: ciRun?.ci_run ?? null,
    kind,
    ...build,
    started_at: timestamp(start),
    ended_at: timestamp(end + paused),
    is_running: isRunning,
  };
}

/** NaN: unknown. */
export function orNull(seconds: number): number | null {
  return Number.isNaN(seconds) ? null : seconds;
}

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

/** What each node did, in the form that the API returns. */
export function timelineAnswer(subject: Subject, timeline: Timeline): TimelineAnswer {
  const { start, files, nodes } = timeline;
  const { wall, floor } = minutesOf(timeline);
  const since = (time: number) => (time - start) / 1000;
  return {
    ...buildHead(subject, timeline),
    wall: wall / 1000,
    floor: floor / 1000,
    paths: files.paths,
    estimates: Array.from(files.estimates, orNull),
    is_guess: Array.from(files.isGuess, each => (each === 1 ? 1 : 0)),
    nodes: nodes.map(({ node_index, start: began, end, recordedAt, spans }) => ({
      node_index,
      start: began === null ? null : since(began),
      end: end === null ? null : since(end),
      recorded: recordedAt !== null,
      spans: spans.map(({ seq, from, to, files: indices, seconds, isReplay, lease, failed }) => ({
        batch: seq,
        from: since(from),
        to: since(to),
        files: Array.from(indices),
        seconds: Array.from(seconds, orNull),
        is_replay: isReplay,
        lease,
        failed: failed?.map(i => indices[i]!) ?? null,
      })),
    })),
  };
}

/** Why the nodes of a CI run got their files, in the form that the API returns. */
export function whyAnswer(subject: Subject, { timeline, handOuts, count }: Why): WhyAnswer {
  return { ...buildHead(subject, timeline), batches: handOuts.map(batchReason), batch_count: count };
}

function batchReason({ seq, node_index, at, reason, decision, files, fileCount }: HandOut): BatchReason {
  return {
    batch: seq,
    node_index,
    handed_at: timestamp(at),
    reason,
    decision: decision && {
      remaining: decision.remaining,
      finish_in: decision.finishIn,
      speed: decision.speed,
      slowdown: decision.slowdown,
      share: decision.share,
      target: decision.target,
      pull_cost: decision.pullCost,
    },
    files: files.map(({ estimate, seconds, ...file }) => ({ ...file, estimate, seconds: orNull(seconds) })),
    file_count: fileCount,
  };
}
