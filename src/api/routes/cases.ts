import type { ToldCases } from '../../engine/pieces/told-cases.js';
import type { Store } from '../../engine/ports/store.js';
import type { Answer, Request } from '../../http/request.js';
import { type Soon, whenKnown } from '../../soon.js';
import type { Context } from '../context.js';
import { json } from '../json.js';
import type { TestCasesAnswer } from '../messages/cases.js';
import { prepare } from '../prepare.js';

/** What a case takes on the disk besides its name, approximately. */
const BYTES_OF_CASE = 30;

/** POST /v2/test_cases: keeps what a node told of the cases of files, so that a later queue can cut the files in pieces. */
export function keepCases(context: Context, request: Request): Soon<Answer> {
  const { store, now, dailyBytes } = context;
  return whenKnown(prepare(context, 'prepareCases', request), async ({ project, prepared }) => {
    dailyBytes.assertRoom(project, now());
    const told = await selectable(store, project, prepared);
    await store.cases.tell(project, told, now());
    for (const { cases } of told)
      dailyBytes.add(
        project,
        cases.reduce((sum, { name }) => sum + name.length + BYTES_OF_CASE, 0),
        now(),
      );
    return json(200, { kept: told.length } satisfies TestCasesAnswer);
  });
}

/** Leaves out names of reports where those are known by which a runner selects cases: they would end the cutting of other branches. */
async function selectable({ cases }: Store, project: number, told: readonly ToldCases[]): Promise<readonly ToldCases[]> {
  const files = told.flatMap(({ file, runner }) => (runner === null ? file : []));
  if (files.length === 0) return told;
  const kept = await cases.of(project, files);
  const selected = new Set(files.filter((_, i) => kept[i]!.some(({ runner }) => runner !== null)));
  return told.filter(({ file, runner }) => runner !== null || !selected.has(file));
}
