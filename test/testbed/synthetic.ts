import { normal, seededRandom } from './random.js';
import type { History, Suite } from './suites.js';

/** Draws the ratio of a file's next time to its prediction. The distribution is heavy-tailed, as between recordings of real suites. */
export function residual(random: () => number): number {
  return Math.exp((random() < 0.97 ? 0.1 : 0.7) * normal(random));
}

/** Makes a suite with times distributed as in real suites: few long files, many short ones, in several directories. */
export function syntheticSuite(seed: number, files: number): Suite {
  const random = seededRandom(seed);
  const timings = new Map<string, number>();
  for (let i = 0; i < files; i++) {
    const directory = Math.floor(random() * Math.sqrt(files));
    timings.set(`spec/area_${directory}/file_${i}_spec.rb`, Math.exp(1.6 * normal(random)));
  }
  return { name: `synthetic, ${files} files`, timings };
}

/** The change of a file's true time in a day, as the variance of its logarithm. */
const DRIFT_PER_DAY = 0.002;

/** Makes a suite and successive recordings of it, `days` apart: true times drift, and recordings differ from them by residuals. */
export function syntheticHistory(seed: number, files: number, versions: number, days: number): History {
  const random = seededRandom(seed);
  const { name, timings } = syntheticSuite(seed, files);
  const levels = new Map(timings);
  return {
    name,
    versions: Array.from({ length: versions }, (_, i) => {
      const recorded = new Map<string, number>();
      for (const [path, seconds] of levels) {
        const level = seconds * Math.exp(Math.sqrt(DRIFT_PER_DAY * days) * normal(random));
        levels.set(path, level);
        recorded.set(path, level * residual(random));
      }
      return { at: i * days * 86_400_000, timings: recorded };
    }),
  };
}
