import typia from 'typia';
import type { BuildDetail, BuildsPage, BuildsQuery } from './build.js';
import type { NodeKey } from './build-key.js';
import type { BuildSubsetMessage } from './build-subset.js';
import type { CompletenessAnswer, CompletenessQuery } from './completeness.js';
import type { ConnectFailed, QueueAnswer, QueueMessage } from './queue.js';
import type { LastDistribution, SplitAnswer, SplitMessage, SplitMiss } from './split.js';
import type { TestPathsAnswer, TestPathsQuery } from './test-paths.js';
import type { TestQueueAnswer, TestQueueMessage } from './test-queue.js';

/** Sentences; of a 422 one object with messages by parameter. */
interface Errors {
  errors: (string | Record<string, unknown>)[];
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

/** The schemas of all bodies and queries, made from their types. */
const { schemas } = typia.json.schemas<
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
  const schema = schemas[name]!;
  schema.required = schema.required!.filter(property => !(property in values));
  for (const [property, value] of Object.entries(values)) {
    const { description } = schema.properties![property]!;
    schema.properties![property]!.description = `${description ? `${description} ` : ''}Default: ${String(value)}.`;
  }
}

const of = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const answer = (description: string, ...names: string[]) => {
  const schema = names.length === 1 ? of(names[0]!) : { oneOf: names.map(of) };
  return { description, content: { 'application/json': { schema } } };
};
const refused = (description: string) => answer(description, 'Errors');

const busy = {
  ...refused('too much at once, or the disk takes no more: nothing has changed; try again'),
  headers: { 'Retry-After': { description: 'seconds', schema: { type: 'integer' } } },
};
const unauthorized = refused('the test-suite token is missing, unknown or revoked');
const invalid = refused('what is wrong, by parameter');

/** An operation that takes a body. */
function post(summary: string, body: string, responses: Record<string, object>): object {
  return {
    summary,
    requestBody: { required: true, content: { 'application/json': { schema: of(body) } } },
    responses: {
      ...responses,
      '400': refused('no JSON'),
      '403': unauthorized,
      '408': refused('the body took too long'),
      '413': refused('the body is too large'),
      '415': refused('the body is said to be something else than JSON'),
      '422': invalid,
      '503': busy,
    },
  };
}

/** An operation that takes a query. */
function get(summary: string, query: string, responses: Record<string, object>): object {
  const { properties = {}, required = [] } = schemas[query]!;
  const parameters = Object.entries(properties).map(([name, schema]) => ({ name, in: 'query', required: required.includes(name), schema }));
  return { summary, parameters, responses: { ...responses, '403': unauthorized, '422': invalid, '503': busy } };
}

const paths = {
  '/v1/build_subsets': {
    post: post('Record what one node ran.', 'BuildSubsetMessage', {
      '201': { ...answer('on disk; with a message where the client is outdated, else without a body', 'Message') },
      '202': answer('the node was retried too often; this run is not kept', 'Message'),
    }),
  },
  '/v1/build_distributions/subset': {
    post: post('The test files of one node, regular mode.', 'SplitMessage', { '200': answer('a split, or that there is none yet', 'SplitAnswer', 'SplitMiss') }),
  },
  '/v1/build_distributions/last': {
    get: get('What was recorded for the closest earlier build.', 'NodeKey', { '200': answer('all files of that build', 'LastDistribution') }),
  },
  '/v1/queues/queue': {
    post: post("Connect to a build's queue, create it, or pull the next batch.", 'QueueMessage', {
      '200': answer('a batch, none at the end, or that there is no queue yet', 'QueueAnswer', 'ConnectFailed'),
    }),
  },
  '/v2/queues/queue': {
    post: post('The same queues, for clients that tell what became of each batch.', 'TestQueueMessage', {
      '200': answer('a batch, none at the end, or that there is no queue yet', 'TestQueueAnswer', 'ConnectFailed'),
    }),
  },
  '/v2/test_paths': { get: get('What failed in the newest build of a branch.', 'TestPathsQuery', { '200': answer('all of it', 'TestPathsAnswer') }) },
  '/v1/builds': { get: get('Recorded builds, newest first.', 'BuildsQuery', { '200': answer('a page', 'BuildsPage') }) },
  '/v1/builds/{id}': {
    get: {
      summary: 'A build with every recorded run.',
      parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'string', format: 'uuid' } }],
      responses: { '200': answer('the build', 'BuildDetail'), '403': unauthorized, '404': refused('there is no such build'), '503': busy },
    },
  },
  '/v1/builds/completeness': {
    get: get('Whether every test file of a build was run and recorded.', 'CompletenessQuery', {
      '200': answer('all were', 'CompletenessAnswer'),
      '409': answer('not all were', 'CompletenessAnswer'),
    }),
  },
  '/healthz': { get: { summary: 'The process is up.', security: [], responses: { '200': answer('it is', 'Health') } } },
  '/readyz': {
    get: { summary: 'The store takes writes.', security: [], responses: { '200': answer('it does', 'Health'), '503': refused('it does not') } },
  },
};

/** The description of the API as OpenAPI 3.1 has it. */
export function openApi(version: string, tokenHeader: string): object {
  return {
    openapi: '3.1.0',
    info: { title: 'Ballast', version, description: 'Splits test suites over parallel CI nodes by recorded times. Times are in seconds.', license: { name: 'MIT', identifier: 'MIT' } },
    servers: [{ url: '/' }],
    security: [{ testSuiteToken: [] }],
    paths,
    components: { schemas, securitySchemes: { testSuiteToken: { type: 'apiKey', in: 'header', name: tokenHeader } } },
  };
}
