import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Recorded suites, and made-up ones like them. Times are seconds. */

export interface Suite {
  name: string;
  timings: ReadonlyMap<string, number>;
}

/** Successive recordings of one suite, oldest first. */
export interface History {
  name: string;
  versions: readonly Version[];
}

export interface Version {
  /** Milliseconds since 1970. */
  at: number;
  timings: ReadonlyMap<string, number>;
}

/** The suites of a folder: every FILE.json with {"timings": {path: seconds}}. What was not measured is left out. */
export function readSuites(folder: string): Suite[] {
  return readFolder<{ timings: Record<string, number> }>(folder, 'timings').map(({ name, content }) => ({
    name,
    timings: measured(content.timings),
  }));
}

/** The histories of a folder: every history/FILE.json with {"versions": [{"date", "timings"}]}. */
export function readHistories(folder: string): History[] {
  const histories = join(folder, 'history');
  if (!existsSync(histories)) return [];
  type Content = { versions: { date: string; timings: Record<string, number> }[] };
  return readFolder<Content>(histories, 'versions').map(({ name, content }) => ({
    name,
    versions: content.versions.map(({ date, timings }) => ({ at: Date.parse(date), timings: measured(timings) })),
  }));
}

function readFolder<Content>(folder: string, field: keyof Content): { name: string; content: Content }[] {
  return readdirSync(folder)
    .filter(file => file.endsWith('.json'))
    .sort()
    .map(file => {
      const content = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Content | null;
      if (typeof content?.[field] !== 'object') throw new Error(`${join(folder, file)} has no "${String(field)}"`);
      return { name: file.slice(0, -'.json'.length), content };
    });
}

function measured(timings: Record<string, number>): Map<string, number> {
  return new Map(Object.entries(timings).filter(([, seconds]) => seconds > 0));
}

/** Numbers from 0 to 1, the same for the same seed (mulberry32). */
export function randomOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
}

/** A draw from the normal distribution (Box and Muller 1958). */
export function normal(random: () => number): number {
  return Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
}

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
