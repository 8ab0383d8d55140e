import type { AnsweredSubject } from '../../../protocol/answers/completeness.js';
import { nodeTotalsOf } from '../../engine/ci-run.js';
import type { CompletenessSubject } from '../../engine/completeness/assigned.js';
import { isPublicSide } from '../../engine/public-side/side.js';
import { ApiError } from '../../http/api-error.js';
import type { Answer, Request } from '../../http/request.js';
import { askerOf } from '../authentication/authenticate.js';
import type { Context } from '../context.js';
import { get } from '../endpoint.js';
import { apiErrors } from '../errors.js';
import type { Asker } from '../job-runner.js';
import { decodeQuery } from '../json.js';
import { mergeResponses, response } from '../openapi/responses.js';
import { toCompletenessQuery } from '../read/completeness.js';
import type { CompletenessJson, Json } from '../reads.js';

/** A CI run may be noted some time after it began. */
const SLACK_MILLISECONDS = 60_000;

/** GET /builds/completeness: whether every test file of a CI run was recorded. With `wait` it answers then, or at the time limit. */
async function completenessOfBuild(context: Context, request: Request): Promise<Answer> {
  const asker = await askerOf(context, request);
  const query = toCompletenessQuery(decodeQuery(request.query));
  if (query.wait === 0 || !isPublicSide(asker.project)) return compared(context, request, asker, query);
  const isWaiting = context.publicAllowance.beginWait(asker.project);
  try {
    return await compared(context, request, asker, isWaiting ? query : { ...query, wait: 0 });
  } finally {
    if (isWaiting) context.publicAllowance.endWait(asker.project);
  }
}

async function compared(context: Context, request: Request, asker: Asker, query: ReturnType<typeof toCompletenessQuery>): Promise<Answer> {
  const { completeness } = context;
  const { wait, allow_empty, request_id = null, ...sent } = query;
  const { commit_hash, branch, node_total, ...ids } = sent;
  if (isPublicSide(asker.project) && !asker.isPage && ids.node_build_id === undefined && ids.ci_build_id === undefined)
    throw apiErrors.invalid({ node_build_id: ['parameter or ci_build_id is required: a public token asks about its own CI run'] });
  const owner = await context.store.access.project(asker.project);
  // It was deleted meanwhile.
  if (!owner) throw apiErrors.tokenInvalid();
  const { node_build_id = null, ci_build_id = null } = ids;
  const ciRun = node_build_id !== null ? ({ kind: 'queue', id: node_build_id } as const) : ({ kind: 'split', id: ci_build_id! } as const);
  const about = { project: owner.name, commit_hash, branch, node_build_id, ci_build_id, allow_empty, request_id };
  const until = performance.now() + wait * 1000;
  const found = new Set(node_total === undefined ? [] : [node_total]);
  let searchedAt = -Infinity;
  for (;;) {
    if (node_total === undefined) {
      const since = searchedAt - SLACK_MILLISECONDS;
      searchedAt = context.now();
      for (const total of await nodeTotalsOf(context.store.ciRuns, asker.project, { commit_hash, branch }, ciRun, since)) found.add(total);
    }
    const totals = [...found];
    // Of an unknown CI run nothing is found, whatever its number of nodes.
    const subjects = (totals.length > 0 ? totals : [1]).map(
      (total): CompletenessSubject => ({
        project: asker.project,
        build: { commit_hash, branch, node_total: total },
        ...ids,
        allowsEmpty: allow_empty,
      }),
    );
    const runs = await runsKept(context, subjects);
    const results: CompletenessJson[] = [];
    for (const subject of subjects) {
      const result = await compareUntil(context, subject, asker, until);
      if (!result) break;
      results.push(result);
    }
    const isCompared = results.length === subjects.length;
    // All builds of the CI run must be complete.
    const at = Math.max(
      0,
      results.findIndex(({ isComplete }) => !isComplete),
    );
    const result = results[at];
    if (isCompared && result && (result.isComplete || performance.now() >= until)) {
      const body = answerAbout({ ...about, node_total: totals[at] ?? null }, result.json);
      return { status: result.isComplete ? 200 : 409, body };
    }
    // Only another recorded run can make it complete. A refused comparison is tried again.
    do {
      if (request.hasLeft()) throw apiErrors.clientLeft();
      if (completeness.isClosing) throw apiErrors.stopping();
      await completeness.tick();
    } while (isCompared && totals.length > 0 && (await runsKept(context, subjects)) === runs && performance.now() < until);
  }
}

function answerAbout(about: AnsweredSubject, comparison: Json): Buffer {
  return Buffer.concat([Buffer.from(`{"about":${JSON.stringify(about)},`), Buffer.from(comparison as string).subarray(1)]);
}

/** Null when the server is too busy and there is time left. */
async function compareUntil(
  { completeness }: Context,
  subject: CompletenessSubject,
  asker: Asker,
  until: number,
): Promise<CompletenessJson | null> {
  try {
    return await completeness.compare(subject, asker);
  } catch (error) {
    if (error instanceof ApiError && error.status === 503 && performance.now() < until) return null;
    throw error;
  }
}

async function runsKept({ store }: Context, subjects: readonly CompletenessSubject[]): Promise<number> {
  let runs = 0;
  for (const { project, build } of subjects) runs += (await store.builds.find(project, build))?.subsets ?? 0;
  return runs;
}

export const completeness = get('/v1/builds/completeness', completenessOfBuild, {
  operationId: 'checkCompleteness',
  tag: 'Builds',
  isOpenToPublic: true,
  summary: 'Check that every test file of a build was run and recorded.',
  description: 'For the last step of a CI run, after all nodes.',
  query: 'CompletenessQuery',
  responses: {
    '200': response('The build is complete.', { schemas: ['CompletenessAnswer'] }),
    '409': response('The build is not complete.', { schemas: ['CompletenessAnswer'] }),
    ...mergeResponses,
  },
});
