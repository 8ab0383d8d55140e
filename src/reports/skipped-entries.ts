import { limits } from '../limits.js';

/** What was left out, and a few of it. */
export interface Skipped {
  reason: string;
  count: number;
  examples: string[];
}

const MAX_EXAMPLES = 3;
const MAX_EXAMPLE_CHARACTERS = 200;
/** No test file takes longer: it is of another unit, or a laptop was asleep. */
const MAX_PLAUSIBLE_SECONDS = 86_400;

/** What was left out and why, however much of it there is. */
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

/** Why a path cannot be recorded, null when it can. */
export function pathError(path: string): string | null {
  const { pathMinCharacters: least, pathMaxCharacters: most } = limits;
  return path.length < least || path.length > most ? `the path has not ${least} to ${most} characters` : null;
}

/** Why a time cannot count, null when it can. */
export function secondsError(seconds: number): string | null {
  if (Number.isNaN(seconds)) return 'it has no time';
  if (seconds < 0) return 'its time is negative';
  return seconds > MAX_PLAUSIBLE_SECONDS ? 'it took more than a day: is that seconds?' : null;
}
