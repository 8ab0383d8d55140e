import { ApiError, apiErrors } from '../../api-error.js';
import type { Answer, Request } from '../../http/request.js';
import type { LmdbStore } from '../../store/lmdb/store.js';
import type { CompletenessSubject } from '../../workers/completeness.js';
import type { CompletenessChecker } from '../../workers/completeness-checker.js';
import { projectOf } from '../answer.js';
import type { Context } from '../context.js';
import { toCompletenessQuery } from '../messages/completeness.js';
import { decodeQuery } from '../messages/decode.js';

/** GET /builds/completeness: whether every test file of a build was recorded; what is not yet, it waits for if asked to. */
export async function completenessOfBuild(context: Context, request: Request): Promise<Answer> {
  const { store, comparisons } = context;
  const project = projectOf(context, request);
  const query = toCompletenessQuery(decodeQuery(request.query));
  const subject = { project, query };
  const until = performance.now() + query.wait * 1000;
  for (;;) {
    const seen = recordedRuns(store, subject);
    const answer = await compareUntil(comparisons, subject, request.hasLeft, until);
    if (answer && (answer.status === 200 || performance.now() >= until)) return answer;
    // Only what is recorded makes it complete; what else changed is told at the end. What was refused is tried again.
    do {
      if (request.hasLeft()) throw apiErrors.clientLeft();
      if (comparisons.isClosing) throw apiErrors.stopping();
      await comparisons.tick();
    } while (answer && recordedRuns(store, subject) === seen && performance.now() < until);
  }
}

/** Null when the server is too busy just now, and there is time. */
async function compareUntil(
  comparisons: CompletenessChecker,
  subject: CompletenessSubject,
  hasLeft: () => boolean,
  until: number,
): Promise<Answer | null> {
  try {
    return await comparisons.compare(subject, hasLeft);
  } catch (error) {
    if (error instanceof ApiError && error.status === 503 && performance.now() < until) return null;
    throw error;
  }
}

/** How many runs the build has: it changes whenever one is recorded. */
function recordedRuns(store: LmdbStore, { project, query }: CompletenessSubject): number {
  return store.builds.find(project, query)?.subsets ?? 0;
}
