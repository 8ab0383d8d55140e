import { findSubject } from '../../engine/insight/subject.js';
import { refusals } from '../../engine/refusal.js';
import type { Answer, Request } from '../../http/request.js';
import { askerOf } from '../authenticate.js';
import type { Context } from '../context.js';
import { decodeQuery } from '../decode.js';
import { apiErrors } from '../errors.js';
import { checkNodeIndex } from '../messages/build-subset.js';
import { toWhyQuery } from '../messages/insight/why-query.js';
import { isSmallSubject } from '../reads.js';

/** GET /builds/:id/why: why each node got its files, as it was known then. */
export async function whyOfBuild(context: Context, request: Request, id: string): Promise<Answer> {
  const { store, jobs, now } = context;
  const asker = await askerOf(context, request);
  const { ci_run, ...filter } = toWhyQuery(decodeQuery(request.query));
  const subject = await findSubject(store, asker.project, id, ci_run);
  if (!subject) throw refusals.buildNotFound();
  const errors = checkNodeIndex({ ...filter, node_total: subject.build.node_total });
  if (Object.keys(errors).length > 0) throw apiErrors.invalid(errors);
  const isHere = await isSmallSubject(store, subject);
  return { status: 200, body: (await jobs.read('why', { subject, filter, now: now() }, asker, { isHere })).json };
}
