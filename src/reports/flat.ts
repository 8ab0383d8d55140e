import { jsonValues } from './json.js';
import { type ReadReport, ReportError } from './report.js';

/**
 * Reads `{"path": seconds}`, as pytest-split (`.test_durations`) and knapsack write it; `[["path", seconds]]`, as older
 * pytest-split did; and `{"timings": {"path": seconds}}`, which `replay` also reads.
 */
export const readFlat: ReadReport = async (bytes, addTime) => {
  for await (const { value, at } of jsonValues(bytes, ['$.*', '$.timings.*'])) {
    const [key, inner] = at;
    if (inner !== undefined) addTime(String(inner), toSeconds(value));
    else if (key === 'unit' && typeof value === 'string' && value !== 'seconds') {
      throw new ReportError(`its unit is ${JSON.stringify(value)}: only "seconds" can be read`);
    } else if (Array.isArray(value)) {
      const [path, seconds] = value as unknown[];
      if (typeof path !== 'string')
        throw new ReportError(`entry ${String(key)} is ${JSON.stringify(value).slice(0, 100)}, not a path and its seconds`);
      addTime(path, toSeconds(seconds));
    } else if (typeof key === 'string' && (typeof value === 'number' || value === null)) addTime(key, toSeconds(value));
  }
};

function toSeconds(value: unknown): number {
  return typeof value === 'number' ? value : NaN;
}

/** Reads the timings of cypress-split: `{"durations": [{"spec": "cypress/e2e/a.cy.js", "duration": milliseconds}]}`. */
export const readCypressSplit: ReadReport = async (bytes, addTime) => {
  for await (const { value, at } of jsonValues(bytes, ['$.durations.*'])) {
    const { spec, duration } = (value ?? {}) as { spec?: unknown; duration?: unknown };
    if (typeof spec !== 'string') throw new ReportError(`durations[${String(at[1])}] has no "spec"`);
    addTime(spec, typeof duration === 'number' ? duration / 1000 : NaN);
  }
};

/** Excludes the lines of a backtrace. */
const LINE = /^((?!# |rspec ).+):(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)$/i;

/** Reports whether a line of the text names a file and its seconds. Other lines may come from a formatter that writes to the same file. */
export function isRuntimeLog(text: string): boolean {
  return text.split('\n').some(line => /\.\w+$/.test(LINE.exec(line.trim())?.[1] ?? ''));
}

/** Reads the runtime log of parallel_tests: `path:seconds` on each line. Like parallel_tests, it ignores other output of RSpec. */
export const readParallelTests: ReadReport = async (bytes, addTime) => {
  for await (const text of readLines(bytes)) {
    const [, path, seconds] = LINE.exec(text) ?? [];
    if (path === undefined) addTime(text, NaN, 'the line is not "path:seconds"');
    else addTime(path, Number(seconds));
  }
};

const NEWLINE = 10;

/** Yields the lines of a text, trimmed, without empty lines. */
export async function* readLines(bytes: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let number = 1;
  let rest: Uint8Array[] = [];
  for await (const chunk of bytes) {
    let start = 0;
    for (let end = chunk.indexOf(NEWLINE); end >= 0; end = chunk.indexOf(NEWLINE, start)) {
      yield* decodeLine(number, [...rest, chunk.subarray(start, end)]);
      rest = [];
      number += 1;
      start = end + 1;
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  }
  yield* decodeLine(number, rest);
}

function* decodeLine(number: number, parts: readonly Uint8Array[]): Generator<string> {
  let text;
  try {
    // The decoder removes a byte order mark.
    text = new TextDecoder('utf-8', { fatal: true }).decode(Buffer.concat(parts));
  } catch {
    throw new ReportError(`line ${number} is not UTF-8`);
  }
  text = text.trim();
  if (text !== '') yield text;
}
