import typia from 'typia';
import type * as dsse from '../../../base/dsse.js';
import type * as comparison from '../../../protocol/answers/comparison.js';
import type * as completenessAnswer from '../../../protocol/answers/completeness.js';
import type * as flaky from '../../../protocol/answers/flaky.js';
import type * as minutes from '../../../protocol/answers/minutes.js';
import type * as proofAnswer from '../../../protocol/answers/proof.js';
import type * as timeline from '../../../protocol/answers/timeline.js';
import type * as trends from '../../../protocol/answers/trends.js';
import type * as whatIfAnswer from '../../../protocol/answers/what-if.js';
import type * as why from '../../../protocol/answers/why.js';
import type * as build from '../../../protocol/messages/build.js';
import type * as cases from '../../../protocol/messages/cases.js';
import type * as completeness from '../../../protocol/messages/completeness.js';
import type * as parameters from '../../../protocol/messages/parameters.js';
import type * as whatIf from '../../../protocol/messages/plan.js';
import type * as proof from '../../../protocol/messages/proof.js';
import type * as queries from '../../../protocol/messages/queries.js';
import type * as queue from '../../../protocol/messages/queue.js';
import type * as split from '../../../protocol/messages/split.js';
import type { ValidationErrors } from '../../http/api-error.js';

/** Why a request was refused, and what to do. */
interface Errors {
  errors: string[];
}

/** Why a request is invalid, by parameter. */
interface Invalid {
  errors: ValidationErrors[];
}

interface Message {
  message: string;
}

interface Health {
  status: 'ok' | 'ready';
}

interface Schema {
  properties?: Record<string, { description?: string }>;
  required?: string[];
}

/** Schemas of all bodies and queries, generated from the types that validate requests. */
const { schemas: allSchemas } = typia.json.schemas<
  [
    build.BuildSubsetMessage,
    split.SplitMessage,
    split.SplitAnswer,
    split.SplitMiss,
    split.LastDistribution,
    parameters.NodeKey,
    queue.QueueMessage,
    queue.QueueAnswer,
    queue.ConnectFailed,
    queue.TestQueueMessage,
    queue.TestQueueAnswer,
    queue.HeartbeatMessage,
    queue.HeartbeatAnswer,
    queue.CancelMessage,
    queue.CancelAnswer,
    cases.TestCasesMessage,
    cases.TestCasesAnswer,
    queue.TestPathsQuery,
    queue.TestPathsAnswer,
    build.BuildsQuery,
    build.BuildsPage,
    build.BuildDetail,
    completeness.CompletenessQuery,
    completenessAnswer.CompletenessAnswer,
    proof.ProofQuery,
    proofAnswer.ProofAnswer,
    proofAnswer.ReceiptKeysAnswer,
    dsse.Envelope,
    queries.WhyQuery,
    why.WhyAnswer,
    queries.BuildLinesQuery,
    trends.BuildLines,
    queries.BuildTrendQuery,
    trends.BuildTrend,
    queries.FileTrendsQuery,
    trends.FileTrends,
    queries.FileHistoryQuery,
    trends.FileHistory,
    queries.FlakyQuery,
    flaky.FlakyAnswer,
    queries.NodeTrendsQuery,
    trends.NodeTrends,
    whatIf.WhatIfQuery,
    whatIfAnswer.WhatIfAnswer,
    whatIf.NodeCountsQuery,
    whatIfAnswer.NodeCountsAnswer,
    whatIf.PlanMessage,
    whatIfAnswer.PlanAnswer,
    queries.CiRunQuery,
    minutes.MinutesAnswer,
    timeline.TimelineAnswer,
    timeline.ForecastAnswer,
    queries.ComparisonQuery,
    comparison.ComparisonAnswer,
    queries.TraceQuery,
    timeline.TraceAnswer,
    timeline.OtlpTraceAnswer,
    Errors,
    Invalid,
    Message,
    Health,
  ],
  '3.1'
>().components as { schemas: Record<string, Schema> };

// A property with a default is not required. The default is in the description, because client generators require properties that have a `default`.
for (const schema of Object.values(allSchemas)) {
  const { properties = {}, required } = schema;
  if (required) schema.required = required.filter(name => !/(^|\. )Default: [^ ]+\.$/.test(properties[name]?.description ?? ''));
}

const isQuery = (name: string) => name === 'NodeKey' || name.endsWith('Query');

/** Schemas of bodies, by name. */
export const schemas = Object.fromEntries(Object.entries(allSchemas).filter(([name]) => !isQuery(name)));

/** Returns the parameters of a query, as OpenAPI has them. Queries have no schema in the document. */
export function parametersOf(query: string): object[] {
  const { properties = {}, required = [] } = allSchemas[query]!;
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: required.includes(name), schema }));
}
