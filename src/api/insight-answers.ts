import type { Subject } from '../engine/insight/subject.js';
import type { Timeline } from '../engine/insight/timeline.js';
import type { HandOut, Why } from '../engine/insight/why.js';
import { iso } from './answers.js';
import type { BuildHead } from './messages/insight/minutes.js';
import type { BatchReason, WhyAnswer } from './messages/insight/why.js';

/** What the insight into a build tells, in the form that the API returns. */

export function buildHead(
  { build, recorded, ciRun }: Subject,
  { kind, start, end, isRunning }: Pick<Timeline, 'kind' | 'start' | 'end' | 'isRunning'>,
): BuildHead {
  return {
    build_id: recorded?.id ?? null,
    ci_run_id: ciRun?.id ?? null,
    ci_run: ciRun?.ci_run ?? null,
    kind,
    ...build,
    started_at: iso(start),
    ended_at: iso(end),
    is_running: isRunning,
  };
}

export function whyAnswer(subject: Subject, { timeline, handOuts, count }: Why): WhyAnswer {
  return { ...buildHead(subject, timeline), batches: handOuts.map(batchReason), batch_count: count };
}

function batchReason({ seq, node_index, at, reason, decision, files, fileCount }: HandOut): BatchReason {
  return {
    batch: seq,
    node_index,
    handed_at: iso(at),
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
    files: files.map(({ estimate, seconds, ...file }) => ({ ...file, estimate: known(estimate), seconds: known(seconds) })),
    file_count: fileCount,
  };
}

function known(seconds: number): number | null {
  return Number.isNaN(seconds) ? null : seconds;
}
