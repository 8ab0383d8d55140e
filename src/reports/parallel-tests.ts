import { readLines } from './lines.js';
import type { ReadReport } from './report.js';

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
