/** The load that a generator, a worker process, puts on a server: its reply has the outcome. */
export interface Load {
  url: string;
  /** Paths of GET requests, in rotation, instead of bodies. */
  paths?: string[];
  headers: Record<string, string>;
  /** Sent in rotation with `ROUND` replaced, starting with number `from`. */
  bodies: string[];
  from: number;
  /** The duration, or the number of answers that ends the load. */
  seconds: number;
  amount?: number;
  connections: number;
  /** Every correct answer has this status, and a body that contains this text. */
  status: number;
  expected: string;
}

export interface Outcome {
  answers: number;
  /** Answers with another status or body, connection errors, timeouts. */
  failures: number;
  seconds: number;
  p50Milliseconds: number;
  p99Milliseconds: number;
  meanAnswerBytes: number;
  /** The `from` of the next load. */
  next: number;
}
