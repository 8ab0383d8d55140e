import typia from 'typia';
import type { ValidationErrors } from '../../api-error.js';
import type { BuildDetail, BuildsPage, BuildsQuery } from '../messages/build.js';
import type { NodeKey } from '../messages/build-key.js';
import type { BuildSubsetMessage } from '../messages/build-subset.js';
import type { CompletenessAnswer, CompletenessQuery } from '../messages/completeness.js';
import type { ConnectFailed, QueueAnswer, QueueMessage } from '../messages/queue.js';
import type { LastDistribution, SplitAnswer, SplitMessage, SplitMiss } from '../messages/split.js';
import type { TestPathsAnswer, TestPathsQuery } from '../messages/test-paths.js';
import type { TestQueueAnswer, TestQueueMessage } from '../messages/test-queue.js';

/** Why a request was refused, and what to do. */
interface Errors {
  errors: string[];
}

/** What is wrong with a request, by parameter. */
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

/** A parameter of a query, as OpenAPI has it. */
export interface Parameter {
  name: string;
  in: 'query';
  required: boolean;
  schema: object;
}

/** Of all bodies and queries, made from the types that requests are checked by. */
const { schemas: all } = typia.json.schemas<
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
    Errors,
    Invalid,
    Message,
    Health,
  ],
  '3.1'
>().components as { schemas: Record<string, Schema> };

/** What may be left out, and stands for this then. Told in words: generators of clients ask for what has a `default`. */
const defaults: Record<string, Record<string, unknown>> = {
  SplitMessage: { fixed_test_suite_split: true },
  QueueMessage: { fixed_queue_split: false, skip_pull: false },
  BuildsQuery: { page: 1 },
  CompletenessQuery: { wait: 0 },
};
for (const [name, values] of Object.entries(defaults)) {
  const schema = all[name]!;
  schema.required = schema.required!.filter(property => !(property in values));
  for (const [property, value] of Object.entries(values)) {
    const { description } = schema.properties![property]!;
    schema.properties![property]!.description = `${description ? `${description} ` : ''}Default: ${String(value)}.`;
  }
}

const isQuery = (name: string) => name === 'NodeKey' || name.endsWith('Query');

/** Of bodies, by name. */
export const schemas = Object.fromEntries(Object.entries(all).filter(([name]) => !isQuery(name)));

/** The parameters of a query, which has no schema of its own. */
export function parametersOf(query: string): Parameter[] {
  const { properties = {}, required = [] } = all[query]!;
  return Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: required.includes(name), schema }));
}
