/** Seconds that a file is taken for while no file of the project was ever measured. */
const FIRST_GUESS_SECONDS = 1;
/** Underestimating a new file costs more than overestimating it. */
const GUESS_PERCENTILE = 0.75;
/** The least weight: even an instant file is not free. */
const LEAST_SECONDS = 0.001;

export interface Estimate {
  path: string;
  /** As it is answered: null when the file was never measured. */
  time_execution: number | null;
  /** Seconds to plan with. */
  weight: number;
}

/** The estimates of all files, slowest first; equal ones by path. */
export function estimate(paths: readonly string[], timings: readonly (number | null)[]): Estimate[] {
  const known = timings.filter(seconds => seconds !== null).sort((a, b) => a - b);
  const guess = known[Math.floor(known.length * GUESS_PERCENTILE)] ?? FIRST_GUESS_SECONDS;
  return paths
    .map((path, i) => {
      const time_execution = timings[i] ?? null;
      return { path, time_execution, weight: Math.max(LEAST_SECONDS, time_execution ?? guess) };
    })
    .sort((a, b) => b.weight - a.weight || (a.path < b.path ? -1 : 1));
}
