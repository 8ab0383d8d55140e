/** Messages by parameter; inside `test_files` nested by position. The shape of a 422. */
export interface ValidationErrors {
  [parameter: string]: (string | ValidationErrors)[] | ValidationErrors;
}

/** Why a request is answered with 503: what requests hold, large suites that wait, the disk, what expired meanwhile, the end of the server. */
export const unavailableReasons = ['memory', 'jobs', 'disk', 'expired', 'stopping'] as const;
type UnavailableReason = (typeof unavailableReasons)[number];

/** What is answered instead of a result: thrown by handlers, written by http/. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly errors: readonly (string | ValidationErrors)[],
    readonly headers: Readonly<Record<string, string>> = {},
    cause?: unknown,
    /** Of a 503. */
    readonly reason: UnavailableReason | null = null,
  ) {
    super(`${status} ${JSON.stringify(errors)}`, { cause });
  }
}

const unavailable = (reason: UnavailableReason, retryAfterSeconds: number, sentence: string, cause?: unknown) =>
  new ApiError(503, [sentence], { 'Retry-After': String(retryAfterSeconds) }, cause, reason);

/** The closed list of faults and their sentences. */
export const apiErrors = {
  notJson: (why: string) => new ApiError(400, [`the request body is not valid JSON: ${why}`]),
  malformed: (why: string) => new ApiError(400, [`malformed request: ${why}`]),
  tokenMissing: (header: string) =>
    new ApiError(403, [`invalid test suite token: none was sent; send the header ${header}, or test_suite_token in the body of a POST`]),
  tokenInvalid: () => new ApiError(403, ['invalid test suite token']),
  pathNotFound: (method: string, path: string) => new ApiError(404, [`there is no ${method} ${path}; the API's base address ends in /v1`]),
  adminPathNotFound: (path: string) => new ApiError(404, [`the admin port has no ${path}: it has /metrics, /healthz and /readyz`]),
  // Not 404: newer clients take a 404 for an outage and run every test without saying so.
  v2PathNotSupported: (path: string) =>
    new ApiError(422, [
      `this server has no ${path}: of version 2 of the API it has /v2/queues/queue and /v2/test_paths, and the rest is version 1; use a client that needs no more`,
    ]),
  // Clients answer a 404 by silently running without a split.
  versionRepeated: (path: string) =>
    new ApiError(422, [
      `this server has no ${path}: the address that the client was given ends with a version; leave that out, as the client adds it`,
    ]),
  buildNotFound: () => new ApiError(404, ['Could not find Build']),
  methodNotAllowed: (method: string, path: string, allow: string) =>
    new ApiError(405, [`${method} is not allowed on ${path}; use ${allow}`], { Allow: allow }),
  pathHasLineBreak: (path: string) =>
    new ApiError(406, [
      `the path ${JSON.stringify(path)} has a line break, and in text/plain a line is a path; ask with Accept: application/json`,
    ]),
  listDiffers: (what: 'split' | 'queue', sentence: string) =>
    new ApiError(409, [
      `${sentence}; a file that is not in the list of the ${what} would never run: give all nodes of a suite the same list, and each suite a project of its own; ` +
        `for another list of the same commit, use ${what === 'split' ? 'a split for each CI run (fixed_test_suite_split: false; ballast split --dynamic)' : 'another test_queue_id (ballast queue --build-id)'}`,
    ]),
  headTooLarge: (bytes: number, headers: number) =>
    new ApiError(431, [`the head of the request has more than ${bytes} bytes or ${headers} headers; send fewer`]),
  headTooSlow: (seconds: number) => new ApiError(408, [`the head of the request did not arrive within ${seconds} seconds`]),
  bodyTooSlow: (seconds: number) => new ApiError(408, [`the request body did not arrive within ${seconds} seconds`]),
  clientLeft: () => new ApiError(408, ['the client left before it was answered']),
  bodyTooLarge: (limitBytes: number) =>
    new ApiError(413, [
      `the request body is larger than ${limitBytes} bytes; the server's setting BALLAST_MAX_BODY_BYTES raises the limit`,
    ]),
  bodyTooComplex: (limit: number) =>
    new ApiError(413, [`the request body has more than ${limit} JSON objects and arrays, and no request needs as many`]),
  // Not an empty batch: it ends a queue, and the node would pass with files unrun. Not 404 or 5xx: clients take those for an outage, and run
  // a part of the files by name. At a 422 they fail and say why.
  queueNotFound: (parameter: string) =>
    new ApiError(422, [
      {
        [parameter]: [
          'names no queue of this commit, branch and node_total: the server lost it (was its data folder replaced?), or it expired; the remaining test files are unknown, so run this node again',
        ],
      },
    ]),
  unsupportedContentType: (contentType: string) =>
    new ApiError(415, [`cannot read a body of the type ${contentType}; send application/json`]),
  answerTooLarge: (limit: number) => new ApiError(422, [`the answer has more than ${limit} bytes, the limit of an answer`]),
  buildTooLarge: (what: string, limit: number) =>
    new ApiError(422, [
      `cannot merge or compare the runs of the build: they have more than ${limit} ${what}; read its runs one by one with GET /v1/builds/:id`,
    ]),
  invalid: (complaints: ValidationErrors) => new ApiError(422, [complaints]),
  internal: (requestId: string) =>
    new ApiError(500, [`internal error; the server's log has the details under the request id ${requestId}`]),
  overloaded: (reason: 'memory' | 'jobs', what: string, retryAfterSeconds: number) =>
    unavailable(reason, retryAfterSeconds, `overloaded: ${what}; try again in ${retryAfterSeconds} seconds`),
  storeFailed: (cause: unknown) =>
    unavailable('disk', 5, 'the store cannot be written (is the disk of BALLAST_DATA_DIR full?); try again', cause),
  expired: (what: string) => unavailable('expired', 1, `the ${what} expired while it was asked for; try again`),
  stopping: () => unavailable('stopping', 2, 'the server is about to stop; ask again'),
  notReady: (cause: unknown) => unavailable('disk', 1, 'not ready: the store cannot be written; see the server log', cause),
};
