import { normal, randomOf } from '../random.js';
import type { History, Suite } from './suites.js';

/** The ratio of a file's next time to what was predicted, as between recordings of real suites: heavy-tailed. */
export function residual(random: () => number): number {
  return Math.exp((random() < 0.97 ? 0.1 : 0.7) * normal(random));
}

/** A suite whose times spread as those of real ones: few long files, many short ones, in some directories. */
export function madeUpSuite(seed: number, files: number): Suite {
  const random = randomOf(seed);
  const timings = new Map<string, number>();
  for (let i = 0; i < files; i++) {
    const directory = Math.floor(random() * Math.sqrt(files));
    timings.set(`spec/area_${directory}/file_${i}_spec.rb`, Math.exp(1.6 * normal(random)));
  }
  return { name: `made up, ${files} files`, timings };
}

/** What a file's true time changes by from day to day, as a variance of its logarithm. */
const DRIFT_PER_DAY = 0.002;

/** A made-up suite and its next recordings, so many days apart: true times drift, recordings are off by residuals. */
export function madeUpHistory(seed: number, files: number, versions: number, days: number): History {
  const random = randomOf(seed);
  const { name, timings } = madeUpSuite(seed, files);
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
