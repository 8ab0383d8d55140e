import { limits } from '../../protocol/limits.js';

/** Entries that were left out for one reason. */
export interface Skipped {
  reason: string;
  count: number;
  examples: string[];
}

const MAX_EXAMPLES = 3;
const MAX_EXAMPLE_CHARACTERS = 200;
/** No test file takes longer: the unit is not seconds, or the machine was suspended. */
const MAX_PLAUSIBLE_SECONDS = 86_400;

/** Counts what was left out, by reason, and keeps a few examples. */
export class SkippedEntries {
  readonly #byReason = new Map<string, Skipped>();

  add(reason: string, example: string): void {
    const skipped = this.#byReason.get(reason) ?? { reason, count: 0, examples: [] };
    skipped.count += 1;
    if (skipped.examples.length < MAX_EXAMPLES)
      skipped.examples.push(example.length > MAX_EXAMPLE_CHARACTERS ? `${example.slice(0, MAX_EXAMPLE_CHARACTERS)}...` : example);
    this.#byReason.set(reason, skipped);
  }

  get entries(): Skipped[] {
    return [...this.#byReason.values()];
  }
}

/** Returns why a path cannot be recorded; null: it can. */
export function pathError(path: string): string | null {
  const { pathMinCharacters: min, pathMaxCharacters: max } = limits;
  if (path.length < min || path.length > max) return `the path does not have ${min} to ${max} characters`;
  return path.isWellFormed() && !path.includes('\0') ? null : 'the path has a NUL, or half a surrogate pair';
}

/** Returns why a time cannot be recorded; null: it can. */
export function secondsError(seconds: number): string | null {
  if (Number.isNaN(seconds)) return 'it has no time';
  if (seconds < 0) return 'its time is negative';
  return seconds > MAX_PLAUSIBLE_SECONDS ? 'its time is more than a day: times must be in seconds' : null;
}
