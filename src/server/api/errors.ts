import { limits } from '../../protocol/limits.js';
import { NOT_OPEN } from '../../protocol/public-token.js';
import { type Reason, Refusal } from '../engine/refusal.js';
import type { SessionEnd } from '../engine/sign-in/sign-in.js';
import { SESSION_DAYS, SESSION_IDLE_DAYS } from '../engine/sign-in/sign-in.js';
import { ApiError, type UnavailableReason, unavailable, type ValidationErrors } from '../http/api-error.js';

/** Only the dashboard answers it. The challenge is one that no browser asks a password for. */
const unauthorized = (message: string) => new ApiError(401, [message], { 'WWW-Authenticate': 'Ballast' });

/** Whoever has the secret of a session may know why it ended. */
const ENDS: Record<SessionEnd, string> = {
  unused: ` after ${SESSION_IDLE_DAYS} days without use`,
  old: ` after ${SESSION_DAYS} days`,
  link: ' because its link for readers has expired',
  gone: '',
};

/** Advice to a node with another list of test files, in the words of the protocol and of Ballast's own clients. */
const ANOTHER_LIST = {
  split: 'another list for the same commit needs a split for each CI run (fixed_test_suite_split: false; ballast split --dynamic)',
  'split of a CI run': 'another list needs another CI run (ci_build_id; BALLAST_BUILD_ID)',
  queue: 'another list needs another CI run (node_build_id or test_queue_id; BALLAST_BUILD_ID)',
} as const;

const usedUp = (what: string) =>
  `the public tokens of this project have reached their limit of ${what} a day; try again after 00:00 UTC, or use a secret token`;

