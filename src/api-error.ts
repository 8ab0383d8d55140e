/** Messages by parameter, as in a 422. In lists such as `test_files` they are nested by position. */
export interface ValidationErrors {
  [parameter: string]: (string | ValidationErrors)[] | ValidationErrors;
}

/**
 * Reasons for a 503: requests take too much memory, too many large suites wait, the disk cannot be written, the data expired during the
 * request, or the server is stopping.
 */
export const unavailableReasons = ['memory', 'jobs', 'disk', 'expired', 'stopping'] as const;
type UnavailableReason = (typeof unavailableReasons)[number];

/** An error answer. Handlers throw it; http/ writes it. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly errors: readonly (string | ValidationErrors)[],
    readonly headers: Readonly<Record<string, string>> = {},
    cause?: unknown,
    /** Set for a 503. */
    readonly reason: UnavailableReason | null = null,
  ) {
    super(`${status} ${JSON.stringify(errors)}`, { cause });
  }
}

const unavailable = (reason: UnavailableReason, retryAfterSeconds: number, message: string, cause?: unknown) =>
  new ApiError(503, [message], { 'Retry-After': String(retryAfterSeconds) }, cause, reason);

/** Only the dashboard answers it. The challenge is one that no browser asks a password for. */
const unauthorized = (message: string) => new ApiError(401, [message], { 'WWW-Authenticate': 'Ballast' });

