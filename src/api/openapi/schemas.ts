import typia from 'typia';
import type { ValidationErrors } from '../../http/api-error.js';
import type { BuildDetail, BuildsPage, BuildsQuery } from '../messages/build.js';
import type { NodeKey } from '../messages/build-key.js';
import type { BuildSubsetMessage } from '../messages/build-subset.js';
import type { CompletenessAnswer, CompletenessQuery } from '../messages/completeness.js';
import type { MinutesAnswer } from '../messages/insight/minutes.js';
import type {
  BuildLinesQuery,
  BuildTrendQuery,
  CiRunQuery,
  FileHistoryQuery,
  FileTrendsQuery,
  NodeTrendsQuery,
  WhyQuery,
} from '../messages/insight/queries.js';
import type { ForecastAnswer, TimelineAnswer, TraceAnswer } from '../messages/insight/timeline.js';
import type { BuildLines, BuildTrend, FileHistory, FileTrends, NodeTrends } from '../messages/insight/trends.js';
import type { PlanAnswer, PlanMessage, WhatIfAnswer, WhatIfQuery } from '../messages/insight/what-if.js';
import type { WhyAnswer } from '../messages/insight/why.js';
import type { ConnectFailed, QueueAnswer, QueueMessage } from '../messages/queue.js';
import type { LastDistribution, SplitAnswer, SplitMessage, SplitMiss } from '../messages/split.js';
import type { TestPathsAnswer, TestPathsQuery } from '../messages/test-paths.js';
import type { TestQueueAnswer, TestQueueMessage } from '../messages/test-queue.js';

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

/** A query parameter in OpenAPI. */
export interface Parameter {
  name: string;
  in: 'query';
  required: boolean;
  schema: object;
}

/** Schemas of all bodies and queries, generated from the types that validate requests. */
const { schemas: allSchemas } = typia.json.schemas<
  [
    BuildSubsetMessage,
    SplitMessage,
    SplitAnswer,
    SplitMiss,
    LastDistribution,
    NodeKey,
    QueueMessage,
    QueueAnswer,
    ConnectFailed,
    TestQueueMessage,
    TestQueueAnswer,
    TestPathsQuery,
    TestPathsAnswer,
    BuildsQuery,
    BuildsPage,
    BuildDetail,
    CompletenessQuery,
    CompletenessAnswer,
    WhyQuery,
    WhyAnswer,
    BuildLinesQuery,
    BuildLines,
    BuildTrendQuery,
    BuildTrend,
    FileTrendsQuery,
    FileTrends,
    FileHistoryQuery,
    FileHistory,
    NodeTrendsQuery,
    NodeTrends,
    WhatIfQuery,
    WhatIfAnswer,
    PlanMessage,
    PlanAnswer,
    CiRunQuery,
    MinutesAnswer,
    TimelineAnswer,
    ForecastAnswer,
    TraceAnswer,
    Errors,
    Invalid,
    Message,
    Health,
  ],
  '3.1'
>().components as { schemas: Record<string, Schema> };

/** Defaults of optional parameters. They go into the descriptions, because client generators require parameters that have a `default`. */
const defaults: Record<string, Record<string, unknown>> = {
  SplitMessage: { fixed_test_suite_split: true },
  QueueMessage: { fixed_queue_split: false, skip_pull: false },
  BuildsQuery: { page: 1 },
  CompletenessQuery: { wait: 0 },
  PlanMessage: { mode: 'queue' },
};
for (const [name, values] of Object.entries(defaults)) {
  const schema = allSchemas[name]!;
  schema.required = schema.required!.filter(property => !(property in values));
  for (const [property, value] of Object.entries(values)) {
    const { description } = schema.properties![property]!;
    schema.properties![property]!.description = `${description ? `${description} ` : ''}Default: ${String(value)}.`;
  }
}

const isQuery = (name: string) => name === 'NodeKey' || name.endsWith('Query');

/** Schemas of bodies, by name. */
export const schemas = Object.fromEntries(Object.entries(allSchemas).filter(([name]) => !isQuery(name)));

/** Returns the parameters of a query. Queries have no schema in the document. */
export function parametersOf(query: string): Parameter[] {
  const { properties = {}, required = [] } = allSchemas[query]!;
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: required.includes(name), schema }));
}
