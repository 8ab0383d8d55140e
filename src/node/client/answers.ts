import typia, { type tags } from 'typia';
import type { Envelope } from '../../base/dsse.js';
import type { ComparisonAnswer } from '../../protocol/answers/comparison.js';
import type { CompletenessAnswer } from '../../protocol/answers/completeness.js';
import type { MinutePartAnswer, MinutesAnswer } from '../../protocol/answers/minutes.js';
import type { ProofAnswer, ReceiptKeysAnswer } from '../../protocol/answers/proof.js';
import type { Assumptions, PlanAnswer } from '../../protocol/answers/what-if.js';
import type { ConnectFailed, QueueForecast, TestQueueAnswer } from '../../protocol/messages/queue.js';
import type { SplitAnswer, SplitMiss } from '../../protocol/messages/split.js';
import type { Answer, AnswerParser } from './api.js';

/** Parsers for the answers of the protocol. They allow additional fields, which a newer server may send. */

type Count = number & tags.Minimum<0> & tags.MultipleOf<1> & tags.Maximum<9007199254740991>;
type Seconds = number & tags.Minimum<0>;
type Name = string & tags.MinLength<1>;

/**
 * The checked part of a message: that of its tags for which compiled code needs no typia, which a CI node does not have. Numbers without a tag are
 * seconds.
 */
export type Checked<T> = T extends unknown
  ? 'typia.tag' extends keyof T
    ? T extends string
      ? Name
      : Count
    : number extends T
      ? Seconds
      : T extends readonly (infer Item)[]
        ? Checked<Item>[]
        : T extends object
          ? { [Field in keyof T]: Checked<T[Field]> }
          : T
  : never;

/** A check of a body, whose message has stricter types. */
type Is<T> = (body: unknown) => body is T;

export const accepting =
  <T>(accepted: number, is: Is<T>): AnswerParser<T> =>
  ({ status, body }) =>
    status === accepted && is(body) ? body : null;

/** An answer with a code means that there is no split or queue yet. */
function hasCode(body: unknown): boolean {
  return typeof body === 'object' && body !== null && 'code' in body;
}

/** Accepts the files of a node, unless the split was made from another list. */
export function splitParser(node_index: number, digest: string): AnswerParser<SplitAnswer> {
  return ({ status, body }) =>
    status === 200 && isSplit(body) && body.node_index === node_index && body.test_files_digest === digest ? body : null;
}

/** For a request without the list of test files. */
export function splitOrMissParser(node_index: number, digest: string): AnswerParser<SplitAnswer | SplitMiss> {
  return answer => (answer.status === 200 && isSplitMiss(answer.body) ? answer.body : splitParser(node_index, digest)(answer));
}

const isMiss = typia.createIs<SplitMiss>();
const isSplitShape: Is<SplitAnswer> = typia.createIs<
  Checked<Omit<SplitAnswer, 'test_files'>> & { test_files: { path: Name; time_execution: Seconds | null }[] }
>() as never;

const isSplitMiss = (body: unknown): body is SplitMiss => isMiss(body) && !('test_files' in body);
const isSplit = (body: unknown): body is SplitAnswer => !hasCode(body) && isSplitShape(body);

const isConnectFailedShape: Is<ConnectFailed> = typia.createIs<Checked<ConnectFailed>>() as never;
const isConnectFailed = (body: unknown): body is ConnectFailed => isConnectFailedShape(body) && !('paths' in body);

/** Accepts a batch with the times of its files, or the end of the queue. */
export const parseBatch = accepting(200, isBatch);

/** For a request that attempts to connect: accepts also that there is no queue. */
export const parseBatchOrMiss = accepting(200, (body): body is TestQueueAnswer | ConnectFailed => isConnectFailed(body) || isBatch(body));

/** Rejects the answer to another pull: a cache, or a proxy that mixes up answers, must not end a queue. */
export function pullParser<T extends TestQueueAnswer | ConnectFailed>(
  node_uuid: string,
  batch_index: number,
  parse: AnswerParser<T>,
): AnswerParser<T> {
  return answer => {
    const accepted = parse(answer);
    if (!accepted || 'code' in accepted) return accepted;
    return accepted.node_uuid === node_uuid && accepted.batch_index === batch_index ? accepted : null;
  };
}

const isBatchShape: Is<TestQueueAnswer> = typia.createIs<
  Checked<Omit<TestQueueAnswer, 'paths' | 'forecast'>> & { paths: Name[] }
>() as never;

/** A forecast only informs: a batch counts without it, and with one of a newer server. */
export const isForecast: Is<QueueForecast> = typia.createIs<Checked<QueueForecast>>() as never;

