import type { Answer, Request } from '../../http/request.js';
import { version } from '../../version.js';
import type { Context } from '../context.js';
import { json } from '../json.js';
import { baseUrl } from '../links.js';
import { openApiDocument } from '../openapi/openapi.js';

/** GET /openapi.json: the description of this API. It needs no token. */
export function describeApi(context: Context, request: Request): Answer {
  return json(200, openApiDocument({ version, url: baseUrl(context, request), headerPrefixes: context.headerPrefixes }));
}
