import { setTimeout as sleep } from 'node:timers/promises';
import type { Answer, Request } from '../http/request.js';
import { limits } from '../limits.js';
import { buildNumber } from '../store/builds.js';
import type { Store } from '../store/open.js';
import { type CompletenessQuery, toCompletenessQuery } from '../wire/completeness.js';
import { decodeQuery } from '../wire/decode.js';
import { projectOf } from './answer.js';
import type { Context } from './context.js';

/** GET /builds/completeness: whether every test file of a build was recorded; what is not yet, it waits for if asked to. */
export async function completenessOfBuild(context: Context, request: Request): Promise<Answer> {
  const { store, jobs, now, closing } = context;
  const project = projectOf(context, request);
  const query = toCompletenessQuery(decodeQuery(request.query));
  const until = now() + query.wait * 1000;
  for (;;) {
    const seen = recordedRuns(store, project, query);
    // The thread that compares reads what was handed out from disk.
    await store.journal.checkpoint();
    const answer = await jobs.compare({ project, query });
    if (answer.status === 200) return answer;
    // Only what is recorded makes it complete.
    do {
      if (now() >= until || request.hasLeft() || closing.aborted) return answer;
      await sleep(limits.completenessMilliseconds, null, { signal: closing }).catch(() => {});
    } while (recordedRuns(store, project, query) === seen);
  }
}

/** How many runs the build has: it changes whenever one is recorded. */
function recordedRuns(store: Store, project: number, query: CompletenessQuery): number {
  const number = buildNumber(store, project, query);
  return (number !== null && store.builds.get(number)?.subsets) || 0;
}
