/** Messages by parameter, as in a 422. In lists such as `test_files` they are nested by position. */
export interface ValidationErrors {
  [parameter: string]: (string | ValidationErrors)[] | ValidationErrors;
}

/**
 * Reasons for a 503: requests take too much memory, too many large suites wait, the disk cannot be written, the data expired during the
 * request, or the server is stopping.
 */
export const unavailableReasons = ['memory', 'jobs', 'disk', 'database', 'expired', 'stopping'] as const;
export type UnavailableReason = (typeof unavailableReasons)[number];

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

export const unavailable = (reason: UnavailableReason, retryAfterSeconds: number, message: string, cause?: unknown) =>
  new ApiError(503, [message], { 'Retry-After': String(retryAfterSeconds) }, cause, reason);

/** The errors of the transport. */
export const httpErrors = {
  malformed: (why: string) => new ApiError(400, [`malformed request: ${why}`]),
  headTooLarge: (bytes: number, headers: number) =>
    new ApiError(431, [`the head of the request has more than ${bytes} bytes or ${headers} headers; send fewer`]),
  headTooSlow: (seconds: number) => new ApiError(408, [`the head of the request did not arrive within ${seconds} seconds`]),
  bodyTooSlow: (seconds: number) => new ApiError(408, [`the request body did not arrive within ${seconds} seconds`]),
  /** @param isOfPath the server takes larger bodies elsewhere */
  bodyTooLarge: (limitBytes: number, isOfPath: boolean) =>
    new ApiError(413, [
      `the request body is larger than ${limitBytes} bytes${isOfPath ? ', the limit of this path; send less in each request' : "; the server's setting BALLAST_MAX_BODY_BYTES raises the limit"}`,
    ]),
  answerTooLarge: (limit: number) => new ApiError(422, [`the answer has more than ${limit} bytes, the limit of an answer`]),
  internal: (requestId: string) =>
    new ApiError(500, [`internal error; the server's log has the details under the request id ${requestId}`]),
  overloaded: (reason: 'memory' | 'jobs', load: string, retryAfterSeconds: number) =>
    unavailable(reason, retryAfterSeconds, `overloaded: ${load}; try again in ${retryAfterSeconds} seconds`),
};
