import { readFileSync } from 'node:fs';

/** Seconds by path. */
export type Timings = ReadonlyMap<string, number>;

/** Reads {"timings": {path: seconds}} or {path: seconds}. */
export function readTimings(file: string): Timings {
  const content = readJson(file) as { timings?: unknown; unit?: unknown };
  if (typeof content !== 'object' || content === null || Array.isArray(content) || 'versions' in content) {
    throw new Error(`${file} is not one recording: expected {"timings": {path: seconds}} or {path: seconds}`);
  }
  const isNested = typeof content.timings === 'object' && content.timings !== null;
  if (isNested && content.unit !== undefined && content.unit !== 'seconds') {
    throw new Error(`${file} has the unit ${JSON.stringify(content.unit)}: only "seconds" can be replayed`);
  }
  const entries = Object.entries(isNested ? (content.timings as object) : content) as [string, unknown][];
  const invalid = entries.find(([path, seconds]) => path.length < 3 || typeof seconds !== 'number' || !(seconds >= 0));
  if (invalid) throw new Error(`${file}: ${JSON.stringify(invalid[0])} has ${JSON.stringify(invalid[1])}, not seconds`);
  if (entries.length === 0) throw new Error(`${file} has no timings`);
  return new Map(entries as [string, number][]);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch (error) {
    throw new Error(`cannot read ${file} as JSON: ${(error as Error).message.split('\n')[0]}`);
  }
}
