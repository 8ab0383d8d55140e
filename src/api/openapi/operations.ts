import { parametersOf } from './schemas.js';

/** Names of schemas, and an example of what they describe. */
interface Content {
  of: readonly string[];
  example?: unknown;
}

const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });
const json = ({ of, example }: Content) => {
  const [first, ...more] = of.map(name => ref('schemas', name));
  return {
    'application/json': { schema: more.length === 0 ? first : { oneOf: [first, ...more] }, ...(example !== undefined && { example }) },
  };
};
const text = (description: string, example: string) => ({ 'text/plain': { schema: { type: 'string', description }, example } });
const headers = (...names: string[]) => ({
  headers: Object.fromEntries(['X-Request-Id', ...names].map(name => [name, ref('headers', name)])),
});

/** An answer with a body. */
const answer = (description: string, content: Content) => ({ description, ...headers(), content: json(content) });
const refused = (description: string, ...more: string[]) => ({ description, ...headers(...more), content: json({ of: ['Errors'] }) });

/** What several operations answer, by name. */
export const sharedResponses = {
  NotJson: refused('The body is not JSON.'),
  NoToken: refused('The test-suite token is missing, unknown or revoked.'),
  TooSlow: refused('The body did not arrive in time.'),
  TooLarge: refused('The body is too large.'),
  NotJsonType: refused('The body is said to be something else than JSON.'),
  Invalid: {
    ...refused('What is wrong, by parameter. Nothing has changed.'),
    content: json({ of: ['Invalid'], example: { errors: [{ node_index: ['must be less than or equal to 1'] }] } }),
  },
  Failed: refused("A fault of the server: its log has more under the request's id."),
  Busy: refused('Too much at once, or the disk takes no more. Nothing has changed: try again.', 'Retry-After'),
};

const shared = (named: Record<string, keyof typeof sharedResponses>) =>
  Object.fromEntries(Object.entries(named).map(([status, name]) => [status, ref('responses', name)]));
const ofAny = shared({ 403: 'NoToken', 500: 'Failed', 503: 'Busy' });
const ofQueries = { ...ofAny, ...shared({ 422: 'Invalid' }) };
const ofManyRuns = {
  '422': {
    ...refused('What is wrong, by parameter; or the build has too much to merge or compare.'),
    content: json({ of: ['Invalid', 'Errors'] }),
  },
};
const ofBodies = { ...ofQueries, ...shared({ 400: 'NotJson', 408: 'TooSlow', 413: 'TooLarge', 415: 'NotJsonType' }) };

const clientHeaders = ['ClientName', 'ClientVersion', 'RetryCount'].map(name => ref('parameters', name));

interface Told {
  operationId: string;
  tag: string;
  summary: string;
  description: string;
}

const operation = ({ operationId, tag, summary, description }: Told, more: object) => ({
  operationId,
  tags: [tag],
  summary,
  description,
  ...more,
});

/** An operation that takes a body. */
const post = (told: Told, body: Content, responses: Record<string, object>, more: Record<string, object> = {}) => ({
  post: operation(told, {
    parameters: clientHeaders,
    requestBody: { required: true, content: json(body) },
    responses: { ...responses, ...more, ...ofBodies },
  }),
});

/** An operation that takes a query. */
const get = (told: Told, query: string, responses: Record<string, object>) => ({
  get: operation(told, { parameters: parametersOf(query), responses: { ...ofQueries, ...responses } }),
});

/** An operation for anybody. */
const open = (told: Told, responses: Record<string, object>) => ({ get: operation(told, { security: [], responses }) });

/** An answer with test files, which a shell may have as lines. */
const handedOut = (content: Content, lines: string, ...more: string[]) => ({
  '200': {
    description: `${lines} A node that gets nothing has nothing (more) to run.`,
    ...headers(...more),
    content: { ...json(content), ...text('A path a line.', 'spec/cart_spec.rb\n') },
  },
  '404': {
    description: 'To `Accept: text/plain` only: there is none yet.',
    ...headers(),
    content: text('The code that JSON has with status 200.', 'TEST_SUITE_SPLIT_CACHE_MISS\n'),
  },
  '406': refused('To `Accept: text/plain` only: a path has a line break.'),
});

const build = { commit_hash: '4d5e6f', branch: 'main', node_total: 2 };
const node = { ...build, node_index: 0 };
const paths = ['spec/cart_spec.rb', 'spec/user_spec.rb'];
const listed = paths.map(path => ({ path }));
const timed = [{ path: 'spec/cart_spec.rb', time_execution: 41.5 }];
const id = '5f0c1d52-7f0b-4a7e-9d3c-2f1f0a6b8c11';

