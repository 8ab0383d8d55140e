import type { MinutesAnswer } from '../api/messages/insight/minutes.js';
import { arrayOf, hasShape, isBoolean, isCount, isNonEmptyString, isSeconds, isString, nullable, recordOf } from '../shapes.js';
import type { AnswerParser } from './api.js';

/** What a summary needs of MinutesAnswer. */
export type BuildMinutes = Pick<
  MinutesAnswer,
  | 'build_id'
  | 'ci_run'
  | 'kind'
  | 'commit_hash'
  | 'branch'
  | 'node_total'
  | 'is_running'
  | 'wall'
  | 'floor'
  | 'parts'
  | 'verdict'
  | 'assumptions'
  | 'slowest'
  | 'failed'
  | 'missing'
  | 'missing_count'
  | 'files'
  | 'other_ci_runs'
>;

export const parseMinutes: AnswerParser<BuildMinutes> = ({ status, body }) => (status === 200 && isMinutes(body) ? body : null);

/** The same, or that the server has no such build. */
export const parseMinutesOrMiss: AnswerParser<BuildMinutes | 'none'> = answer => (answer.status === 404 ? 'none' : parseMinutes(answer));

function isMinutes(body: unknown): body is BuildMinutes {
  const blamed = recordOf({ node_index: isCount, seconds: isSeconds });
  return hasShape<BuildMinutes>(body, {
    build_id: nullable(isNonEmptyString),
    ci_run: nullable(isString),
    kind: kind => kind === 'queue' || kind === 'split' || kind === 'recordings',
    commit_hash: isNonEmptyString,
    branch: isNonEmptyString,
    node_total: isCount,
    is_running: isBoolean,
    wall: isSeconds,
    floor: isSeconds,
    parts: arrayOf(recordOf({ name: isNonEmptyString, seconds: isSeconds, definition: isString, nodes: arrayOf(blamed) })),
    verdict: isString,
    assumptions: arrayOf(isString),
    slowest: arrayOf(
      recordOf({ path: isNonEmptyString, seconds: isSeconds, estimate: nullable(isSeconds), is_guess: isBoolean, node_index: isCount }),
    ),
    failed: arrayOf(isNonEmptyString),
    missing: arrayOf(recordOf({ path: isNonEmptyString, node_index: nullable(isCount) })),
    missing_count: isCount,
    files: isCount,
    other_ci_runs: arrayOf(recordOf({ ci_run_id: isNonEmptyString, ci_run: isString })),
  });
}
