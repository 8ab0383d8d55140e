/** The connection that a request came on. */
export interface Caller {
  /** The client says that it sent this request before. */
  isRetry: boolean;
  /**
   * Whether the client has closed the connection. A process that stood still reads requests whose clients have long repeated them at another
   * process, and gone on: their connections are closed.
   */
  hasLeft: () => boolean;
}

/** A client that sends a request once, and waits for the answer. */
export const waitingCaller: Caller = { isRetry: false, hasLeft: () => false };
