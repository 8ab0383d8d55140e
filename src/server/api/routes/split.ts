import { type Soon, whenKnown } from '../../../base/soon.js';
import type { LastDistribution, SplitMiss } from '../../../protocol/messages/split.js';
import { closestBuild } from '../../engine/builds.js';
import { bytesOfNote } from '../../engine/node-notes.js';
import { decodeFiles } from '../../engine/planned-files.js';
import { type Share, type SplitRequest, shareOf } from '../../engine/splits.js';
import type { Answer, Request } from '../../http/request.js';
import { askerOf } from '../authentication/authenticate.js';
import { assertRoomForPlan, countPlan } from '../authentication/public-token.js';
import type { Context } from '../context.js';
import { get, post } from '../endpoint.js';
import { apiErrors } from '../errors.js';
import { aroundLast, codeLine, decodeQuery, json, lines } from '../json.js';
import { example, mergeResponses, refusal, response, testFileResponses } from '../openapi/responses.js';
import { prepare } from '../prepare.js';
import { toNodeKey } from '../read/build.js';
import { isSmallBuild } from '../reads.js';

const MISS: SplitMiss = { code: 'TEST_SUITE_SPLIT_CACHE_MISS' };

function splitForNode(context: Context, request: Request): Soon<Answer> {
  const { store, dailyBytes, splitAsks, nodeNotes, now } = context;
  return whenKnown(prepare(context, 'prepareSplit', request), ({ project, prepared: { request: asked, planned } }) => {
    const { plan } = planned;
    if (plan) dailyBytes.assertRoom(project, now());
    if (plan) assertRoomForPlan(context, request, project);
    return whenKnown(shareOf(store, asked, planned, now()), share => {
      if (plan && share?.isNew) {
        dailyBytes.add(project, plan.files.bytes.length, now());
        countPlan(context, project);
      }
      if (share?.files) splitAsks.note(asked.key, asked.node_index, now());
      if (share?.files && asked.told) {
        nodeNotes.note(asked.key, share.split.id, asked.node_index, asked.told);
        dailyBytes.add(project, bytesOfNote(asked.told), now());
      }
      return answerShare(request, asked, share);
    });
  });
}

function answerShare(request: Request, { key, node_index, listDigest }: SplitRequest, share: Share | null): Answer {
  if (share && share.difference !== null) throw apiErrors.listDiffers(key.isFixed ? 'split' : 'split of a CI run', share.difference);
  if (!share?.files) return request.wantsText ? codeLine(MISS.code) : json(200, MISS);
  const { split, files } = share;
  if (request.wantsText)
    return lines(
      decodeFiles(files).map(({ path }) => path),
      { 'X-Ballast-Split-Id': split.id },
    );
  // A client that sent its digest rejects an answer for another list, which a cache could return.
  const head = { test_files_digest: listDigest, build_distribution_id: split.id, node_index };
  return { status: 200, body: files, around: aroundLast('test_files', head) };
}

const NO_BUILD: LastDistribution = { build_distribution_id: null, time_execution: 0, test_files: [] };

async function lastDistribution(context: Context, request: Request): Promise<Answer> {
  const { store, jobs } = context;
  const asker = await askerOf(context, request);
  const build = await closestBuild(store.builds, asker.project, toNodeKey(decodeQuery(request.query)));
  if (!build) return json(200, NO_BUILD);
  const { json: body } = await jobs.read('recordedDistribution', build, asker, { isHere: isSmallBuild(build) });
  return { status: 200, body };
}

export const regularMode = [
  post('/v1/build_distributions/subset', splitForNode, {
    operationId: 'splitTestFiles',
    tag: 'Regular mode',
    isOpenToPublic: true,
    summary: 'Get the test files of one node.',
    description:
      'First send `cache_read_attempt: true`. If there is no split yet, send `false` and all test files. All nodes of a build get parts of one split.',
    body: {
      schemas: ['SplitMessage'],
      example: { ...example.node, ci_build_id: '1', cache_read_attempt: false, test_files: example.listedFiles },
    },
    responses: {
      ...testFileResponses(
        {
          schemas: ['SplitAnswer', 'SplitMiss'],
          example: { build_distribution_id: example.id, node_index: 0, test_files: example.timedFiles },
        },
        'The test files of this node, or a code if there is no split yet.',
        'X-Ballast-Split-Id',
      ),
      '409': refusal('The request has a `test_files_digest`, and the split was made from another list.'),
    },
  }),
  get('/v1/build_distributions/last', lastDistribution, {
    operationId: 'lastBuildDistribution',
    tag: 'Regular mode',
    summary: 'Get the recorded test files of the closest earlier build.',
    description: 'It is the build of the same commit, else the newest build of the branch, else of the project. All its nodes are merged.',
    query: 'NodeKey',
    responses: {
      '200': response('All test files of that build; none if there is no build.', { schemas: ['LastDistribution'] }),
      ...mergeResponses,
    },
  }),
];
