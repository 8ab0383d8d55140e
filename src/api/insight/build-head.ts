import type { Subject } from '../../engine/insight/subject.js';
import type { Timeline } from '../../engine/insight/timeline/timeline.js';
import { timestamp } from '../../time.js';
import type { BuildHead } from '../messages/insight/minutes.js';

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
