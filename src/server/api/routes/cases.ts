import { type Soon, whenKnown } from '../../../base/soon.js';
import type { TestCasesAnswer } from '../../../protocol/messages/cases.js';
import type { Answer, Request } from '../../http/request.js';
import type { Context } from '../context.js';
import { json } from '../json.js';
import { prepare } from '../prepare.js';

/** POST /v2/test_cases: keeps what a node reported of the cases of files, so that a later queue can cut the files into pieces. */
export function keepCases(context: Context, request: Request): Soon<Answer> {
  const { store, now, dailyBytes } = context;
  return whenKnown(prepare(context, 'prepareCases', request), async ({ project, prepared: encoded }) => {
    dailyBytes.assertRoom(project, now());
    await store.cases.keep(project, encoded, now());
    dailyBytes.add(project, encoded.reports.bytes.length, now());
    return json(200, { kept: encoded.places.length } satisfies TestCasesAnswer);
  });
}
