import typia, { type tags } from 'typia';
import type { limits } from '../../limits.js';
import type { BuildKey } from './build-key.js';
import { coerce, type RawParameters } from './coerce.js';
import type { Count, Text, Timestamp } from './text.js';
import { requireValid } from './validation.js';

/** Query of GET /builds/completeness */
export interface CompletenessQuery extends BuildKey {
  /** The queue of this id; without either id the newest queue or fixed split of the build. */
  node_build_id?: Text;
  /** What newer clients call it. */
  test_queue_id?: Text;
  /** The split of this id, or the fixed one. */
  ci_build_id?: Text;
  /** Seconds that an incomplete build is waited for. */
  wait: number & tags.Type<'int64'> & tags.Minimum<0> & tags.Maximum<typeof limits.completenessWaitSeconds>;
}

/** Whether every test file of a build was run, and recorded. Each list has 1,000 entries at most. */
export interface CompletenessAnswer {
  is_complete: boolean;
  /** Null: neither is known. */
  kind: 'queue' | 'split' | null;
  test_files: Count;
  recorded: Count;
  /** Why it is not complete, and what to do; empty when it is. */
  errors: string[];
  /** What a person should know all the same. */
  warnings: string[];
  /** Still in the queue. */
  never_handed_out: { path: string }[];
  handed_out_not_recorded: HandedOut[];
  /** But its node told that it ran it, and was gone before it recorded. */
  ran_not_recorded: { path: string; node_index: Count }[];
  /** To another, from a node that was silent for too long or began anew. */
  handed_on: { path: string; node_index: Count }[];
  /** By several nodes. */
  recorded_twice: { path: string; node_indexes: Count[] }[];
  /** By a node that it was not handed to: one in fallback. */
  recorded_not_handed_out: { path: string; node_index: Count }[];
  /** With 0 only: scheduled, and perhaps not run. */
  recorded_without_time: { path: string }[];
  /** Took nothing from a queue, and recorded nothing. */
  nodes_never_came: Count[];
}

export interface HandedOut {
  path: string;
  node_index: Count;
  /** Null: a split is planned beforehand. */
  handed_out_at: Timestamp | null;
}

const names = typia.misc.literals<keyof CompletenessQuery>();
const validate = typia.createValidate<CompletenessQuery>();

export function toCompletenessQuery(sent: RawParameters): CompletenessQuery {
  const parameters = coerce(sent, names);
  parameters.wait ??= 0;
  // A CI step names what its system has, and leaves the other empty.
  for (const name of ['node_build_id', 'test_queue_id', 'ci_build_id']) if (parameters[name] === '') delete parameters[name];
  parameters.node_build_id ??= parameters.test_queue_id;
  delete parameters.test_queue_id;
  return requireValid(validate(parameters), ({ node_build_id, ci_build_id }) =>
    node_build_id !== undefined && ci_build_id !== undefined ? { ci_build_id: ['is not to be sent beside node_build_id'] } : {},
  );
}
