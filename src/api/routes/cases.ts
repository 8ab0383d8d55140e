import { charactersIn } from '../../case-names.js';
import { toKeep } from '../../engine/pieces/told-cases.js';
import type { Answer, Request } from '../../http/request.js';
import { type Soon, whenKnown } from '../../soon.js';
import type { Context } from '../context.js';
import { json } from '../json.js';
import type { TestCasesAnswer } from '../messages/cases.js';
import { prepare } from '../prepare.js';

/** What a case takes on the disk besides its name, approximately. */
const BYTES_OF_CASE = 30;

/** POST /v2/test_cases: keeps what a node told of the cases of files, so that a later queue can cut the files into pieces. */
export function keepCases(context: Context, request: Request): Soon<Answer> {
  const { store, now, dailyBytes } = context;
  return whenKnown(prepare(context, 'prepareCases', request), async ({ project, prepared: told }) => {
    dailyBytes.assertRoom(project, now());
    const kept = await toKeep(store, project, told);
    await store.cases.tell(project, kept, now());
    for (const { cases } of kept) dailyBytes.add(project, charactersIn(cases) + BYTES_OF_CASE * cases.length, now());
    return json(200, { kept: kept.length } satisfies TestCasesAnswer);
  });
}
