import {
  buildId,
  get,
  getOfBuild,
  headers,
  mergeResponses,
  operation,
  post,
  publicGet,
  type Query,
  refusal,
  response,
  testFileResponses,
  textResponse,
  tokenResponses,
} from './operation.js';

const build = { commit_hash: '4d5e6f', branch: 'main', node_total: 2 };
const node = { ...build, node_index: 0 };
const paths = ['spec/cart_spec.rb', 'spec/user_spec.rb'];
const listedFiles = paths.map(path => ({ path }));
const timedFiles = [{ path: 'spec/cart_spec.rb', time_execution: 41.5 }];
const id = '5f0c1d52-7f0b-4a7e-9d3c-2f1f0a6b8c11';
const planned = {
  assumptions: {
    mode: 'queue',
    start_spread: 0,
    pull_cost: 2,
    setup: 0,
    estimates: 'now',
    in_pieces: false,
    cut: [],
    sentences: ['The nodes start together.'],
  },
  files: 2,
  unknown_files: 1,
  total: 83,
  variants: [
    {
      nodes: 2,
      wall: 43.5,
      node_seconds: 87,
      job_seconds: 83,
      price: null,
      floor: 41.5,
      ratio: 1.0482,
      bound_by_file: false,
      measured: null,
    },
  ],
  useful_nodes: 2,
  longest: { path: 'spec/cart_spec.rb', seconds: 41.5 },
  nodes_within: 2,
};

interface CiRunOperation extends Omit<Query, 'tag' | 'query' | 'responses'> {
  query?: string;
  /** The names of the answers' types. */
  answers: readonly string[];
  /** What the answer has. */
  what: string;
}

const getOfCiRun = ({ query = 'CiRunQuery', answers, what, ...description }: CiRunOperation) =>
  getOfBuild({ ...description, tag: 'Insight', query, responses: { ...mergeResponses, '200': response(what, { schemas: answers }) } });

