import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Recorded test suites. Times are in seconds. */

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

/** Reads the suites of a folder: every FILE.json with {"timings": {path: seconds}}. Files without a time are left out. */
export function readSuites(folder: string): Suite[] {
  return readFolder<{ timings: Record<string, number> }>(folder, 'timings').map(({ name, content }) => ({
    name,
    timings: withTimes(content.timings),
  }));
}

/** Reads the histories of a folder: every history/FILE.json with {"versions": [{"date", "timings"}]}. */
export function readHistories(folder: string): History[] {
  const histories = join(folder, 'history');
  if (!existsSync(histories)) return [];
  type Content = { versions: { date: string; timings: Record<string, number> }[] };
  return readFolder<Content>(histories, 'versions').map(({ name, content }) => ({
    name,
    versions: content.versions.map(({ date, timings }) => ({ at: Date.parse(date), timings: withTimes(timings) })),
  }));
}

function readFolder<Content>(folder: string, field: keyof Content): { name: string; content: Content }[] {
  if (!existsSync(folder)) throw new Error(`cannot read test suites from ${folder}: there is no such folder`);
  return readdirSync(folder)
    .filter(file => file.endsWith('.json'))
    .sort()
    .map(file => {
      const content = JSON.parse(readFileSync(join(folder, file), 'utf8')) as Content | null;
      if (typeof content?.[field] !== 'object')
        throw new Error(`cannot read ${join(folder, file)}: it is not a JSON object with "${String(field)}"`);
      return { name: file.slice(0, -'.json'.length), content };
    });
}

function withTimes(timings: Record<string, number>): Map<string, number> {
  return new Map(Object.entries(timings).filter(([, seconds]) => seconds > 0));
}
