import { settingsOf } from '../../engine/access.js';
import type { Answer, Request } from '../../http/request.js';
import { planAnswer } from '../../insight/what-if/prepare-plan.js';
import { piecesGain, whatIfAnswer, worthCutting } from '../../insight/what-if/prepare-what-if.js';
import { askerOf } from '../authenticate.js';
import type { Context } from '../context.js';
import { getOfBuild, post } from '../endpoint.js';
import { decodeQuery, json } from '../json.js';
import { example } from '../openapi/example.js';
import { response } from '../openapi/responses.js';
import { prepare } from '../prepare.js';
import { toWhatIfQuery } from '../read/plan.js';

/** GET /builds/:id/what_if: a build played again with other numbers of nodes. */
async function whatIfOfBuild(context: Context, request: Request, id: string): Promise<Answer> {
  const { jobs, whatIfs, pullCost, now } = context;
  const asker = await askerOf(context, request);
  const settings = await settingsOf(context.store.access, asker.project);
  const asked = toWhatIfQuery(decodeQuery(request.query), new URLSearchParams(request.query).getAll('cut'));
  const {
    mode = null,
    estimates = null,
    start_spread: startSpread = null,
    pull_cost = null,
    setup = settings.setup ?? 0,
    in_pieces: inPieces = null,
    cut,
  } = asked;
  const prepared = await jobs.read(
    'prepareWhatIf',
    {
      project: asker.project,
      id,
      ciRun: asked.ci_run,
      nodes: asked.nodes,
      changes: { mode, estimates, startSpread, pullCost: pull_cost, setup, inPieces, cut },
      candidates: null,
      expectedPullCost: pullCost,
      now: now(),
    },
    asker,
  );
  const { scenario, other } = prepared.whatIf;
  const today = prepared.head.node_total;
  // Cuts are compared on these numbers of nodes, which need not be among those asked for.
  const played = [...new Set([...prepared.nodes, today, today + 1])].sort((a, b) => a - b);
  const variants = await whatIfs.variants(scenario, played, asker);
  const worth = await worthCutting(prepared, variants, (nodes, files) => whatIfs.cuts(scenario, nodes, files, asker));
  const [otherwise] = other ? await whatIfs.variants(other, [today], asker) : [];
  const gain = { worth_cutting: worth, pieces: piecesGain(prepared, variants, otherwise) };
  return json(200, whatIfAnswer(prepared, variants, gain, settings));
}

/** POST /plan: how long a suite will take with each number of nodes. */
async function planAhead(context: Context, request: Request): Promise<Answer> {
  const { project, prepared } = await prepare(context, 'preparePlan', request);
  const asker = { project, isPage: false, hasLeft: request.hasLeft };
  const variants = await context.whatIfs.variants(prepared.scenario, prepared.nodes, asker);
  return json(200, planAnswer(prepared, variants, await settingsOf(context.store.access, project)));
}

const planned = {
  assumptions: {
    mode: 'queue',
    start_spread: 0,
    pull_cost: 2,
    setup: 0,
    estimates: 'now',
    in_pieces: false,
    cut: [],
    sentences: ['The nodes start together.'],
  },
  files: 2,
  unknown_files: 1,
  total: 83,
  variants: [
    {
      nodes: 2,
      wall: 43.5,
      node_seconds: 87,
      job_seconds: 83,
      price: null,
      floor: 41.5,
      ratio: 1.0482,
      bound_by_file: false,
      measured: null,
    },
  ],
  useful_nodes: 2,
  longest: { path: 'spec/cart_spec.rb', seconds: 41.5 },
  nodes_within: 2,
};

/** The endpoints that play builds. */
export const whatIf = [
  getOfBuild('/v1/builds/:id/what_if', whatIfOfBuild, {
    operationId: 'playBuild',
    tag: 'Builds',
    summary: 'Play a build again with other numbers of nodes.',
    description:
      'The planner of the server runs on the recorded times: wall time and node time by number of nodes, what other methods would have taken, and the files that are worth cutting.',
    query: 'WhatIfQuery',
    responses: { '200': response('The outcome with each number of nodes.', { schemas: ['WhatIfAnswer'] }) },
  }),
  post('/v1/plan', planAhead, {
    operationId: 'planAhead',
    tag: 'Builds',
    summary: 'Forecast a build for several numbers of nodes.',
    description:
      'The suite takes its estimates of today, and its nodes start like those of the newest build. For the job that starts the nodes.',
    body: { schemas: ['PlanMessage'], example: { branch: 'main', within: 600, test_files: example.listedFiles } },
    responses: { '200': response('The outcome with each number of nodes.', { schemas: ['PlanAnswer'], example: planned }) },
  }),
];
