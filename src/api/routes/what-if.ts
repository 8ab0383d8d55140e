import { settingsOf } from '../../engine/access.js';
import { planAnswer } from '../../engine/insight/what-if/prepare-plan.js';
import { whatIfAnswer, worthCutting } from '../../engine/insight/what-if/prepare-what-if.js';
import type { Answer, Request } from '../../http/request.js';
import { askerOf } from '../authenticate.js';
import type { Context } from '../context.js';
import { decodeQuery, json } from '../json.js';
import { toWhatIfQuery } from '../messages/insight/what-if.js';
import { prepare } from '../prepare.js';

/** GET /builds/:id/what_if: a build played again with other numbers of nodes. */
export async function whatIfOfBuild(context: Context, request: Request, id: string): Promise<Answer> {
  const { jobs, whatIfs, pullCost, now } = context;
  const asker = await askerOf(context, request);
  const settings = await settingsOf(context.store.access, asker.project);
  const asked = toWhatIfQuery(decodeQuery(request.query), new URLSearchParams(request.query).getAll('cut'));
  const { mode = null, estimates = null, start_spread: startSpread = null, pull_cost = null, setup = settings.setup ?? 0, cut } = asked;
  const prepared = await jobs.read(
    'prepareWhatIf',
    {
      project: asker.project,
      id,
      ciRun: asked.ci_run,
      nodes: asked.nodes,
      changes: { mode, estimates, startSpread, pullCost: pull_cost, setup, cut },
      candidates: null,
      expectedPullCost: pullCost,
      now: now(),
    },
    asker,
  );
  const { scenario } = prepared.whatIf;
  const today = prepared.head.node_total;
  // Cuts are compared on these numbers of nodes, which need not be among those asked for.
  const played = [...new Set([...prepared.nodes, today, today + 1])].sort((a, b) => a - b);
  const variants = await whatIfs.variants(scenario, played, asker);
  const worth = await worthCutting(prepared, variants, (nodes, files) => whatIfs.cuts(scenario, nodes, files, asker));
  return json(200, whatIfAnswer(prepared, variants, worth, settings));
}

/** POST /plan: how long a suite will take with each number of nodes. */
export async function planAhead(context: Context, request: Request): Promise<Answer> {
  const { project, prepared } = await prepare(context, 'preparePlan', request);
  const asker = { project, isPage: false, hasLeft: request.hasLeft };
  const variants = await context.whatIfs.variants(prepared.scenario, prepared.nodes, asker);
  return json(200, planAnswer(prepared, variants, await settingsOf(context.store.access, project)));
}
