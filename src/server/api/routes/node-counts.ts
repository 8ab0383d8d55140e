import type { Variant } from '../../../protocol/answers/what-if.js';
import { noSettings } from '../../../protocol/project-settings.js';
import type { Answer, Request } from '../../http/request.js';
import { firstCounts, furtherCounts, nodeCountsAnswer, type PreparedBuild } from '../../insight/what-if/node-counts.js';
import { askerOf } from '../authenticate.js';
import type { Context } from '../context.js';
import { get } from '../endpoint.js';
import { decodeQuery, json } from '../json.js';
import { response } from '../openapi/responses.js';
import { toNodeCountsQuery } from '../read/plan.js';

/** GET /trends/node_counts: how many nodes the last builds of a branch need. Each build is read and played in turns of its own. */
async function nodeCountsOfBranch(context: Context, request: Request): Promise<Answer> {
  const { store, jobs, whatIfs, summarizer, now } = context;
  const asker = await askerOf(context, request);
  const asked = toNodeCountsQuery(decodeQuery(request.query));
  const project = await store.access.project(asker.project);
  const settings = project?.settings ?? noSettings;
  const branch = asked.branch ?? project?.default_branch ?? '';
  const { builds, outdated } = await jobs.read('buildsToPlay', { project: asker.project, branch }, asker);
  for (const build of outdated) summarizer.outdated(build);
  const prepared: PreparedBuild[] = [];
  for (const build of builds) prepared.push(await jobs.read('prepareBuild', { build, now: now() }, asker, { isUnderWay: true }));
  const subject = { branch, target: asked.target ?? settings.target, settings };
  const played: Variant[][] = prepared.map(() => []);
  const play = async (counts: readonly number[]) => {
    for (const [i, { scenario }] of prepared.entries()) {
      played[i] = [...played[i]!, ...(await whatIfs.variants(scenario, counts, asker))].sort((a, b) => a.nodes - b.nodes);
    }
    return nodeCountsAnswer(subject, prepared, played);
  };
  const first = await play(firstCounts(prepared, subject.target));
  const further = furtherCounts(first);
  return json(200, further.length === 0 ? first : await play(further));
}

/** The endpoint for the number of nodes. */
export const nodeCounts = [
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
