import coerce from 'semver/functions/coerce.js';
import lt from 'semver/functions/lt.js';
import type { Answer, Request } from '../../http/request.js';
import { limits } from '../../limits.js';
import { json, projectOfHeader } from '../answer.js';
import type { Context } from '../context.js';

/** POST /build_subsets: records one run of one node. The 201 leaves when it is on disk. */
export async function recordBuildSubset(context: Context, request: Request): Promise<Answer> {
  const { store, jobs, now } = context;
  const { project, prepared } = await jobs.post('prepareSubset', request, projectOfHeader(context, request));
  const { message, run } = prepared;
  const stored = await store.recordings.record(project, message, run, request.retryCount > 0, now());
  if (stored === 'retried too often') {
    return json(202, {
      message:
        `node ${message.node_index} of this build was retried more than ${limits.runsPerNode - 1} times; ` +
        'this run is not stored, which does not affect the CI build',
    });
  }
  const update = updateMessage(request, context.clientVersions);
  return update ? json(201, { message: update }) : { status: 201, body: '' };
}

/** Asks an outdated client for an update; null when it is up to date or nothing is known about it. */
function updateMessage({ clientName, clientVersion }: Request, newestVersions: ReadonlyMap<string, string>): string | null {
  const newest = newestVersions.get(clientName);
  if (newest === undefined) return null;
  const current = coerce(clientVersion, { includePrerelease: true });
  if (!current || !lt(current, coerce(newest)!)) return null;
  return `${clientName} ${clientVersion} is outdated; please update to version ${newest}`;
}
