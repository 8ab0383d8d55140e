import { Validator } from '@seriousme/openapi-schema-validator';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';
import { endpoints } from '../../../src/server/api/table.js';
import type { Reply } from '../../harness/client.js';
import { queueMessage, splitMessage, subsetMessage, testFiles, testQueueMessage } from '../../harness/messages.js';
import { SharedServer } from '../../harness/server.js';

const shared = new SharedServer();

/** Makes a schema refuse properties that it does not name. */
function forbidOthers(schema: any): void {
  if (typeof schema !== 'object' || schema === null) return;
  if (schema.type === 'object') schema.additionalProperties ??= false;
  Object.values(schema).forEach(forbidOthers);
}

/** The document, and functions that check answers against it. */
async function readDocument() {
  const document = (await shared.send('/v1/openapi.json', {})).json;
  const { components } = structuredClone(document);
  forbidOthers(components.schemas);
  const ajv = new Ajv2020({ strict: false, formats: { uuid: /^[0-9a-f-]{36}$/, 'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/ } });
  const compiled = new Map<string, ValidateFunction>();
  const expectValid = (schema: object, value: unknown) => {
    const key = JSON.stringify(schema);
    const validate = compiled.get(key) ?? ajv.compile({ components, ...schema });
    compiled.set(key, validate);
    expect(validate(value), JSON.stringify(validate.errors)).toBe(true);
  };
  const resolve = (value: any) =>
    value.$ref
      ? value.$ref
          .slice(2)
          .split('/')
          .reduce((at: any, name: string) => at[name], document)
      : value;
  const expectDescribed = (path: string, method: string, { status, headers, json, text }: Reply) => {
    const response = resolve(document.paths[path][method].responses[status]);
    for (const name of Object.keys(response.headers)) if (!/^(X-Ballast|ETag)/.test(name)) expect(headers.has(name), name).toBe(true);
    if (text === '') return;
    const { schema } = response.content[headers.get('content-type')!.split(';')[0]!];
    expectValid(schema, json ?? text);
  };
  return { document, expectDescribed, expectValid };
}

describe('GET /v1/openapi.json', () => {
  it('is a valid OpenAPI 3.1 document and needs no token', async () => {
    const { document } = await readDocument();
    expect(await new Validator().validate(document)).toMatchObject({ valid: true });
    expect(document.openapi).toBe('3.1.0');
    expect(document.components.securitySchemes.testSuiteToken.name).toBe('SERVICE-TEST-SUITE-TOKEN');
  });

  it('has exactly the paths and methods of the server', async () => {
    const { document } = await readDocument();
    for (const [path, methods] of Object.entries<object>(document.paths)) {
      const { headers } = await shared.send(path.replace(/\{\w+\}/, 'x'), { method: 'DELETE' });
      const allowed = headers
        .get('allow')!
        .toLowerCase()
        .split(', ')
        .filter(method => method !== 'head');
      expect([path, Object.keys(methods)]).toEqual([path, allowed]);
    }
    expect(Object.keys(document.paths).sort()).toEqual(endpoints.map(path => path.replace(/:(\w+)/, '{$1}')).sort());
  });

  it('describes the parameter of each path that has one', async () => {
    const { document } = await readDocument();
    for (const [path, methods] of Object.entries<any>(document.paths)) {
      const named = Array.from(path.matchAll(/\{(\w+)\}/g), ([, name]) => name);
      const described = (methods.get ?? methods.post).parameters?.filter((each: any) => each.in === 'path') ?? [];
      expect([path, described.map(({ name }: any) => name)]).toEqual([path, named]);
    }
  });

  it('has an example of each body, which matches its schema', async () => {
    const { document, expectValid } = await readDocument();
    const bodies = Object.values<any>(document.paths).flatMap(({ post }) => (post ? [post.requestBody, post.responses[200]] : []));
    const contents = bodies.flatMap(body => body?.content['application/json'] ?? []);
    expect(contents).toHaveLength(15);
    for (const { schema, example } of contents) expectValid(schema, example);
  });

  it('has unique operation ids, and the address that the client used', async () => {
    const { document } = await readDocument();
    const names = Object.values<any>(document.paths).flatMap(methods => Object.values<any>(methods).map(({ operationId }) => operationId));
    expect(new Set(names).size).toBe(names.length);
    expect(document.servers).toEqual([{ url: (await shared.project()).url }]);
  });

  it('does not require parameters that have a default', async () => {
    const { document } = await readDocument();
    const { SplitMessage, QueueMessage } = document.components.schemas;
    expect(SplitMessage.required).not.toContain('fixed_test_suite_split');
    expect(SplitMessage.properties.fixed_test_suite_split.description).toMatch(/Default: true\.$/);
    expect(QueueMessage.required).toEqual(expect.arrayContaining(['can_initialize_queue', 'node_build_id', 'commit_hash']));
    expect(document.paths['/v1/builds'].get.parameters.filter(({ required }: any) => required)).toEqual([]);
  });

  it('describes every answer', async () => {
    const { expectDescribed } = await readDocument();
    const server = await shared.project();
    const get = async (path: string, url = path) => expectDescribed(path, 'get', await server.get(url));
    const post = async (path: string, message: unknown, status: number, headers = {}) => {
      const reply = await server.post(path, message, headers);
      expect(reply.status).toBe(status);
      expectDescribed(path, 'post', reply);
    };
    const paths = ['a_spec.rb'];
    const test_files = testFiles(paths);
    const other = { test_files_digest: 'other' };
    const pull = { can_initialize_queue: false, attempt_connect_to_queue: false };

    const split = '/v1/build_distributions/subset';
    await post(split, splitMessage(), 200);
    await post(split, splitMessage({ cache_read_attempt: false, test_files }), 200);
    await post(split, splitMessage({ ...other, cache_read_attempt: false, test_files: testFiles(['b_spec.rb']) }), 409);
    await post(split, '{', 400);
    const asText = { Accept: 'text/plain' };
    await post(split, splitMessage(), 200, asText);
    await post(split, splitMessage({ commit_hash: 'none' }), 404, asText);

    const queue = '/v1/queues/queue';
    await post(queue, queueMessage(), 200);
    await post(queue, queueMessage({ attempt_connect_to_queue: false, test_files }), 200);
    await post(queue, queueMessage(), 200);
    await post(queue, {}, 422);
    await post(queue, queueMessage({ ...pull, node_build_id: 'none' }), 422);

    const testQueue = '/v2/queues/queue';
    const first = { can_initialize_queue: true, test_queue_id: '2' };
    await post(testQueue, testQueueMessage({ ...first, attempt_connect_to_queue: true }), 200);
    await post(testQueue, testQueueMessage({ ...first, paths }), 200);
    await post(testQueue, testQueueMessage({ test_queue_id: 'none' }), 422);
    await post(testQueue, testQueueMessage({ test_queue_id: '2', ...other, batch_index: 1 }), 409);
    await get('/v2/test_paths', '/v2/test_paths?branch=main');

    const query = 'commit_hash=c0ffee1&branch=main&node_total=2&node_index=0';
    const last = '/v1/build_distributions/last';
    await get(last, `${last}?${query}`);
    await post('/v1/build_subsets', subsetMessage(), 201);
    await get(last, `${last}?${query}`);
    const builds = await server.get('/v1/builds');
    expectDescribed('/v1/builds', 'get', builds);
    expectDescribed('/v1/builds', 'get', await shared.send('/v1/builds', {}));
    const url = `/v1/builds/${builds.json.data[0].id}`;
    await get('/v1/builds/{id}', url);
    await get('/v1/builds/{id}', '/v1/builds/5');
    for (const name of ['minutes', 'timeline', 'forecast', 'trace']) {
      for (const asked of [`${url}/${name}`, `/v1/builds/5/${name}`, `${url}/${name}?ci_run=5`])
        await get(`/v1/builds/{id}/${name}`, asked);
    }
    await get('/v1/metrics');
    await get('/v1/builds/{id}/trace', `${url}/trace?format=otlp`);
    await get('/v1/builds/completeness', `/v1/builds/completeness?${query}`);
    await get('/v1/builds/completeness');
    for (const path of ['/readyz', '/healthz', '/metrics', '/v1/openapi.json']) await get(path);
  });
});