export const operations = {
  '/v1/build_subsets': post(
    {
      operationId: 'recordBuildSubset',
      tag: 'Recording',
      summary: 'Record what one node ran.',
      description: 'Every run of a node is kept. Time 0 means: scheduled, not measured.',
    },
    { of: ['BuildSubsetMessage'], example: { ...node, test_files: timed } },
    {
      '201': answer('On disk. Without a body, or with a message where the client is outdated.', { of: ['Message'] }),
      '202': answer('The node was retried too often; this run is not kept.', { of: ['Message'] }),
    },
  ),
  '/v1/build_distributions/subset': post(
    {
      operationId: 'splitTestFiles',
      tag: 'Regular mode',
      summary: 'The test files of one node.',
      description:
        'Ask with `cache_read_attempt: true` first; where there is no split yet, again with `false` and all test files. All nodes of a build get parts of one split.',
    },
    { of: ['SplitMessage'], example: { ...node, ci_build_id: '1', cache_read_attempt: false, test_files: listed } },
    handedOut(
      { of: ['SplitAnswer', 'SplitMiss'], example: { build_distribution_id: id, node_index: 0, test_files: timed } },
      'The files of this node, or that there is no split yet.',
      'X-Ballast-Split-Id',
    ),
    { '409': refused('The request has a `test_files_digest`, and the split was made of another list.') },
  ),
  '/v1/build_distributions/last': get(
    {
      operationId: 'lastBuildDistribution',
      tag: 'Regular mode',
      summary: 'What was recorded for the closest earlier build.',
      description: 'Of all its nodes: the same commit, else the newest build of the branch, else of the project.',
    },
    'NodeKey',
    { '200': answer('All files of that build; none when there is no build.', { of: ['LastDistribution'] }), ...ofManyRuns },
  ),
  '/v1/queues/queue': post(
    {
      operationId: 'pullFromQueue',
      tag: 'Queue mode',
      summary: "Connect to a build's queue, create it, or pull the next batch.",
      description:
        'Connect first. If there is no queue yet, ask again with `attempt_connect_to_queue: false` and all test files. Then pull with both `false` until a batch is empty. A pull from a queue that the server does not know gets a 422, never an empty batch.',
    },
    {
      of: ['QueueMessage'],
      example: { ...node, node_build_id: '1', can_initialize_queue: true, attempt_connect_to_queue: false, test_files: listed },
    },
    handedOut(
      { of: ['QueueAnswer', 'ConnectFailed'], example: { queue_name: 'c0ffee', build_subset_id: null, test_files: timed } },
      'A batch, none at the end, or that there is no queue yet.',
    ),
  ),
  '/v2/queues/queue': post(
    {
      operationId: 'pullFromTestQueue',
      tag: 'Queue mode',
      summary: 'The same queues, for clients that tell what became of each batch.',
      description:
        'A pull brings the `batch_id` of the batch before and what of that failed. A new process of a node gets first what failed and what the node did not tell to have run.',
    },
    {
      of: ['TestQueueMessage'],
      example: {
        ...node,
        test_queue_id: '1',
        node_uuid: id,
        batch_index: 0,
        can_initialize_queue: true,
        attempt_connect_to_queue: false,
        paths,
      },
    },
    handedOut(
      { of: ['TestQueueAnswer', 'ConnectFailed'], example: { paths, batch_id: 1 } },
      'A batch, none at the end, or that there is no queue yet.',
      'X-Ballast-Batch-Id',
    ),
    { '409': refused('The request has a `test_files_digest`, and the queue was made of another list.') },
  ),
  '/v2/test_paths': get(
    {
      operationId: 'listFailedTestPaths',
      tag: 'Queue mode',
      summary: 'What failed in the newest build of a branch.',
      description: 'As far as its clients told that.',
    },
    'TestPathsQuery',
    { '200': answer('Test files, or test cases in them.', { of: ['TestPathsAnswer'] }) },
  ),
  '/v1/builds': get(
    { operationId: 'listBuilds', tag: 'Builds', summary: 'Recorded builds, newest first.', description: '100 a page; filters combine.' },
    'BuildsQuery',
    { '200': answer('A page.', { of: ['BuildsPage'] }) },
  ),
  '/v1/builds/{id}': {
    get: operation(
      { operationId: 'getBuild', tag: 'Builds', summary: 'A build with every recorded run.', description: 'Of all nodes, newest first.' },
      {
        parameters: [{ name: 'id', in: 'path', required: true, schema: ref('schemas', 'Uuid') }],
        responses: { '200': answer('The build.', { of: ['BuildDetail'] }), '404': refused('There is no such build.'), ...ofAny },
      },
    ),
  },
  '/v1/builds/completeness': get(
    {
      operationId: 'checkCompleteness',
      tag: 'Builds',
      summary: 'Whether every test file of a build was run and recorded.',
      description: 'The last step of a CI run, behind all nodes.',
    },
    'CompletenessQuery',
    {
      '200': answer('All were.', { of: ['CompletenessAnswer'] }),
      '409': answer('Not all were.', { of: ['CompletenessAnswer'] }),
      ...ofManyRuns,
    },
  ),
  '/v1/openapi.json': open(
    {
      operationId: 'describeApi',
      tag: 'Operating',
      summary: 'This document.',
      description: 'Made from the types that requests are checked by.',
    },
    { '200': { description: 'OpenAPI 3.1.', ...headers(), content: { 'application/json': { schema: { type: 'object' } } } } },
  ),
  '/healthz': open(
    { operationId: 'isHealthy', tag: 'Operating', summary: 'The process is up.', description: 'Does not look at the store.' },
    { '200': answer('It is.', { of: ['Health'] }) },
  ),
  '/readyz': open(
    { operationId: 'isReady', tag: 'Operating', summary: 'The store takes writes.', description: 'Writes to the disk.' },
    { '200': answer('It does.', { of: ['Health'] }), '503': refused('It does not.', 'Retry-After') },
  ),
  '/metrics': open(
    {
      operationId: 'readMetrics',
      tag: 'Operating',
      summary: 'Metrics for Prometheus.',
      description: 'Where there is an admin port, they are there only.',
    },
    {
      '200': { description: 'In the text format of Prometheus.', ...headers(), content: { 'text/plain': { schema: { type: 'string' } } } },
      '404': refused('They are on the admin port.'),
    },
  ),
};