/** The error answers of the API. */
export const apiErrors = {
  notJson: (why: string) => new ApiError(400, [`the request body is not valid JSON: ${why}`]),
  signedOut: () => unauthorized('not signed in; "ballast dashboard link" prints a link that signs in'),
  sessionEnded: (end: SessionEnd) => unauthorized(`your session has ended${ENDS[end]}: sign in to go on`),
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
  notPublic: (method: string, path: string) =>
    new ApiError(403, [
      `${method} ${path} ${NOT_OPEN}, which runs and records its own CI runs, and reads nothing else of the project; use a test suite token that is a secret of the CI system`,
    ]),
  publicAllowanceUsed: (what: string, seconds: number) => new ApiError(429, [usedUp(what)], { 'Retry-After': String(seconds) }),
  // For clients that take a 429 for an outage, and run a share of the files chosen by name. On a 422 they fail and print the reason.
  publicAllowanceRefused: (what: string) => new ApiError(422, [usedUp(what)]),
  projectNotReadable: () => new ApiError(403, ['this session does not show this project; sign in with a link of the project']),
  operatorsOnly: () => new ApiError(403, ['this session is read-only; sign in with the password, or a link from "ballast dashboard link"']),
  notOwnPage: () =>
    new ApiError(403, [
      'this request did not come from a page of this dashboard; a browser sends Sec-Fetch-Site or Origin, and the page the header Ballast-Dashboard: 1; ' +
        'behind a proxy that changes Host, set BALLAST_PUBLIC_URL',
    ]),
  pathNotFound: (method: string, path: string) => new ApiError(404, [`there is no ${method} ${path}; the paths of the API begin with /v1`]),
  notBuilt: (what: 'client' | 'dashboard') =>
    new ApiError(404, [`the ${what} was not built: "npm run build" in the folder of Ballast builds it; restart the server afterwards`]),
  adminPathNotFound: (path: string) => new ApiError(404, [`the admin port has no ${path}: it has /metrics, /healthz and /readyz`]),
  // Not 404: newer clients treat a 404 as an outage and silently run every test.
  v2PathNotSupported: (path: string) =>
    new ApiError(422, [
      `this server has no ${path}: its only paths of version 2 of the API are /v2/queues/queue, /v2/queues/heartbeat, /v2/queues/cancel, /v2/test_paths and /v2/test_cases; use a client that needs no others`,
    ]),
  // Not 404: clients treat it as an outage and silently run without a split.
  versionRepeated: (path: string) =>
    new ApiError(422, [
      `this server has no ${path}: the address in the client's settings ends with a version; leave that out, because the client adds it`,
    ]),
  methodNotAllowed: (method: string, path: string, allow: string) =>
    new ApiError(405, [`${method} is not allowed on ${path}; use ${allow}`], { Allow: allow }),
  pathHasLineBreak: (path: string) =>
    new ApiError(406, [
      `cannot answer in text/plain, which has one path per line: the path ${JSON.stringify(path)} has a line break; send Accept: application/json`,
    ]),
  listDiffers: (what: keyof typeof ANOTHER_LIST, difference: string) =>
    new ApiError(409, [
      `${difference}; files that the ${what === 'queue' ? 'queue' : 'split'} lacks would never run: give all nodes of a suite the same list, and each suite its own project; ${ANOTHER_LIST[what]}`,
    ]),
  lacksPieces: (queue: string, node: string | null) =>
    new ApiError(409, [
      `the queue of this CI run has test files in pieces for ${JSON.stringify(queue)}, but this node runs ${node === null ? 'only whole files' : `pieces with ${JSON.stringify(node)}`}: give all nodes the same command and flags, all with --pieces or all without it, and give a suite of another test runner a project of its own`,
    ]),
  clientLeft: () => new ApiError(408, ['the client left before it was answered']),
  notSigningIn: () => new ApiError(422, ['send a link or a password']),
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
  notAtWork: (node: number) =>
    new ApiError(409, [
      `the process node_uuid of node ${node} has no batch of this queue, or another process of the node has begun: a heartbeat changes nothing before the first batch of a process, or after its end`,
    ]),
  unsupportedContentType: (contentType: string) =>
    new ApiError(415, [
      `cannot read a body ${contentType === '' ? 'without a Content-Type' : `of the type ${contentType}`}; send application/json`,
    ]),
  invalid: (errors: ValidationErrors) => new ApiError(422, [errors]),
  // Pages only: see the API's guide for why a CI job gets a 503.
  tooManyPages: (load: string, seconds: number) =>
    new ApiError(429, [`too much is asked for by pages of this project: ${load}; try again in ${seconds} seconds`], {
      'Retry-After': String(seconds),
    }),
  stopping: () => unavailable('stopping', 2, 'the server is shutting down; try again'),
  notReady: (cause: unknown) => unavailable('disk', 1, 'not ready: the store cannot be written; see the server log', cause),
};

/** The answer for each reason for which the engine refuses something: its status, and for a 503 why, and the seconds after which to try again. */
const answers: Readonly<Record<Reason, { status: number; unavailable?: UnavailableReason; retryAfterSeconds?: number }>> = {
  rule: { status: 422 },
  parameter: { status: 422 },
  'not found': { status: 404 },
  // Not 429: clients treat it as an outage at once. Not 422: the next day it is right.
  'daily bytes': { status: 507 },
  busy: { status: 503, unavailable: 'memory', retryAfterSeconds: limits.retryAfterSeconds },
  disk: { status: 503, unavailable: 'disk', retryAfterSeconds: 5 },
  database: { status: 503, unavailable: 'database', retryAfterSeconds: 15 },
  expired: { status: 503, unavailable: 'expired', retryAfterSeconds: 1 },
};

/** The error answer for what a handler threw; null: it is a defect. */
export function toApiError(error: unknown): ApiError | null {
  if (error instanceof ApiError) return error;
  if (!(error instanceof Refusal)) return null;
  const { message, parameter, cause } = error;
  const { status, unavailable = null, retryAfterSeconds } = answers[error.reason];
  const headers = retryAfterSeconds === undefined ? {} : { 'Retry-After': String(retryAfterSeconds) };
  return new ApiError(status, [parameter === null ? message : { [parameter]: [message] }], headers, cause, unavailable);
}
