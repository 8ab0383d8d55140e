import type { CompletenessAnswer } from '../api/messages/completeness.js';
import type { Assumptions, PlanAnswer, Variant } from '../api/messages/insight/what-if.js';
import type { ConnectFailed } from '../api/messages/queue.js';
import type { SplitAnswer, SplitMiss } from '../api/messages/split.js';
import type { PlannedTestFile } from '../api/messages/test-file.js';
import type { TestQueueAnswer } from '../api/messages/test-queue.js';
import {
  arrayOf,
  hasShape,
  isBoolean,
  isCount,
  isNonEmptyString,
  isRecord,
  isSeconds,
  isString,
  nullable,
  optional,
  type Predicate,
  recordOf,
  type Shape,
} from '../shapes.js';
import type { Answer, AnswerParser } from './api.js';

/**
 * Parsers for the answers of the protocol. They are written by hand: a compiled typia validator needs typia at run time, which a CI node does
 * not have. They allow additional fields, which a newer server may send.
 */

/** An answer with a code means that there is no split or queue yet. */
function hasCode(body: unknown): boolean {
  return isRecord(body) && 'code' in body;
}

/** Accepts the files of a node, unless the split was made from another list. Older servers do not name the list. */
export function splitParser(node_index: number, digest: string): AnswerParser<SplitAnswer> {
  return ({ status, body }) =>
    status === 200 && isSplit(body) && body.node_index === node_index && (body.test_files_digest ?? digest) === digest ? body : null;
}

/** For a request without the list of test files. */
export function splitOrMissParser(node_index: number, digest: string): AnswerParser<SplitAnswer | SplitMiss> {
  return answer => (answer.status === 200 && isSplitMiss(answer.body) ? answer.body : splitParser(node_index, digest)(answer));
}

function isSplitMiss(body: unknown): body is SplitMiss {
  return hasShape<SplitMiss>(body, { code: code => code === 'TEST_SUITE_SPLIT_CACHE_MISS' }) && !('test_files' in body);
}

function isSplit(body: unknown): body is SplitAnswer {
  const file = recordOf<PlannedTestFile>({ path: isNonEmptyString, time_execution: nullable(isSeconds) });
  return (
    !hasCode(body) &&
    hasShape<SplitAnswer>(body, {
      build_distribution_id: isNonEmptyString,
      node_index: isCount,
      test_files: arrayOf(file),
      test_files_digest: optional(isString),
    })
  );
}

/** Accepts a batch with the times of its files, or the end of the queue. */
export function parseBatch({ status, body }: Answer): TestQueueAnswer | null {
  return status === 200 && isBatch(body) ? body : null;
}

/** For a request that attempts to connect. */
export function parseBatchOrMiss(answer: Answer): TestQueueAnswer | ConnectFailed | null {
  const { status, body } = answer;
  return status === 200 && isConnectFailed(body) ? body : parseBatch(answer);
}

/**
 * Rejects the answer to another pull: a cache, or a proxy that mixes up answers, must not end a queue. Older servers do not name the pull.
 */
export function pullParser<T extends TestQueueAnswer | ConnectFailed>(
  node_uuid: string,
  batch_index: number,
  parse: AnswerParser<T>,
): AnswerParser<T> {
  return answer => {
    const accepted = parse(answer);
    if (!accepted || 'code' in accepted) return accepted;
    const { node_uuid: node = node_uuid, batch_index: batch = batch_index } = accepted;
    return node === node_uuid && batch === batch_index ? accepted : null;
  };
}

function isConnectFailed(body: unknown): body is ConnectFailed {
  const isCode: Predicate = code => code === 'ATTEMPT_CONNECT_TO_QUEUE_FAILED';
  return hasShape<ConnectFailed>(body, { code: isCode, message: isString, queue_name: optional(nullable(isString)) }) && !('paths' in body);
}

function isBatch(body: unknown): body is TestQueueAnswer {
  const shape: Shape<TestQueueAnswer> = {
    paths: arrayOf(isNonEmptyString),
    batch_id: nullable(isCount),
    times: optional(arrayOf(nullable(isSeconds))),
    node_uuid: optional(isString),
    batch_index: optional(isCount),
    url: optional(isString),
  };
  if (hasCode(body) || !hasShape(body, shape)) return false;
  const { paths, batch_id, times } = body;
  const isEnd = paths.length === 0;
  return isEnd === (batch_id === null) && (times?.length ?? 0) === paths.length;
}