export const operations = {
  '/v1/build_subsets': post({
    operationId: 'recordBuildSubset',
    tag: 'Recording',
    summary: 'Record the test files that one node ran.',
    description: 'The server keeps every run of a node. Time 0 means scheduled, not measured.',
    body: { schemas: ['BuildSubsetMessage'], example: { ...node, test_files: timedFiles } },
    responses: {
      '201': response('Stored on disk. The response has no body, or a message that the client is outdated.', { schemas: ['Message'] }),
      '202': response('Not stored: the node was retried too often.', { schemas: ['Message'] }),
    },
  }),
  '/v1/build_distributions/subset': post({
    operationId: 'splitTestFiles',
    tag: 'Regular mode',
    summary: 'Get the test files of one node.',
    description:
      'First send `cache_read_attempt: true`. If there is no split yet, send `false` and all test files. All nodes of a build get parts of one split.',
    body: { schemas: ['SplitMessage'], example: { ...node, ci_build_id: '1', cache_read_attempt: false, test_files: listedFiles } },
    responses: {
      ...testFileResponses(
        { schemas: ['SplitAnswer', 'SplitMiss'], example: { build_distribution_id: id, node_index: 0, test_files: timedFiles } },
        'The test files of this node, or a code if there is no split yet.',
        'X-Ballast-Split-Id',
      ),
      '409': refusal('The request has a `test_files_digest`, and the split was made from another list.'),
    },
  }),
  '/v1/build_distributions/last': get({
    operationId: 'lastBuildDistribution',
    tag: 'Regular mode',
    summary: 'Get the recorded test files of the closest earlier build.',
    description: 'It is the build of the same commit, else the newest build of the branch, else of the project. All its nodes are merged.',
    query: 'NodeKey',
    responses: {
      '200': response('All test files of that build; none if there is no build.', { schemas: ['LastDistribution'] }),
      ...mergeResponses,
    },
  }),
  '/v1/queues/queue': post({
    operationId: 'pullFromQueue',
    tag: 'Queue mode',
    summary: 'Connect to the queue of a build, create it, or pull the next batch.',
    description:
      'Connect first. If there is no queue yet, send `attempt_connect_to_queue: false` and all test files. Then pull with both set to `false` until a batch is empty. A pull from an unknown queue gets a 422, never an empty batch.',
    body: {
      schemas: ['QueueMessage'],
      example: { ...node, node_build_id: '1', can_initialize_queue: true, attempt_connect_to_queue: false, test_files: listedFiles },
    },
    responses: testFileResponses(
      { schemas: ['QueueAnswer', 'ConnectFailed'], example: { queue_name: 'c0ffee', build_subset_id: null, test_files: timedFiles } },
      'A batch, empty at the end of the queue, or a code if there is no queue yet.',
    ),
  }),
  '/v2/queues/queue': post({
    operationId: 'pullFromTestQueue',
    tag: 'Queue mode',
    summary: 'Use the same queues with a client that reports the outcome of each batch.',
    description:
      'A pull sends the `batch_id` of the previous batch and what failed in it. A restarted process first gets the test files of its node that failed or were not reported as run.',
    body: {
      schemas: ['TestQueueMessage'],
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
    responses: {
      ...testFileResponses(
        { schemas: ['TestQueueAnswer', 'ConnectFailed'], example: { paths, batch_id: 1 } },
        'A batch, empty at the end of the queue, or a code if there is no queue yet.',
        'X-Ballast-Batch-Id',
      ),
      '409': refusal('The request has a `test_files_digest`, and the queue was made from another list.'),
    },
  }),
  '/v2/queues/cancel': post({
    operationId: 'cancelNode',
    tag: 'Queue mode',
    summary: 'Say that the process of a node ends, because its CI system cancels it.',
    description:
      'When all nodes that work on a queue have said so, its CI run has ended as cancelled. The files of the node stay with it until its lease ends. A node that pulls again works again.',
    body: { schemas: ['CancelMessage'], example: { ...node, test_queue_id: '1', node_uuid: id } },
    responses: {
      '200': response('Whether it was noted.', { schemas: ['CancelAnswer'], example: { is_noted: true } }),
    },
  }),
  '/v2/test_cases': post({
    operationId: 'tellTestCases',
    tag: 'Queue mode',
    summary: 'Tell the test cases of long files, and their times.',
    description:
      'A later queue can then have such a file in pieces, each with some of its cases, if the request that creates the queue names the same test runner in pieces. What is told of a file replaces what was told of it before.',
    body: {
      schemas: ['TestCasesMessage'],
      example: {
        ...node,
        ci_build_id: '1',
        runner: 'pytest',
        files: [{ path: 'tests/test_cart.py', seconds: 41.5, cases: [{ name: 'test_total', seconds: 12.25, outcome: 'passed' }] }],
      },
    },
    responses: {
      '200': response('The number of files and pieces whose cases are kept.', { schemas: ['TestCasesAnswer'], example: { kept: 1 } }),
    },
  }),
  '/v2/test_paths': get({
    operationId: 'listFailedTestPaths',
    tag: 'Queue mode',
    summary: 'List what failed in the newest build of a branch.',
    description: 'Only clients of version 2 report failures.',
    query: 'TestPathsQuery',
    responses: { '200': response('Test files, or test cases in them.', { schemas: ['TestPathsAnswer'] }) },
  }),
  '/v1/builds': get({
    operationId: 'listBuilds',
    tag: 'Builds',
    summary: 'List recorded builds, newest first.',
    description: 'A page has 100 builds. Filters can be combined.',
    query: 'BuildsQuery',
    responses: { '200': response('One page of builds.', { schemas: ['BuildsPage'] }) },
  }),
  '/v1/builds/{id}': {
    get: operation(
      {
        operationId: 'getBuild',
        tag: 'Builds',
        summary: 'Get a build with all recorded runs.',
        description: 'The runs of all nodes, newest first.',
        responses: {
          '200': response('The build.', { schemas: ['BuildDetail'] }),
          '404': refusal('There is no such build.'),
          ...tokenResponses,
        },
      },
      { parameters: [buildId] },
    ),
  },
  '/v1/builds/{id}/minutes': getOfCiRun({
    operationId: 'divideMinutes',
    summary: 'Get where the wall time of a build went.',
    description: 'The id of a CI run serves too, also while nothing is recorded. The parts add up to the wall time exactly.',
    answers: ['MinutesAnswer'],
    what: 'The parts of the wall time, and the nodes, files and sentences that explain them.',
  }),
  '/v1/builds/{id}/comparison': getOfCiRun({
    operationId: 'compareBuild',
    summary: 'Get what differs from what is usual on the branch, or from another build.',
    description: 'Usual are the medians of the last 20 complete builds with as many nodes. The causes add up to the difference.',
    answers: ['ComparisonAnswer'],
    what: 'The difference, its causes, and the parts and files that differ.',
    query: 'ComparisonQuery',
  }),
  '/v1/builds/{id}/timeline': getOfCiRun({
    operationId: 'readTimeline',
    summary: 'Get what each node did, and when.',
    description: 'Files are columns, and batches refer to them by index.',
    answers: ['TimelineAnswer'],
    what: 'The lanes of the nodes.',
  }),
  '/v1/builds/{id}/forecast': getOfCiRun({
    operationId: 'readForecast',
    summary: 'Get what was expected of a build when it was planned, and when it should end.',
    description: 'A 404 also means that no split and no queue of the build is known.',
    answers: ['ForecastAnswer'],
    what: 'The expected duration, the bound, and what the build took or when it should end.',
  }),
  '/v1/builds/{id}/trace': getOfCiRun({
    operationId: 'traceBuild',
    summary: 'Get a build as a trace for Perfetto or DevTools, or for a collector of OpenTelemetry.',
    description: 'A thread for each node. The files of a batch follow one another, because only their durations are known.',
    answers: ['TraceAnswer', 'OtlpTraceAnswer'],
    what: 'Chrome trace events, or a request to a collector.',
    query: 'TraceQuery',
  }),
  '/v1/builds/{id}/why': getOfCiRun({
    operationId: 'explainBuild',
    summary: 'Explain why each node got its files.',
    description: 'Each batch, or part of a split, with what was known when it was handed out.',
    answers: ['WhyAnswer'],
    what: 'The hand-outs in the order of time.',
    query: 'WhyQuery',
  }),
  '/v1/builds/{id}/what_if': getOfBuild({
    operationId: 'playBuild',
    tag: 'Builds',
    summary: 'Play a build again with other numbers of nodes.',
    description:
      'The planner of the server runs on the recorded times: wall time and node time by number of nodes, what other methods would have taken, and the files that are worth cutting.',
    query: 'WhatIfQuery',
    responses: { '200': response('The outcome with each number of nodes.', { schemas: ['WhatIfAnswer'] }) },
  }),
  '/v1/plan': post({
    operationId: 'planAhead',
    tag: 'Builds',
    summary: 'Forecast a build for several numbers of nodes.',
    description:
      'The suite takes its estimates of today, and its nodes start like those of the newest build. For the job that starts the nodes.',
    body: { schemas: ['PlanMessage'], example: { branch: 'main', within: 600, test_files: listedFiles } },
    responses: { '200': response('The outcome with each number of nodes.', { schemas: ['PlanAnswer'], example: planned }) },
  }),
  '/v1/builds/completeness': get({
    operationId: 'checkCompleteness',
    tag: 'Builds',
    summary: 'Check that every test file of a build was run and recorded.',
    description: 'For the last step of a CI run, after all nodes.',
    query: 'CompletenessQuery',
    responses: {
      '200': response('The build is complete.', { schemas: ['CompletenessAnswer'] }),
      '409': response('The build is not complete.', { schemas: ['CompletenessAnswer'] }),
      ...mergeResponses,
    },
  }),
  '/v1/build_summaries': get({
    operationId: 'listBuildSummaries',
    tag: 'Trends',
    summary: 'List builds with a summary of each, newest first.',
    description:
      'A summary is written some seconds after a run of the build was recorded. CI runs that have begun and recorded nothing come first, on the first page only; those that ended so have no `build_id`, and `limit` and `total` do not count them. With `failed=true` a request searches 500 builds; `searched_to` and `next` tell how to go on. If no build has the `branch` or the `commit_hash`, `similar` has branches that contain it, or commits that begin with it.',
    query: 'BuildLinesQuery',
    responses: { '200': response('A part of the list.', { schemas: ['BuildLines'] }) },
  }),
  '/v1/trends/builds': get({
    operationId: 'getBuildTrend',
    tag: 'Trends',
    summary: 'Get wall time, idle time and savings of a branch by day or week.',
    description: 'A build counts on the day on which its newest CI run began. Days without builds are left out. At most 400 days.',
    query: 'BuildTrendQuery',
    responses: { '200': response('The days, oldest first.', { schemas: ['BuildTrend'] }) },
  }),
  '/v1/trends/files': get({
    operationId: 'listFileTrends',
    tag: 'Trends',
    summary: 'List the files of a branch over its last 100 builds.',
    description:
      'A suite so large that 100 builds have more than 6,000,000 recorded times is read over fewer builds. `growth` and `spread` sort by seconds, not by factors, so that files that cost most come first.',
    query: 'FileTrendsQuery',
    responses: { '200': response('A part of the files.', { schemas: ['FileTrends'] }) },
  }),
  '/v1/trends/files/history': get({
    operationId: 'getFileHistory',
    tag: 'Trends',
    summary: 'Get the times of a file in the last 100 builds of a branch.',
    description:
      'With the estimate before each build and the builds in which its duration changed. No points: the branch has not recorded it.',
    query: 'FileHistoryQuery',
    responses: { '200': response('The history, oldest build first.', { schemas: ['FileHistory'] }) },
  }),
  '/v1/trends/nodes': get({
    operationId: 'getNodeTrends',
    tag: 'Trends',
    summary: 'Find nodes that are slow again and again.',
    description: 'Over the last 100 builds with the same number of nodes.',
    query: 'NodeTrendsQuery',
    responses: { '200': response('The nodes by index.', { schemas: ['NodeTrends'] }) },
  }),
  '/v1/trends/node_counts': get({
    operationId: 'getNodeCounts',
    tag: 'Trends',
    summary: 'Find how many nodes the builds of a branch need to end in time.',
    description:
      'The last builds of the branch that ended complete, at most 10, are played with several numbers of nodes. Of a suite with more than 5,000 files, fewer builds are played.',
    query: 'NodeCountsQuery',
    responses: {
      '200': response('What the builds take on each number of nodes, and which number is enough.', { schemas: ['NodeCountsAnswer'] }),
    },
  }),
  '/v1/metrics': {
    get: operation(
      {
        operationId: 'readProjectMetrics',
        tag: 'Trends',
        summary: 'Read metrics of the project for Prometheus.',
        description:
          'Builds, wall time by cause and node time of today (UTC), for the default branch and for all others together, and the newest build of the default branch. All are gauges. The token may also come as `Authorization: Bearer`.',
        responses: { '200': textResponse('The text format of Prometheus.', 'text/plain'), ...tokenResponses },
      },
      { security: [{ testSuiteToken: [] }, { bearer: [] }] },
    ),
  },
  '/v1/openapi.json': publicGet({
    operationId: 'describeApi',
    tag: 'Operating',
    summary: 'Get this document.',
    description: 'It is generated from the types that validate requests.',
    responses: { '200': { description: 'OpenAPI 3.1.', ...headers(), content: { 'application/json': { schema: { type: 'object' } } } } },
  }),
  '/llms.txt': publicGet({
    operationId: 'listGuides',
    tag: 'Operating',
    summary: 'List the guides, for programs that read.',
    description: 'See https://llmstxt.org.',
    responses: {
      '200': textResponse('The list.', 'text/plain; charset=utf-8'),
    },
  }),
  '/docs/{name}.md': publicGet(
    {
      operationId: 'getGuide',
      tag: 'Operating',
      summary: 'Get a guide as Markdown.',
      description: 'Those of `/llms.txt`.',
      responses: {
        '200': textResponse('The guide.', 'text/markdown; charset=utf-8'),
        '404': refusal('There is no such guide.'),
      },
    },
    { parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }] },
  ),
  ...fileForNodes('ballast.mjs', 'Client', 'program of a CI node', 'One file for Node: `node ballast.mjs --help`.'),
  ...pluginInNode('Jest'),
  ...pluginInNode('Playwright'),
  ...pluginInNode('Vitest'),
  ...fileForNodes(
    'ballast_pytest.py',
    'PytestPlugin',
    'plugin of pytest',
    'One file for Python: `python3 -m pytest -p ballast_pytest`.',
    'text/x-python',
  ),
  '/healthz': publicGet({
    operationId: 'isHealthy',
    tag: 'Operating',
    summary: 'Check that the process runs.',
    description: 'Does not check the store.',
    responses: { '200': response('The process runs.', { schemas: ['Health'] }) },
  }),
  '/readyz': publicGet({
    operationId: 'isReady',
    tag: 'Operating',
    summary: 'Check that the store can be written.',
    description: 'Makes a test write to the disk.',
    responses: {
      '200': response('The store can be written.', { schemas: ['Health'] }),
      '503': refusal('The store cannot be written.', 'Retry-After'),
    },
  }),
  '/metrics': publicGet({
    operationId: 'readMetrics',
    tag: 'Operating',
    summary: 'Read metrics for Prometheus.',
    description: 'If there is an admin port, only that port has them.',
    responses: {
      '200': textResponse('The text format of Prometheus.', 'text/plain'),
      '404': refusal('Only the admin port has metrics.'),
    },
  }),
};

function pluginInNode(runner: 'Jest' | 'Playwright' | 'Vitest') {
  const description = `One file, which the configuration of ${runner} names.`;
  return fileForNodes(`ballast-${runner.toLowerCase()}.mjs`, `${runner}Plugin`, `plugin of ${runner}`, description);
}

/** The operations that get a file for CI nodes, and its checksum. @param id their operationId without the verb */
function fileForNodes(name: string, id: string, what: string, description: string, type = 'text/javascript') {
  return {
    [`/${name}`]: publicGet({
      operationId: `get${id}`,
      tag: 'Operating',
      summary: `Get the ${what}.`,
      description: `${description} It has the version of this server.`,
      responses: { '200': textResponse('The file.', `${type}; charset=utf-8`) },
    }),
    [`/${name}.sha256`]: publicGet({
      operationId: `get${id}Checksum`,
      tag: 'Operating',
      summary: `Get the checksum of the ${what}.`,
      description: 'As `sha256sum --check` reads it.',
      responses: { '200': textResponse('The checksum.', 'text/plain; charset=utf-8') },
    }),
  };
}
