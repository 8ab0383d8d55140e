import { operations, sharedResponses } from './operations.js';
import { schemas } from './schemas.js';

export interface ServerInfo {
  version: string;
  /** Scheme and host by which this server was reached. */
  url: string;
  /** Of the headers: the token's is <prefix>-TEST-SUITE-TOKEN. */
  headerPrefixes: readonly string[];
}

const tags = [
  { name: 'Recording', description: 'How long test files took.' },
  { name: 'Regular mode', description: 'A split of all test files, made once per build.' },
  { name: 'Queue mode', description: 'Batch by batch, while the nodes run.' },
  { name: 'Builds', description: 'What was recorded: a build is one combination of commit, branch and number of nodes.' },
  { name: 'Operating', description: 'Without a token.' },
];

const header = (description: string, type = 'string') => ({ description, schema: { type } });

/** The description of the API as OpenAPI 3.1 has it. */
export function openApiDocument({ version, url, headerPrefixes }: ServerInfo): object {
  const [prefix] = headerPrefixes;
  const parameter = (name: string, description: string, schema: object) => ({ name, in: 'header', required: false, description, schema });
  const tokenHeaders = headerPrefixes.map(name => `${name}-TEST-SUITE-TOKEN`).join(' or ');
  return {
    openapi: '3.1.0',
    info: {
      title: 'Ballast',
      version,
      description:
        'Splits test suites over parallel CI nodes by recorded times. Times are in seconds. In bodies, numbers and booleans may come as strings, and what is not known is ignored.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url }],
    security: [{ testSuiteToken: [] }],
    tags,
    paths: operations,
    components: {
      schemas,
      responses: sharedResponses,
      parameters: {
        ClientName: parameter(`${prefix}-CLIENT-NAME`, 'The program that asks.', { type: 'string' }),
        ClientVersion: parameter(`${prefix}-CLIENT-VERSION`, 'Its version: an outdated one is told so when it records.', {
          type: 'string',
        }),
        RetryCount: parameter('X-Retry-Count', 'Above 0: the request was sent before, and its answer did not arrive.', {
          type: 'integer',
          minimum: 0,
          maximum: 999_999,
        }),
      },
      headers: {
        'X-Request-Id': header('What the log calls the request: the same as in the request, or a UUID.'),
        'Retry-After': header('Seconds.', 'integer'),
        'X-Ballast-Split-Id': header('To `Accept: text/plain`: the build_distribution_id.'),
        'X-Ballast-Batch-Id': header('To `Accept: text/plain`: the batch_id.', 'integer'),
      },
      securitySchemes: {
        testSuiteToken: {
          type: 'apiKey',
          in: 'header',
          name: `${prefix}-TEST-SUITE-TOKEN`,
          description: `The token of a project, in the header ${tokenHeaders}; in a POST also as test_suite_token in the body.`,
        },
      },
    },
  };
}