function isBatch(body: unknown): body is TestQueueAnswer {
  if (hasCode(body) || !isBatchShape(body)) return false;
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

const hasMessage = typia.createIs<{ message: string }>();

export function parseRecording({ status, body }: Answer): RecordingResult | null {
  const message = hasMessage(body) ? body.message : null;
  if (status === 201 && (body === undefined || message !== null)) return { isStored: true, message };
  return status === 202 && message ? { isStored: false, message } : null;
}

/** @param expectedKind what the id in the request belongs to; null: to either */
export function completenessParser(expectedKind: CompletenessAnswer['kind']): AnswerParser<ReceivedCompleteness> {
  return ({ status, body }) => {
    if ((status !== 200 && status !== 409) || !isCompleteness(body)) return null;
    const { is_complete, kind, test_files, recorded, errors, never_handed_out, handed_out_not_recorded, ran_not_recorded } = body;
    if (is_complete !== (status === 200) || is_complete !== (errors.length === 0) || recorded > test_files) return null;
    if (kind !== null && expectedKind !== null && kind !== expectedKind) return null;
    if (!is_complete) return body;
    const isUnexplained = recorded < test_files && ran_not_recorded.length === 0;
    return kind === null || isUnexplained || never_handed_out.length > 0 || handed_out_not_recorded.length > 0 ? null : body;
  };
}

/** The subject of an answer is compared with the request, field by field: an answer about nothing proves nothing. */
export type ReceivedCompleteness = Omit<CompletenessAnswer, 'about'> & { about?: Partial<CompletenessAnswer['about']> };
const isCompleteness: Is<ReceivedCompleteness> = typia.createIs<Checked<Omit<CompletenessAnswer, 'about'>> & { about?: object }>() as never;

/** As ReceivedCompleteness. */
export type ReceivedProof = Omit<ProofAnswer, 'about'> & { about?: Partial<ProofAnswer['about']> };
const isProof: Is<ReceivedProof> = typia.createIs<Checked<Omit<ProofAnswer, 'about'>> & { about?: object }>() as never;

export const parseProof: AnswerParser<ReceivedProof> = ({ status, body }) =>
  status === 200 && isProof(body) && body.is_proved === (body.reason === null) && (!body.is_proved || body.ci_run !== null) ? body : null;

const isEnvelope = typia.createIs<Envelope>();

/** A receipt; 'none': there is no such build or CI run. */
export const parseReceipt: AnswerParser<Envelope | 'none'> = ({ status, body }) =>
  status === 404 ? 'none' : status === 200 && isEnvelope(body) ? body : null;

export const parseReceiptKeys = accepting<ReceiptKeysAnswer>(200, typia.createIs<Checked<ReceiptKeysAnswer>>() as never);

/** The used part of the answer. */
type UsedPlan = Omit<PlanAnswer, 'assumptions'> & { assumptions: Pick<Assumptions, 'sentences'> };
const isPlanShape: Is<UsedPlan> = typia.createIs<Checked<UsedPlan>>() as never;

export const parsePlan = accepting(200, (body): body is PlanAnswer => isPlanShape(body) && body.variants.length > 0);
const wantsTestFiles = accepting(422, typia.createIs<{ errors: [{ test_files: string[] }] }>());

/** The answer to a plan of the newest build, when the project has none. */
export const NO_BUILD = Symbol('no build');

export const parsePlanOfBuild: AnswerParser<PlanAnswer | typeof NO_BUILD> = answer =>
  parsePlan(answer) ?? (wantsTestFiles(answer) && NO_BUILD);

/** The recorded files of the closest earlier build; none before the first build. */
export const parseLastRecording = accepting<{ test_files: { path: Name }[] }>(
  200,
  typia.createIs<Checked<{ test_files: { path: Name }[] }>>() as never,
);

/** One page of builds, from this server or another one. */
export interface BuildList {
  data: { id: Name; created_at?: string | null }[];
  meta?: { is_last_page?: boolean } | null;
}

export const parseBuildList = accepting<BuildList>(200, typia.createIs<Checked<BuildList>>() as never);

/** The part of MinutesAnswer that a summary needs. */
export type BuildMinutes = { parts: (Omit<MinutePartAnswer, 'name'> & { name: string })[] } & Pick<
  MinutesAnswer,
  | 'build_id'
  | 'ci_run_id'
  | 'ci_run'
  | 'kind'
  | 'commit_hash'
  | 'branch'
  | 'node_total'
  | 'is_running'
  | 'wall'
  | 'price'
  | 'floor'
  | 'verdict'
  | 'assumptions'
  | 'slowest'
  | 'failed'
  | 'missing'
  | 'missing_count'
  | 'files'
  | 'other_ci_runs'
> & {
    /** Missing: the server is older. */
    nodes?: (Pick<MinutesAnswer['nodes'][number], 'node_index' | 'end'> & { job_url?: string | null })[];
  };

export const parseMinutes = accepting<BuildMinutes>(200, typia.createIs<Checked<BuildMinutes>>() as never);

/** The same, or that the server has no such build. */
export const parseMinutesOrMiss: AnswerParser<BuildMinutes | 'none'> = answer => (answer.status === 404 ? 'none' : parseMinutes(answer));

/** The part of ComparisonAnswer that a summary needs. */
export type ReceivedComparison = Pick<ComparisonAnswer, 'verdict' | 'page'> & { usual: object | null; causes: { path: string | null }[] };

export const parseComparison = accepting<ReceivedComparison>(200, typia.createIs<Checked<ReceivedComparison>>() as never);
