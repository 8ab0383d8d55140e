import { buildLines } from '../../engine/insight/trends/overview.js';
import type { Answer, Request } from '../../http/request.js';
import { projectOf } from '../authenticate.js';
import type { Context } from '../context.js';
import { decodeQuery } from '../decode.js';
import { json } from '../json.js';
import { toBuildLinesQuery } from '../messages/insight/queries.js';

const DEFAULT_LIMIT = 50;

/** GET /v1/build_summaries: builds with what is known of each without reading its runs, newest first. */
export async function buildSummaries(context: Context, request: Request): Promise<Answer> {
  const { store, summarizer, now } = context;
  const project = await projectOf(context, request);
  const { cursor = null, limit = DEFAULT_LIMIT, failed = false, ...filter } = toBuildLinesQuery(decodeQuery(request.query));
  const { answer, outdated } = await buildLines(store, project, { filter, failed, cursor, limit }, now());
  for (const build of outdated) summarizer.outdated(build);
  return json(200, answer);
}
