import type { LearnedCost } from '../../../protocol/answers/minutes.js';
import type { TimelineFiles } from './timeline.js';

/** Files as columns, to which recorded files are added that were not planned. */
export class FileColumns implements TimelineFiles {
  readonly paths: string[] = [];
  readonly estimates: (number | null)[] = [];
  readonly is_guess: (0 | 1)[] = [];
  /** Cost of a batch of the files, as far as it is known. */
  cost: LearnedCost | null = null;
  readonly #indices = new Map<string, number>();

  /** Adds a planned file, unless it was added before. Returns its index. @param seconds its estimate; null: the plan does not have it */
  plan(path: string, seconds: number | null, isGuess: boolean): number {
    const found = this.#indices.get(path);
    if (found !== undefined) return found;
    this.estimates.push(seconds);
    this.is_guess.push(isGuess ? 1 : 0);
    this.#indices.set(path, this.paths.length);
    return this.paths.push(path) - 1;
  }

  /** The index of a recorded file, which is added if it was not planned. */
  add(path: string): number {
    return this.plan(path, null, false);
  }

  /** The estimate of a file in seconds; 0: unknown. */
  estimate(file: number): number {
    return this.estimates[file] ?? 0;
  }

  find(path: string): number | undefined {
    return this.#indices.get(path);
  }
}
