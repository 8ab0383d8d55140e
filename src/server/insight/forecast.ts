import { timestamp } from '../../base/time.js';
import type { ForecastAnswer } from '../../protocol/answers/timeline.js';
import type { Millis, Store } from '../engine/ports/store.js';
import { takenFiles } from '../engine/queue/batch.js';
import { expectedEnd } from '../engine/queue/expected-end.js';
import { batchesOf } from '../engine/queues.js';
import { Refusal } from '../engine/refusal.js';
import type { Forecast } from '../planning/forecasting/forecast.js';
import { buildHead, type Subject } from './subject.js';
import { readTimeline } from './timeline/read-timeline.js';
import { hasRecordedLast, type NodeLane } from './timeline/timeline.js';

/** Forecasts a CI run. Throws a 404 when no plan is known, and a 422 when its recorded runs do not fit in memory. */
export async function forecastOf(store: Store, subject: Subject, now: Millis): Promise<ForecastAnswer> {
  const { ciRun } = subject;
  const forecast = ciRun && (await store.plans.part(ciRun.plan, 'forecast'));
  if (!forecast) {
    const message = 'no split and no queue of this build is known, so nothing was expected of it: it expired, or its nodes ran without';
    throw new Refusal(message, 'not found');
  }
  const timeline = await readTimeline(store, subject, now);
  const { kind, is_running, wall } = timeline;
  const expected_end = kind === 'queue' && is_running ? await endOfQueue(store, ciRun.plan, forecast, timeline.nodes, now) : null;
  return { ...buildHead(subject, timeline), ...forecast, wall: is_running ? null : wall, expected_end };
}

/** Null: most files were never measured, no batch was sized, or the queue expired. */
async function endOfQueue({ plans, queues }: Store, plan: string, { unknown_files }: Forecast, nodes: readonly NodeLane[], now: Millis) {
  const weights = await plans.part(plan, 'weights');
  if (!weights || 2 * unknown_files > weights.length) return null;
  const { own: batches, copied } = await batchesOf(queues, plan);
  const filesLeft = takenFiles([...copied, ...batches], weights.length).filter(isTaken => isTaken === 0).length;
  const hasRecorded = (node: number) => hasRecordedLast(nodes[node]!);
  const end = expectedEnd({ nodeTotal: nodes.length, batches, weights, filesLeft, hasRecorded }, now);
  return end && { at: timestamp(end.at), earliest: timestamp(end.earliest), latest: timestamp(end.latest) };
}
