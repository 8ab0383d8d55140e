import { apiErrors } from '../../api-error.js';
import { findSubject } from '../../engine/insight/subject.js';
import type { Answer, Request } from '../../http/request.js';
import { askerOf } from '../authenticate.js';
import type { Context } from '../context.js';
import { checkNodeIndex } from '../messages/build-subset.js';
import { decodeQuery } from '../messages/decode.js';
import { toWhyQuery } from '../messages/insight/why-query.js';

/** GET /builds/:id/why: why each node got its files, as it was known then. */
export async function whyOfBuild(context: Context, request: Request, id: string): Promise<Answer> {
  const { store, workers, now } = context;
  const asker = await askerOf(context, request);
  const { ci_run, ...filter } = toWhyQuery(decodeQuery(request.query));
  const subject = await findSubject(store, asker.project, id, ci_run);
  if (!subject) throw apiErrors.buildNotFound();
  const errors = checkNodeIndex({ ...filter, node_total: subject.build.node_total });
  if (Object.keys(errors).length > 0) throw apiErrors.invalid(errors);
  return { status: 200, body: await workers.insight('why', { subject, filter, now: now() }, asker) };
}
