import { posix } from 'node:path';
import { jsonValues } from './json.js';
import { type ReadReport, ReportError } from './report.js';

interface PlaywrightSuite {
  file?: unknown;
  specs?: { tests?: { results?: { duration?: number | null }[] | null }[] | null }[] | null;
  suites?: PlaywrightSuite[] | null;
}

/**
 * Reads the output of Playwright's JSON reporter. A file takes the time of its tests in all projects. Only the last attempt of a test counts,
 * because retries are accidents. Paths are relative to the folder of the configuration file, as on the command line, unless a root is given.
 * Merged reports name no configuration file: their paths are absolute.
 */
export const readPlaywright: ReadReport = async (bytes, addTime, { root }) => {
  let rootDir = '';
  let configFile = '';
  const times = new Map<string, number>();
  for await (const { value, at } of jsonValues(bytes, ['$.config.rootDir', '$.config.configFile', '$.suites.*'])) {
    if (at[0] === 'suites') {
      const suite = (value ?? {}) as PlaywrightSuite;
      if (typeof suite.file !== 'string') throw new ReportError(`suites[${String(at[1])}] has no "file"`);
      // Each project may have its own suite for the file.
      times.set(suite.file, (times.get(suite.file) ?? 0) + suiteDuration(suite));
    } else if (typeof value === 'string') {
      if (at[1] === 'rootDir') rootDir = toForwardSlashes(value);
      else configFile = toForwardSlashes(value);
    }
  }
  for (const [file, milliseconds] of times) {
    const path = posix.join(rootDir, toForwardSlashes(file));
    addTime(root === null && configFile ? posix.relative(posix.dirname(configFile), path) : path, milliseconds / 1000);
  }
};

function suiteDuration({ specs, suites }: PlaywrightSuite): number {
  let sum = 0;
  for (const { tests } of specs ?? []) for (const { results } of tests ?? []) sum += results?.at(-1)?.duration ?? 0;
  for (const suite of suites ?? []) sum += suiteDuration(suite);
  return sum;
}

/** On Windows some paths have backslashes. */
function toForwardSlashes(path: string): string {
  return path.replaceAll('\\', '/');
}