/** The result of recording a run. */
export interface RecordingResult {
  /** False if the server keeps no more runs of this node. */
  isStored: boolean;
  message: string | null;
}

export function parseRecording({ status, body }: Answer): RecordingResult | null {
  const message = hasShape<{ message: string }>(body, { message: isString }) ? body.message : null;
  if (status === 201 && (body === undefined || message !== null)) return { isStored: true, message };
  return status === 202 && message ? { isStored: false, message } : null;
}

type RequiredList = 'never_handed_out' | 'handed_out_not_recorded';
type RequiredField = 'is_complete' | 'kind' | 'test_files' | 'recorded' | 'errors' | 'warnings' | RequiredList;
/** The other lists are optional: older servers do not send them. */
export type Completeness = Pick<CompletenessAnswer, RequiredField> & Partial<CompletenessAnswer>;

/** @param expectedKind what the id in the request belongs to; null: to either */
export function completenessParser(expectedKind: Completeness['kind']): AnswerParser<Completeness> {
  return ({ status, body }) => {
    if ((status !== 200 && status !== 409) || !isCompleteness(body)) return null;
    const { is_complete, kind, test_files, recorded, errors, never_handed_out, handed_out_not_recorded, ran_not_recorded } = body;
    if (is_complete !== (status === 200) || is_complete !== (errors.length === 0) || recorded > test_files) return null;
    if (kind !== null && expectedKind !== null && kind !== expectedKind) return null;
    if (!is_complete) return body;
    const isUnexplained = recorded < test_files && ran_not_recorded?.length === 0;
    return kind === null || isUnexplained || never_handed_out.length > 0 || handed_out_not_recorded.length > 0 ? null : body;
  };
}

function isCompleteness(body: unknown): body is Completeness {
  const nodeFile = { path: isNonEmptyString, node_index: isCount };
  return hasShape<Completeness>(body, {
    is_complete: isBoolean,
    kind: nullable(kind => kind === 'queue' || kind === 'split'),
    test_files: isCount,
    recorded: isCount,
    about: optional(isRecord),
    errors: arrayOf(isString),
    may_be_empty: optional(isBoolean),
    warnings: arrayOf(isString),
    never_handed_out: arrayOf(recordOf({ path: isNonEmptyString })),
    handed_out_not_recorded: arrayOf(recordOf({ ...nodeFile, handed_out_at: nullable(isString) })),
    ran_not_recorded: optional(arrayOf(recordOf(nodeFile))),
    handed_on: optional(arrayOf(recordOf(nodeFile))),
    recorded_twice: optional(arrayOf(recordOf({ path: isNonEmptyString, node_indexes: arrayOf(isCount) }))),
    recorded_not_handed_out: optional(arrayOf(recordOf(nodeFile))),
    recorded_without_time: optional(arrayOf(recordOf({ path: isNonEmptyString }))),
    nodes_never_came: optional(arrayOf(isCount)),
  });
}

export function parsePlan({ status, body }: Answer): PlanAnswer | null {
  return status === 200 && isPlan(body) ? body : null;
}

function isPlan(body: unknown): body is PlanAnswer {
  const longest: Shape<PlanAnswer['longest'] & object> = { path: isNonEmptyString, seconds: isSeconds };
  const variant: Shape<Variant> = {
    nodes: isCount,
    wall: isSeconds,
    node_seconds: isSeconds,
    floor: isSeconds,
    ratio: isSeconds,
    bound_by_file: isBoolean,
    measured: nullable(isSeconds),
  };
  const shape: Shape<PlanAnswer> = {
    assumptions: value => hasShape<Pick<Assumptions, 'sentences'>>(value, { sentences: arrayOf(isString) }),
    files: isCount,
    unknown_files: isCount,
    total: isSeconds,
    variants: arrayOf(recordOf(variant)),
    useful_nodes: isCount,
    longest: nullable(recordOf(longest)),
    nodes_within: nullable(isCount),
  };
  return hasShape(body, shape) && body.variants.length > 0;
}

/** One page of builds, from this server or another one. */
export interface BuildList {
  data: { id: string; created_at?: string | null }[];
  meta?: { is_last_page?: boolean } | null;
}

export function parseBuildList({ status, body }: Answer): BuildList | null {
  const build = recordOf({ id: isNonEmptyString, created_at: optional(nullable(isString)) });
  const meta = recordOf({ is_last_page: optional(isBoolean) });
  return status === 200 && hasShape<BuildList>(body, { data: arrayOf(build), meta: optional(nullable(meta)) }) ? body : null;
}
