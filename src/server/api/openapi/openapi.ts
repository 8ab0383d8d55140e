import { AGE_HEADER } from '../../../protocol/answers/build-head.js';
import type { Endpoint } from '../endpoint.js';
import { sharedResponses } from './responses.js';
import { schemas } from './schemas.js';

export interface ServerInfo {
  version: string;
  /** Scheme and host by which the client reached this server. */
  url: string;
  /** Prefixes of headers such as <prefix>-TEST-SUITE-TOKEN. */
  headerPrefixes: readonly string[];
}

const tags = [
  { name: 'Recording', description: 'Record how long test files took.' },
  { name: 'Regular mode', description: 'Split all test files once per build.' },
  { name: 'Queue mode', description: 'Hand out test files in batches while the nodes run.' },
  { name: 'Builds', description: 'Read what was recorded. A build is one combination of commit, branch and number of nodes.' },
  { name: 'Insight', description: 'See where the time of a build went.' },
  { name: 'Trends', description: 'Compare builds: lists with summaries, branches over weeks, files and nodes over builds.' },
  { name: 'Operating', description: 'Operate the server. No token is needed.' },
];

const text = { type: 'string' };
const header = (description: string, type = 'string') => ({ description, schema: { type } });

/** Returns the OpenAPI 3.1 description of the API. */
export function openApiDocument(endpoints: readonly Endpoint[], { version, url, headerPrefixes }: ServerInfo): object {
  const [prefix] = headerPrefixes;
  const parameter = (name: string, description: string, schema: object) => ({ name, in: 'header', required: false, description, schema });
  const tokenHeaders = headerPrefixes.map(name => `${name}-TEST-SUITE-TOKEN`).join(' or ');
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ballast',
      version,
      description:
        'Splits test suites over parallel CI nodes by recorded times. Times are in seconds. Numbers and booleans in bodies may be strings, and unknown parameters are ignored.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url }],
    security: [{ testSuiteToken: [] }],
    tags,
    paths: Object.fromEntries(
      endpoints.map(({ path, method, operation }) => [path.replace(/:(\w+)/, '{$1}'), { [method.toLowerCase()]: operation }]),
    ),
    components: {
      schemas,
      responses: sharedResponses,
      parameters: {
        ClientName: parameter(`${prefix}-CLIENT-NAME`, 'Name of the client program.', text),
        ClientVersion: parameter(
          `${prefix}-CLIENT-VERSION`,
          'Version of the client program. An outdated one gets a message when it records.',
          text,
        ),
        RetryCount: parameter('X-Retry-Count', 'Number of retries. Above 0, the request was sent before and its answer did not arrive.', {
          type: 'integer',
          minimum: 0,
          maximum: 999_999,
        }),
      },
      headers: {
        'X-Request-Id': header('Id of the request in the log: the one that the client sent, or a UUID.'),
        'Retry-After': header('Seconds to wait before the next attempt.', 'integer'),
        ETag: header('While a build runs: the state of the build and the time of the answer.'),
        [AGE_HEADER]: header('Seconds since the answer was made. Nodes at work are at work for so much longer.', 'number'),
        'X-Ballast-Split-Id': header('With `Accept: text/plain`: the build_distribution_id.'),
        'X-Ballast-Batch-Id': header('With `Accept: text/plain`: the batch_id.', 'integer'),
      },
      securitySchemes: {
        bearer: { type: 'http', scheme: 'bearer', description: 'The token of a project, for programs that read metrics.' },
        testSuiteToken: {
          type: 'apiKey',
          in: 'header',
          name: `${prefix}-TEST-SUITE-TOKEN`,
          description: `The token of a project, in the header ${tokenHeaders}. A POST may have it as test_suite_token in the body instead.`,
        },
      },
    },
  };
}
