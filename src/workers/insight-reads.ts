import { buildHead } from '../api/insight/build-head.js';
import { minutesAnswer } from '../api/insight/minutes-answer.js';
import { timelineAnswer } from '../api/insight/timeline-answer.js';
import { traceAnswer } from '../api/insight/trace.js';
import { whyAnswer } from '../api/insight/why-answer.js';
import type { ForecastAnswer } from '../api/messages/insight/forecast.js';
import { apiErrors } from '../api-error.js';
import type { Subject } from '../engine/insight/subject.js';
import { readTimeline } from '../engine/insight/timeline/read-timeline.js';
import type { Timeline } from '../engine/insight/timeline/timeline.js';
import { type WhyFilter, why } from '../engine/insight/why/why.js';
import type { Millis, Store } from '../engine/ports/store.js';
import type { Json } from './reads.js';

/** A question about a CI run. */
export interface InsightQuestion {
  subject: Subject;
  now: Millis;
}

export interface WhyQuestion extends InsightQuestion {
  filter: WhyFilter;
}

type Answer = (subject: Subject, timeline: Timeline) => object;

const read =
  (answer: Answer) =>
  async (store: Store, { subject, now }: InsightQuestion): Promise<{ json: Json }> => ({
    json: JSON.stringify(answer(subject, await readTimeline(store, subject, now))),
  });

/** Answers about what the nodes of a CI run did, and why. They throw a 422 when its recorded runs do not fit in memory. */
export const insightReads = {
  minutes: read(minutesAnswer),
  timeline: read(timelineAnswer),
  trace: read(traceAnswer),
  forecast: forecastJson,
  why: whyJson,
};

/** What was expected when the build was planned. Throws a 404 when no plan is known. */
async function forecastJson(store: Store, { subject, now }: InsightQuestion): Promise<{ json: Json }> {
  const { ciRun } = subject;
  const forecast =
    ciRun && (await (ciRun.kind === 'queue' ? store.queues.forecast(ciRun.plan) : store.splits.forecast({ id: ciRun.plan })));
  if (!forecast) throw apiErrors.planNotFound();
  const timeline = await readTimeline(store, subject, now);
  const wall = timeline.isRunning ? null : (timeline.end - timeline.start) / 1000;
  return { json: JSON.stringify({ ...buildHead(subject, timeline), ...forecast, wall } satisfies ForecastAnswer) };
}

/** Why the nodes of a CI run got their files. */
async function whyJson(store: Store, { subject, filter, now }: WhyQuestion): Promise<{ json: Json }> {
  return { json: JSON.stringify(whyAnswer(subject, await why(store, subject, filter, now))) };
}
