import { isUtf8 } from 'node:buffer';
import { buffer } from 'node:stream/consumers';
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
  const lines = (await buffer(bytes)).toString('latin1').split('\n');
  for (const [i, line] of lines.entries()) {
    const lineBytes = Buffer.from(line, 'latin1');
    if (!isUtf8(lineBytes)) throw new ReportError(`line ${i + 1} is not UTF-8`);
    // This also removes a byte order mark.
    const text = lineBytes.toString().trim();
    const [, path, seconds] = LINE.exec(text) ?? [];
    if (path !== undefined) addTime(path, Number(seconds));
    else if (text !== '') addTime(text, NaN, 'the line is not "path:seconds"');
  }
};
