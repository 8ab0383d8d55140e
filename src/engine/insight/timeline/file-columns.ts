import type { TimelineFiles } from './timeline.js';

/** Files as columns, to which recorded files are added that were not planned. */
export class FileColumns {
  readonly #paths: string[] = [];
  readonly #estimates: number[] = [];
  readonly #isGuess: number[] = [];
  readonly #indices = new Map<string, number>();

  /** Adds a planned file, or returns its index if it is known. @param seconds its estimate; NaN: the plan does not have it */
  plan(path: string, seconds: number, isGuess: boolean): number {
    const known = this.#indices.get(path);
    if (known !== undefined) return known;
    this.#estimates.push(seconds);
    this.#isGuess.push(isGuess ? 1 : 0);
    this.#indices.set(path, this.#paths.length);
    return this.#paths.push(path) - 1;
  }

  /** The index of a recorded file, which is added if it was not planned. */
  add(path: string): number {
    return this.plan(path, NaN, false);
  }

  path(file: number): string {
    return this.#paths[file]!;
  }

  /** The estimate of a file in seconds; 0: unknown. */
  estimate(file: number): number {
    return this.#estimates[file]! || 0;
  }

  find(path: string): number | undefined {
    return this.#indices.get(path);
  }

  toColumns(): TimelineFiles {
    return { paths: this.#paths, estimates: Float64Array.from(this.#estimates), isGuess: Uint8Array.from(this.#isGuess) };
  }
}
