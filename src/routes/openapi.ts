import type { Answer } from '../http/request.js';
import { version } from '../version.js';
import { openApi } from '../wire/openapi.js';
import { json } from './answer.js';
import type { Context } from './context.js';

/** GET /openapi.json: what this API takes and answers, for machines; it needs no token. */
export function describeApi({ tokenHeader }: Context): Answer {
  return json(200, openApi(version, tokenHeader));
}
