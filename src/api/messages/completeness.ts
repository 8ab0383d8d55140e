import typia, { type tags } from 'typia';
import type { limits } from '../../limits.js';
import type { Count, Timestamp } from '../../scalars.js';
import type { BuildKey } from './build-key.js';
import type { NodeTotal, Text } from './text.js';
import { PARAMETER_REQUIRED, reader } from './validation.js';

/** Query of GET /builds/completeness */
export interface CompletenessQuery extends Omit<BuildKey, 'node_total'> {
  /** Missing: every build of this commit and branch that the named CI run has. */
  node_total?: NodeTotal;
  /** Id of the queue. Without any id, the newest queue or fixed split of the build counts. */
  node_build_id?: Text;
  /** The same as node_build_id, for newer clients. */
  test_queue_id?: Text;
  /** The split with this id, or else the fixed split. */
  ci_build_id?: Text;
  /** A file that was recorded with a time of 0 only counts as run. */
  allow_empty: boolean;
  /** The answer repeats it, so that a client recognizes the answer to its request. */
  request_id?: Text;
  /** Seconds to wait for an incomplete build. Default: 0. */
  wait: number & tags.Type<'int64'> & tags.Minimum<0> & tags.Maximum<typeof limits.completenessWaitSeconds>;
}

/** Tells whether every test file of a build was run and recorded. Each list has at most 1,000 entries. */
export interface CompletenessAnswer {
  about: AnsweredSubject;
  is_complete: boolean;
  /** Null: the build has neither. */
  kind: 'queue' | 'split' | null;
  test_files: Count;
  recorded: Count;
  /** Why the build is not complete, and what to do. Empty if it is complete. */
  errors: string[];
  /**
   * The only reason is the files in handed_out_not_recorded and recorded_without_time, all of which are listed, and their nodes recorded
   * others: they may have nothing to run.
   */
  may_be_empty: boolean;
  /** Problems that do not make the build incomplete. */
  warnings: string[];
  /** Test files that are still in the queue. */
  never_handed_out: { path: string }[];
  handed_out_not_recorded: HandedOut[];
  /** Test files that their node reported as run, without recording them. */
  ran_not_recorded: { path: string; node_index: Count }[];
  /** Test files that went to another node, because theirs was silent for too long or restarted. */
  handed_on: { path: string; node_index: Count }[];
  /** Test files that several nodes recorded. */
  recorded_twice: { path: string; node_indexes: Count[] }[];
  /** Test files recorded by a node that did not get them, such as one in fallback. */
  recorded_not_handed_out: { path: string; node_index: Count }[];
  /** Test files recorded only with time 0, and not as run: scheduled, and perhaps not run. */
  recorded_without_time: { path: string; node_index: Count }[];
  /** Nodes that neither pulled from the queue nor recorded anything. */
  nodes_never_came: Count[];
}

/** What an answer is about: the project of the token, and the parameters of the request. */
export interface AnsweredSubject extends Omit<BuildKey, 'node_total'> {
  project: string;
  node_total: number | null;
  node_build_id: string | null;
  ci_build_id: string | null;
  allow_empty: boolean;
  request_id: string | null;
}

export interface HandedOut {
  path: string;
  node_index: Count;
  /** Null for a split, which is planned in advance. */
  handed_out_at: Timestamp | null;
}

export const toCompletenessQuery = reader(typia.misc.literals<keyof CompletenessQuery>(), typia.createValidate<CompletenessQuery>(), {
  complete(parameters) {
    parameters.wait ??= 0;
    parameters.allow_empty ??= false;
    // A CI step may send the ids that its system does not have as empty strings.
    for (const name of ['node_build_id', 'test_queue_id', 'ci_build_id']) if (parameters[name] === '') delete parameters[name];
    parameters.node_build_id ??= parameters.test_queue_id;
    delete parameters.test_queue_id;
  },
  check({ node_build_id, ci_build_id, node_total }) {
    if (node_build_id !== undefined && ci_build_id !== undefined) return { ci_build_id: ['must not be sent together with node_build_id'] };
    return (node_build_id ?? ci_build_id ?? node_total) === undefined ? { node_total: [PARAMETER_REQUIRED] } : {};
  },
});
