import { bodyResponses, type Content, json, queryResponses, ref, refusal } from './responses.js';
import { parametersOf } from './schemas.js';

interface Operation {
  operationId: string;
  tag: string;
  summary: string;
  description: string;
  responses: object;
}

export interface Query extends Operation {
  /** The name of the query's type. */
  query: string;
}

export const operation = ({ tag, ...description }: Operation, details: object = {}) => ({ ...description, tags: [tag], ...details });

const clientHeaders = ['ClientName', 'ClientVersion', 'RetryCount'].map(name => ref('parameters', name));

export const post = ({ body, ...description }: Operation & { body: Content }) => ({
  post: operation(description, {
    parameters: clientHeaders,
    requestBody: { required: true, content: json(body) },
    responses: { ...description.responses, ...bodyResponses },
  }),
});

export const get = ({ query, ...description }: Query) => ({
  get: operation(description, { parameters: parametersOf(query), responses: { ...queryResponses, ...description.responses } }),
});

/** The build of a path: its id, or that of one of its CI runs. */
export const buildId = { name: 'id', in: 'path', required: true, schema: ref('schemas', 'Uuid') };

/** A GET about a build, of which nothing need be recorded yet. */
export const getOfBuild = ({ query, ...description }: Query) => ({
  get: operation(description, {
    parameters: [buildId, ...parametersOf(query)],
    responses: { ...queryResponses, ...description.responses, '404': refusal('There is no such build or CI run.') },
  }),
});

/** A GET that needs no token. */
export const publicGet = (description: Operation) => ({ get: operation(description, { security: [] }) });
