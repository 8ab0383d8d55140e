import { linesOf } from './lines.js';
import { ReportError, type ReadReport } from './report.js';

const LINE = /^(.+):(-?\d+(?:\.\d+)?(?:e-?\d+)?)$/i;

/** The runtime log of parallel_tests: `path:seconds`, a line each. It names a file once for each of its classes. */
export const readParallelTests: ReadReport = async (bytes, tell) => {
  for await (const { number, text } of linesOf(bytes)) {
    const [, path, seconds] = LINE.exec(text) ?? [];
    if (path === undefined) throw new ReportError(`line ${number} is no "path:seconds": ${JSON.stringify(text.slice(0, 100))}`);
    tell(path, Number(seconds));
  }
};
