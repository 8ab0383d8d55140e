import type { Subject } from '../../engine/insight/subject.js';
import type { HandOut, Why } from '../../engine/insight/why/why.js';
import { timestamp } from '../../time.js';
import type { BatchReason, WhyAnswer } from '../messages/insight/why.js';
import { buildHead, orNull } from './build-head.js';

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
