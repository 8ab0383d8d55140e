import { apiErrors } from '../../api-error.js';
import { findSubject } from '../../engine/insight/subject.js';
import type { Answer, Request } from '../../http/request.js';
import type { InsightJob } from '../../workers/pool.js';
import { askerOf } from '../authenticate.js';
import type { Context } from '../context.js';
import { decodeQuery } from '../messages/decode.js';
import { toCiRunQuery } from '../messages/insight/ci-run.js';

/** A GET about a CI run, whose id is that of a build or, while nothing is recorded, of the CI run. */
function insight(job: InsightJob) {
  return async (context: Context, request: Request, id: string): Promise<Answer> => {
    const { store, workers, now } = context;
    const asker = await askerOf(context, request);
    const { ci_run } = toCiRunQuery(decodeQuery(request.query));
    const subject = await findSubject(store, asker.project, id, ci_run);
    if (!subject) throw apiErrors.buildNotFound();
    return { status: 200, body: await workers.insight(job, { subject, now: now() }, asker) };
  };
}

/** GET /builds/:id/minutes: where the wall time went. */
export const minutesOfBuild = insight('minutes');
/** GET /builds/:id/timeline: what each node did, and when. */
export const timelineOfBuild = insight('timeline');
/** GET /builds/:id/trace: the same as Chrome trace events. */
export const traceOfBuild = insight('trace');
/** GET /builds/:id/forecast: what was expected when it was planned. */
export const forecastOfBuild = insight('forecast');
