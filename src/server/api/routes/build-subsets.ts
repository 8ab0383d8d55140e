import coerce from 'semver/functions/coerce.js';
import lt from 'semver/functions/lt.js';
import { type Soon, whenKnown } from '../../../base/soon.js';
import { limits } from '../../../protocol/limits.js';
import type { NodeKey } from '../../engine/keys.js';
import type { Recorded } from '../../engine/ports/recordings.js';
import type { Answer, Request } from '../../http/request.js';
import { clientFileNames } from '../client-files.js';
import type { Context } from '../context.js';
import { post } from '../endpoint.js';
import { json } from '../json.js';
import { example, response } from '../openapi/responses.js';
import { prepare } from '../prepare.js';

/** Bytes of a recorded run on the disk: its entries in indexes, and each time. */
const BYTES_OF_RUN = 200;
const BYTES_OF_TIME = 12;

function recordBuildSubset(context: Context, request: Request): Soon<Answer> {
  const { store, now, dailyBytes, splitAsks } = context;
  // When it came: a repetition that another process got may be recorded before this one is prepared.
  const at = now();
  return whenKnown(prepare(context, 'prepareSubset', request), ({ project, prepared: { node, run } }) => {
    dailyBytes.assertRoom(project, at);
    run.asked_at = splitAsks.askedAt(project, node, run, at);
    const caller = { isRetry: request.retryCount > 0, hasLeft: request.hasLeft };
    return whenKnown(store.recordings.record(project, node, run, caller, at), ({ value: outcome, saved }) => {
      if (outcome === 'recorded') {
        dailyBytes.add(project, BYTES_OF_RUN + BYTES_OF_TIME * run.seconds.length, at);
        splitAsks.recorded(store, project, node, run, at);
      }
      const answer = answerRecorded(context, request, project, node, outcome);
      answer.saved = saved;
      return answer;
    });
  });
}

function answerRecorded(context: Context, request: Request, project: number, node: NodeKey, outcome: Recorded): Answer {
  if (outcome === 'recorded') context.summarizer.recorded(project, node);
  if (outcome === 'retried too often') {
    const message =
      `node ${node.node_index} of this build was retried more than ${limits.runsPerNode - 1} times; ` +
      'this run is not stored, which does not affect the CI build';
    return json(202, { message });
  }
  const update = updateMessage(context, request);
  return update ? json(201, { message: update }) : { status: 201, body: '' };
}

/** Asks to update an outdated client, or one of Ballast that is not of this server; null when it is up to date or unknown. */
function updateMessage({ client, clientVersions }: Context, { clientName, clientVersion }: Request): string | null {
  const file = clientFileNames.get(clientName);
  if (file !== undefined && clientVersion !== client.version)
    return `the client has version ${clientVersion}, and the server ${client.version}: fetch /${file} from the server in each CI run`;
  const newest = clientVersions.get(clientName);
  if (newest === undefined) return null;
  const current = coerce(clientVersion, { includePrerelease: true });
  if (!current || !lt(current, coerce(newest)!)) return null;
  return `${clientName} ${clientVersion} is outdated; please update to version ${newest}`;
}

export const recording = post('/v1/build_subsets', recordBuildSubset, {
  operationId: 'recordBuildSubset',
  tag: 'Recording',
  isOpenToPublic: true,
  summary: 'Record the test files that one node ran.',
  description: 'The server keeps every run of a node. Time 0 means scheduled, not measured.',
  body: { schemas: ['BuildSubsetMessage'], example: { ...example.node, test_files: example.timedFiles } },
  responses: {
    '201': response('Stored on disk. The response has no body, or a message that the client is outdated.', { schemas: ['Message'] }),
    '202': response('Not stored: the node was retried too often.', { schemas: ['Message'] }),
  },
});
