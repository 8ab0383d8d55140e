import typia from 'typia';
import type { LaneAnswer, SpanAnswer, TimelineAnswer } from '../../protocol/answers/timeline.js';
import { accepting, type Checked } from '../client/answers.js';
import type { AnswerParser } from '../client/api.js';

/** The part of TimelineAnswer that tells what the nodes of a CI run were given. */
export type CiRunWork = Pick<TimelineAnswer, 'ci_run' | 'commit_hash' | 'paths' | 'estimates' | 'is_guess'> & {
  nodes: (Pick<LaneAnswer, 'node_index'> & { spans: Pick<SpanAnswer, 'files' | 'failed'>[] })[];
};

const parseWork = accepting<CiRunWork>(200, typia.createIs<Checked<CiRunWork>>() as never);

/** Parses the work of a CI run. `none`: the server has no such build or CI run. */
export const parseWorkOrMiss: AnswerParser<CiRunWork | 'none'> = answer => (answer.status === 404 ? 'none' : parseWork(answer));
