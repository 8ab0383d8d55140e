import type { Variant } from '../../../protocol/answers/what-if.js';
import { usualNodeTotal } from '../../../protocol/usual-nodes.js';
import type { Answer, Request } from '../../http/request.js';
import { firstCounts, furtherCounts, nodeCountsAnswer, type PreparedBuild } from '../../insight/what-if/node-counts.js';
import { planAnswer } from '../../insight/what-if/prepare-plan.js';
import { piecesGain, whatIfAnswer, worthCutting } from '../../insight/what-if/prepare-what-if.js';
import { AS_IT_WAS } from '../../insight/what-if/what-if.js';
import { askerOf } from '../authentication/authenticate.js';
import type { Context } from '../context.js';
import { get, getOfBuild, post } from '../endpoint.js';
import { decodeQuery, json } from '../json.js';
import { example, response } from '../openapi/responses.js';
import { prepare } from '../prepare.js';
import { toNodeCountsQuery, toWhatIfQuery } from '../read/plan.js';

async function whatIfOfBuild(context: Context, request: Request, id: string): Promise<Answer> {
  const { jobs, whatIfs, pullCost, now } = context;
  const asker = await askerOf(context, request);
  const asked = toWhatIfQuery(decodeQuery(request.query), new URLSearchParams(request.query).getAll('cut'));
  const {
    mode = null,
    estimates = null,
    start_spread: startSpread = null,
    pull_cost = null,
    setup = null,
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
  const today = prepared.head.node_count;
  // Cuts are compared on the last two numbers of nodes.
  const variants = await whatIfs.variants(scenario, ascending(prepared.nodes, prepared.deciding, [today, today + 1]), asker);
  const worth = await worthCutting(prepared, variants, (nodes, files) => whatIfs.cuts(scenario, nodes, files, asker));
  const [otherwise] = other ? await whatIfs.variants(other, [today], asker) : [];
  const gain = { worth_cutting: worth, pieces: piecesGain(prepared, variants, otherwise) };
  return json(200, whatIfAnswer(prepared, variants, gain));
}

async function planAhead(context: Context, request: Request): Promise<Answer> {
  const { project, prepared } = await prepare(context, 'preparePlan', request);
  const asker = { project, isPage: false, hasLeft: request.hasLeft };
  const variants = await context.whatIfs.variants(prepared.scenario, ascending(prepared.nodes, prepared.deciding), asker);
  return json(200, planAnswer(prepared, variants));
}

function ascending(...counts: readonly (readonly number[])[]): number[] {
  return [...new Set(counts.flat())].sort((a, b) => a - b);
}

/** Each build is read and played in turns of its own. */
async function nodeCountsOfBranch(context: Context, request: Request): Promise<Answer> {
  const { store, jobs, whatIfs, summarizer, pullCost, now } = context;
  const asker = await askerOf(context, request);
  const asked = toNodeCountsQuery(decodeQuery(request.query));
  const project = await store.access.project(asker.project);
  const branch = asked.branch ?? project?.default_branch ?? '';
  const { builds, outdated, ...known } = await jobs.read('buildsToPlay', { project: asker.project, branch, now: now() }, asker);
  for (const build of outdated) summarizer.outdated(build);
  const prepared: PreparedBuild[] = [];
  const changes = { ...AS_IT_WAS, mode: asked.mode ?? null, inPieces: asked.in_pieces ?? null };
  const playing = { changes, candidates: [], expectedPullCost: pullCost };
  for (const build of builds) prepared.push(await jobs.read('prepareBuild', { build, playing, now: now() }, asker, { isUnderWay: true }));
  const usual = usualNodeTotal(prepared.map(({ line }) => ({ node_total: line.node_count })));
  const subject = { ...known, usual, branch, changes, target: asked.target ?? project?.settings.target ?? null };
  const played: Variant[][] = prepared.map(() => []);
  const play = async (counts: readonly number[]) => {
    for (const [i, { scenario }] of prepared.entries()) {
      played[i] = [...played[i]!, ...(await whatIfs.variants(scenario, counts, asker))].sort((a, b) => a.nodes - b.nodes);
    }
    return nodeCountsAnswer(subject, prepared, played);
  };
  const first = await play(firstCounts(prepared, usual ?? 1, subject.target));
  const further = furtherCounts(first);
  return json(200, further.length === 0 ? first : await play(further));
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
  get('/v1/trends/node_counts', nodeCountsOfBranch, {
    operationId: 'getNodeCounts',
    tag: 'Trends',
    summary: 'Find how many nodes the builds of a branch need to end in time.',
    description:
      'The last builds of the branch that ended complete, at most 10, are played with several numbers of nodes. Of a suite with more than 5,000 files, fewer builds are played.',
    query: 'NodeCountsQuery',
    responses: {
      '200': response('What the builds take on each number of nodes, and which number is enough.', { schemas: ['NodeCountsAnswer'] }),
    },
  }),
];
