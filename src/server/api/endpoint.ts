import type { Answer, Request } from '../http/request.js';
import type { Context } from './context.js';
import { bodyResponses, type Content, json, queryResponses, ref, refusal, tokenResponses } from './openapi/responses.js';
import { parametersOf } from './openapi/schemas.js';

/** @param id the segment of the path that `:id` stands for; empty: it has none */
export type Handle = (context: Context, request: Request, id: string) => Answer | Promise<Answer>;

/** A row of the table: a route, what answers it, and how the OpenAPI document describes it. */
export interface Endpoint {
  /** `:id` and `:name` match one segment. */
  path: string;
  method: 'GET' | 'POST';
  handle: Handle;
  /** The most bytes that a request may have as its body. Infinity: as many as the server takes. 0: nobody reads them. */
  bodyBytes: number;
  /** A public token may ask for it: it is needed to run a CI run, and tells nothing of others. */
  isOpenToPublic: boolean;
  operation: ReturnType<typeof operationOf>;
}

interface Description {
  operationId: string;
  tag: string;
  summary: string;
  description: string;
  responses: object;
  /** As in `Endpoint`; missing: it is not. */
  isOpenToPublic?: true;
  parameters?: readonly object[];
  security?: readonly object[];
}

export interface Query extends Description {
  /** The name of the query's type. */
  query: string;
}

interface Message extends Description {
  body: Content;
  /** As in `Endpoint`. A list of test files may have any number of bytes. */
  bodyBytes?: number;
}

const operationOf = ({ tag, isOpenToPublic: _, ...description }: Description, details: object) => ({
  ...description,
  tags: [tag],
  ...details,
});

const clientHeaders = ['ClientName', 'ClientVersion', 'RetryCount'].map(name => ref('parameters', name));

export const post = (path: string, handle: Handle, { body, bodyBytes = Infinity, ...description }: Message): Endpoint => ({
  path,
  method: 'POST',
  handle,
  bodyBytes,
  isOpenToPublic: description.isOpenToPublic ?? false,
  operation: operationOf(description, {
    parameters: clientHeaders,
    requestBody: { required: true, content: json(body) },
    responses: { ...description.responses, ...bodyResponses },
  }),
});

const anyGet = (path: string, handle: Handle, description: Description, details: object = {}): Endpoint => ({
  path,
  method: 'GET',
  handle,
  bodyBytes: 0,
  isOpenToPublic: description.isOpenToPublic ?? false,
  operation: operationOf(description, details),
});

export const get = (path: string, handle: Handle, { query, ...description }: Query) =>
  anyGet(path, handle, description, { parameters: parametersOf(query), responses: { ...queryResponses, ...description.responses } });

/** The build of a path: its id, or that of one of its CI runs. */
export const buildId = { name: 'id', in: 'path', required: true, schema: ref('schemas', 'Uuid') };

/** A GET about a build, of which nothing need be recorded yet. */
export const getOfBuild = (path: string, handle: Handle, { query, ...description }: Query) =>
  anyGet(path, handle, description, {
    parameters: [buildId, ...parametersOf(query)],
    responses: { ...queryResponses, ...description.responses, '404': refusal('There is no such build or CI run.') },
  });

/** A GET that takes no query. */
export const plainGet = (path: string, handle: Handle, description: Description) =>
  anyGet(path, handle, { ...description, responses: { ...tokenResponses, ...description.responses } });

/** A GET that needs no token. */
export const publicGet = (path: string, handle: Handle, description: Omit<Description, 'tag'>) =>
  anyGet(path, handle, { ...description, tag: 'Operating', security: [] });
