import { readLines } from './lines.js';
import type { ReadReport } from './report.js';

/** Not of a place in a backtrace. */
const LINE = /^((?!# |rspec ).+):(-?\d+(?:\.\d+)?(?:e[-+]?\d+)?)$/i;

/** Whether this is such a log: some line of it names a file. There is more in it where a formatter writes to the same file. */
export function isRuntimeLog(text: string): boolean {
  return text.split('\n').some(line => /\.\w+$/.test(LINE.exec(line.trim())?.[1] ?? ''));
}

/** The runtime log of parallel_tests: `path:seconds`, a line each. What else RSpec wrote there is left out, as parallel_tests does. */
export const readParallelTests: ReadReport = async (bytes, tell) => {
  for await (const text of readLines(bytes)) {
    const [, path, seconds] = LINE.exec(text) ?? [];
    if (path === undefined) tell(text, NaN, 'the line is no "path:seconds"');
    else tell(path, Number(seconds));
  }
};