/** All error answers. */
export const apiErrors = {
  notJson: (why: string) => new ApiError(400, [`the request body is not valid JSON: ${why}`]),
  malformed: (why: string) => new ApiError(400, [`malformed request: ${why}`]),
  signedOut: () => unauthorized('not signed in; "ballast dashboard link" prints a link that signs in'),
  linkInvalid: () => unauthorized('this link was used, revoked or has expired; "ballast dashboard link" prints another'),
  passwordWrong: () =>
    unauthorized('the password is wrong, or none is set; "ballast dashboard password" sets one, "ballast dashboard link" prints a link'),
  tooManySignIns: (seconds: number) =>
    new ApiError(429, [`too many failed sign-ins; try again in ${seconds} s, or use a link from "ballast dashboard link"`], {
      'Retry-After': String(seconds),
    }),
  tokenMissing: (header: string) =>
    new ApiError(403, [`invalid test suite token: none was sent; send the header ${header}, or test_suite_token in the body of a POST`]),
  tokenInvalid: () => new ApiError(403, ['invalid test suite token']),
  projectNotReadable: () => new ApiError(403, ['this session does not show this project; sign in with a link of the project']),
  operatorsOnly: () => new ApiError(403, ['this session is read-only; sign in with the password, or a link from "ballast dashboard link"']),
  notOwnPage: () =>
    new ApiError(403, [
      'this request did not come from a page of this dashboard; a browser sends Sec-Fetch-Site or Origin, and the page the header Ballast-Dashboard: 1; ' +
        'behind a proxy that changes Host, set BALLAST_PUBLIC_URL',
    ]),
  pathNotFound: (method: string, path: string) => new ApiError(404, [`there is no ${method} ${path}; the API's base address ends in /v1`]),
  dashboardNotBuilt: () =>
    new ApiError(404, ['the dashboard was not built: "npm run build" in the folder of Ballast builds it; restart the server afterwards']),
  adminPathNotFound: (path: string) => new ApiError(404, [`the admin port has no ${path}: it has /metrics, /healthz and /readyz`]),
  // Not 404: newer clients treat a 404 as an outage and silently run every test.
  v2PathNotSupported: (path: string) =>
    new ApiError(422, [
      `this server has no ${path}: its only paths of version 2 of the API are /v2/queues/queue and /v2/test_paths; use a client that needs no others`,
    ]),
  // Not 404: clients treat it as an outage and silently run without a split.
  versionRepeated: (path: string) =>
    new ApiError(422, [
      `this server has no ${path}: the address in the client's settings ends with a version; leave that out, because the client adds it`,
    ]),
  buildNotFound: () => new ApiError(404, ['Could not find Build']),
  planNotFound: () =>
    new ApiError(404, [
      'no split and no queue of this build is known, so nothing was expected of it: it expired, or its nodes ran without',
    ]),
  methodNotAllowed: (method: string, path: string, allow: string) =>
    new ApiError(405, [`${method} is not allowed on ${path}; use ${allow}`], { Allow: allow }),
  pathHasLineBreak: (path: string) =>
    new ApiError(406, [
      `cannot answer in text/plain, which has one path per line: the path ${JSON.stringify(path)} has a line break; send Accept: application/json`,
    ]),
  listDiffers: (what: 'split' | 'queue', difference: string) =>
    new ApiError(409, [
      `${difference}; files that are not in the list of the ${what} would never run: give all nodes of a suite the same list, and each suite its own project; ` +
        `to run another list for the same commit, use ${what === 'split' ? 'a split for each CI run (fixed_test_suite_split: false; ballast split --dynamic)' : 'another test_queue_id (ballast queue --build-id)'}`,
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
  dashboardBodyTooLarge: (limitBytes: number) =>
    new ApiError(413, [`the request body is larger than ${limitBytes} bytes, the limit of the dashboard`]),
  bodyTooComplex: (limit: number) =>
    new ApiError(413, [`the request body has more than ${limit} JSON objects and arrays; no valid request needs that many`]),
  // Not an empty batch: that ends the queue, and the node would pass although files did not run. Not 404 or 5xx: clients treat those as an
  // outage and run a share of the files chosen by name. On a 422 they fail and print the reason.
  queueNotFound: (parameter: string) =>
    new ApiError(422, [
      {
        [parameter]: [
          'names no queue of this commit, branch and node_total: the server lost it (was its data folder replaced?), or it expired; the remaining test files are unknown, so run this node again',
        ],
      },
    ]),
  unsupportedContentType: (contentType: string) =>
    new ApiError(415, [
      `cannot read a body ${contentType === '' ? 'without a Content-Type' : `of the type ${contentType}`}; send application/json`,
    ]),
  answerTooLarge: (limit: number) => new ApiError(422, [`the answer has more than ${limit} bytes, the limit of an answer`]),
  buildTooLarge: (what: string, limit: number) =>
    new ApiError(422, [
      `cannot merge or compare the runs of the build: they have more than ${limit} ${what}; read its runs one by one with GET /v1/builds/:id`,
    ]),
  tooManyNodesToPlay: (nodes: number, limit: number) =>
    new ApiError(422, [`cannot play a build of ${nodes} nodes again: the limit is ${limit} nodes`]),
  refused: (sentence: string) => new ApiError(422, [sentence]),
  invalid: (errors: ValidationErrors) => new ApiError(422, [errors]),
  internal: (requestId: string) =>
    new ApiError(500, [`internal error; the server's log has the details under the request id ${requestId}`]),
  // Not 429: clients treat it as an outage at once. Not 422: the next day it is right.
  dailyBytesStored: (limit: number) =>
    new ApiError(507, [
      `this project has stored ${limit} bytes today, as much as the server's setting BALLAST_DAILY_BYTES_PER_PROJECT allows; raise it, or wait until 00:00 UTC`,
    ]),
  overloaded: (reason: 'memory' | 'jobs', load: string, retryAfterSeconds: number) =>
    unavailable(reason, retryAfterSeconds, `overloaded: ${load}; try again in ${retryAfterSeconds} seconds`),
  // Pages only: see the API's guide for why a CI job gets a 503.
  tooManyPages: (load: string, seconds: number) =>
    new ApiError(429, [`too much is asked for by pages of this project: ${load}; try again in ${seconds} seconds`], {
      'Retry-After': String(seconds),
    }),
  storeFailed: (cause: unknown) =>
    unavailable('disk', 5, 'the store cannot be written (is the disk of BALLAST_DATA_DIR full?); try again', cause),
  expired: (what: string) => unavailable('expired', 1, `the ${what} expired during the request; try again`),
  stopping: () => unavailable('stopping', 2, 'the server is shutting down; try again'),
  notReady: (cause: unknown) => unavailable('disk', 1, 'not ready: the store cannot be written; see the server log', cause),
};
