import { createHistogram } from 'node:perf_hooks';

/** The answers to a load. Milliseconds count correct answers only. */
export interface LoadOutcome {
  answers: number;
  failures: number;
  /** The first failure, as a sentence. */
  failure: string | null;
  seconds: number;
  p50Milliseconds: number;
  p99Milliseconds: number;
  maxMilliseconds: number;
}

/** Counts the answers of a load. */
export class Tally {
  readonly #from = performance.now();
  readonly #microseconds = createHistogram();
  #failures = 0;
  #failure: string | null = null;

  recordAnswer(milliseconds: number): void {
    this.#microseconds.record(Math.max(1, Math.round(milliseconds * 1000)));
  }

  recordFailure(error: unknown): void {
    this.#failures += 1;
    this.#failure ??= (error as Error).message;
  }

  outcome(): LoadOutcome {
    const answers = this.#microseconds.count;
    const percentile = (percent: number) => (answers === 0 ? 0 : this.#microseconds.percentile(percent) / 1000);
    return {
      answers,
      failures: this.#failures,
      failure: this.#failure,
      seconds: (performance.now() - this.#from) / 1000,
      p50Milliseconds: percentile(50),
      p99Milliseconds: percentile(99),
      maxMilliseconds: answers === 0 ? 0 : this.#microseconds.max / 1000,
    };
  }
}

/** Throws if a request failed: the measurement is then invalid. */
export function assertNoFailures(outcomes: readonly LoadOutcome[]): void {
  const failed = outcomes.find(({ failures }) => failures > 0);
  if (failed) throw new Error(`${failed.failures} requests failed; the first failure: ${failed.failure}`);
}
