import { posix } from 'node:path';
import { jsonValues } from './json.js';
import { type ReadReport, ReportError } from './report.js';

interface PlaywrightSuite {
  file?: unknown;
  specs?: { tests?: { results?: { duration?: number | null }[] | null }[] | null }[] | null;
  suites?: PlaywrightSuite[] | null;
}

/**
 * What Playwright's JSON reporter writes. A file takes what its tests take in all projects, each by its last attempt: a
 * retry is an accident and not what the file takes. Paths are relative to the folder of the configuration, as they are
 * named on the command line, unless another root is named. Merged reports do not tell of a configuration: then they are absolute.
 */
export const readPlaywright: ReadReport = async (bytes, tell, { root }) => {
  let rootDir = '';
  let configFile = '';
  const times = new Map<string, number>();
  for await (const { value, at } of jsonValues(bytes, ['$.config.rootDir', '$.config.configFile', '$.suites.*'])) {
    if (at[0] === 'suites') {
      const suite = (value ?? {}) as PlaywrightSuite;
      if (typeof suite.file !== 'string') throw new ReportError(`suites[${String(at[1])}] has no "file"`);
      // Each project may have a suite of its own for the file.
      times.set(suite.file, (times.get(suite.file) ?? 0) + suiteDuration(suite));
    } else if (typeof value === 'string') {
      if (at[1] === 'rootDir') rootDir = toForwardSlashes(value);
      else configFile = toForwardSlashes(value);
    }
  }
  for (const [file, milliseconds] of times) {
    const path = posix.join(rootDir, toForwardSlashes(file));
    tell(root === null && configFile ? posix.relative(posix.dirname(configFile), path) : path, milliseconds / 1000);
  }
};

function suiteDuration({ specs, suites }: PlaywrightSuite): number {
  let sum = 0;
  for (const { tests } of specs ?? []) for (const { results } of tests ?? []) sum += results?.at(-1)?.duration ?? 0;
  for (const suite of suites ?? []) sum += suiteDuration(suite);
  return sum;
}

/** Windows names some of them with backslashes. */
function toForwardSlashes(path: string): string {
  return path.replaceAll('\\', '/');
}
