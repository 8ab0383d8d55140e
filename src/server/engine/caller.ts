/** The connection that a request came on. */
export interface Caller {
  /** The client says that it sent this request before. */
  isRetry: boolean;
  /**
   * Reports whether the client has closed the connection. A process that stood still reads requests whose clients have long closed their connections,
   * repeated the requests at another process, and gone on.
   */
  hasLeft: () => boolean;
}
