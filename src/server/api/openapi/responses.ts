/** A JSON body: one of the named schemas, and an example. */
export interface Content {
  schemas: readonly string[];
  example?: unknown;
}

export const ref = (kind: string, name: string) => ({ $ref: `#/components/${kind}/${name}` });

export function json({ schemas, example }: Content) {
  const [first, ...others] = schemas.map(name => ref('schemas', name));
  const schema = others.length === 0 ? first : { oneOf: [first, ...others] };
  return { 'application/json': { schema, ...(example !== undefined && { example }) } };
}

export const text = (description: string, example: string) => ({ 'text/plain': { schema: { type: 'string', description }, example } });

/** The headers of a response, which always has an X-Request-Id. */
export const headers = (...names: string[]) => ({
  headers: Object.fromEntries(['X-Request-Id', ...names].map(name => [name, ref('headers', name)])),
});

export const response = (description: string, content: Content) => ({ description, ...headers(), content: json(content) });
export const textResponse = (description: string, type: string) => ({
  description,
  ...headers(),
  content: { [type]: { schema: { type: 'string' } } },
});

export const refusal = (description: string, ...headerNames: string[]) => ({
  description,
  ...headers(...headerNames),
  content: json({ schemas: ['Errors'] }),
});

/** Responses that several operations share, by name. */
export const sharedResponses = {
  NotJson: refusal('The body is not JSON.'),
  NoToken: refusal('The test-suite token is missing, unknown or revoked.'),
  TooSlow: refusal('The body did not arrive in time.'),
  TooLarge: refusal('The body is too large.'),
  NotJsonType: refusal('The Content-Type is not JSON.'),
  Invalid: {
    ...refusal('Errors by parameter. Nothing has changed.'),
    content: json({ schemas: ['Invalid'], example: { errors: [{ node_index: ['must be less than or equal to 1'] }] } }),
  },
  Failed: refusal("Internal error. The server's log has the details under the request id."),
  Full: refusal('The project has stored as much as it may today. Nothing has changed.'),
  Busy: refusal('The server is overloaded, is shutting down, or cannot write to its disk. Nothing has changed: try again.', 'Retry-After'),
};

const shared = (names: Record<string, keyof typeof sharedResponses>) =>
  Object.fromEntries(Object.entries(names).map(([status, name]) => [status, ref('responses', name)]));

/** Responses of every operation that needs a token. */
export const tokenResponses = shared({ 403: 'NoToken', 500: 'Failed', 503: 'Busy' });
export const queryResponses = { ...tokenResponses, ...shared({ 422: 'Invalid' }) };
export const bodyResponses = {
  ...queryResponses,
  ...shared({ 400: 'NotJson', 408: 'TooSlow', 413: 'TooLarge', 415: 'NotJsonType', 507: 'Full' }),
};

/** Response of operations that read all runs of a build. */
export const mergeResponses = {
  '422': {
    ...refusal('Errors by parameter, or the build is too large to be merged or compared.'),
    content: json({ schemas: ['Invalid', 'Errors'] }),
  },
};

/** Responses with test files, which a shell may request as lines. */
export const testFileResponses = (content: Content, description: string, ...headerNames: string[]) => ({
  '200': {
    description: `${description} A node that gets no test files has nothing more to run.`,
    ...headers(...headerNames),
    content: { ...json(content), ...text('One path per line.', 'spec/cart_spec.rb\n') },
  },
  '404': {
    description: 'Only with `Accept: text/plain`: there is no split or queue yet.',
    ...headers(),
    content: text('The code that a JSON response has with status 200.', 'TEST_SUITE_SPLIT_CACHE_MISS\n'),
  },
  '406': refusal('Only with `Accept: text/plain`: a path has a line break.'),
});

const paths = ['spec/cart_spec.rb', 'spec/user_spec.rb'];

/** Values that the examples of several endpoints share. */
export const example = {
  node: { commit_hash: '4d5e6f', branch: 'main', node_total: 2, node_index: 0 },
  paths,
  listedFiles: paths.map(path => ({ path })),
  timedFiles: [{ path: 'spec/cart_spec.rb', time_execution: 41.5 }],
  id: '5f0c1d52-7f0b-4a7e-9d3c-2f1f0a6b8c11',
};
