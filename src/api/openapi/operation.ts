import { bodyResponses, type Content, json, queryResponses, ref, refusal } from './responses.js';
import { parametersOf } from './schemas.js';

export interface Description {
  operationId: string;
  tag: string;
  summary: string;
  description: string;
}

export const operation = ({ tag, ...description }: Description, details: object) => ({ ...description, tags: [tag], ...details });

const clientHeaders = ['ClientName', 'ClientVersion', 'RetryCount'].map(name => ref('parameters', name));

export const post = (description: Description, body: Content, responses: object) => ({
  post: operation(description, {
    parameters: clientHeaders,
    requestBody: { required: true, content: json(body) },
    responses: { ...responses, ...bodyResponses },
  }),
});

export const get = (description: Description, query: string, responses: object) => ({
  get: operation(description, { parameters: parametersOf(query), responses: { ...queryResponses, ...responses } }),
});

/** The build of a path: its id, or that of one of its CI runs. */
export const buildId = { name: 'id', in: 'path', required: true, schema: ref('schemas', 'Uuid') };

/** A GET about a build, of which nothing need be recorded yet. */
export const getOfBuild = (description: Description, query: string, responses: object) => ({
  get: operation(description, {
    parameters: [buildId, ...parametersOf(query)],
    responses: { ...queryResponses, ...responses, '404': refusal('There is no such build or CI run.') },
  }),
});

/** A GET that needs no token. */
export const publicGet = (description: Description, responses: object) => ({ get: operation(description, { security: [], responses }) });
