import type { Cpu } from './cpu.js';

/** The load that a generator, a worker process, puts on a server: its reply has the outcome. */
export interface Load {
  url: string;
  headers: Record<string, string>;
  /** Sent in rotation with `ROUND` replaced, starting with number `from`. */
  bodies: string[];
  from: number;
  /** The duration. wrk rounds it up to whole seconds. */
  seconds: number;
  /** The number of answers that ends the load, instead of the duration. wrk has no such limit. */
  amount?: number;
  connections: number;
  /** The status of every correct answer. */
  status: number;
  /**
   * A text in the body of every correct answer. null: the server reads nothing of a request and answers all alike. A generator may then send
   * the same request each time, and count only errors as failures.
   */
  expected: string | null;
}

export interface Outcome {
  answers: number;
  /** Answers with another status or body, connection errors, timeouts. */
  failures: number;
  seconds: number;
  p50Milliseconds: number;
  p99Milliseconds: number;
  /** Mean length of the bodies; 0 if they were not read. */
  meanAnswerBytes: number;
  /** The `from` of the next load. */
  next: number;
  /** Processor time of the generator. */
  cpu: Cpu;
}
