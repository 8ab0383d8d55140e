import { jsonValues } from './json.js';
import { type ReadReport, ReportError } from './report.js';

interface TestResult {
  name?: unknown;
  /** As a results processor is given it. */
  testFilePath?: unknown;
  startTime?: unknown;
  endTime?: unknown;
  perfStats?: { start?: unknown; end?: unknown } | null;
  assertionResults?: { duration?: number | null }[] | null;
}

/**
 * What Jest (`--json --outputFile`) and vitest (`--reporter=json`) write: from start to end of each file, in
 * milliseconds; of a file without these the sum of its tests.
 */
export const readJest: ReadReport = async (bytes, tell) => {
  for await (const { value, at } of jsonValues(bytes, ['$.testResults.*'])) {
    const result = (value ?? {}) as TestResult;
    const path = result.name ?? result.testFilePath;
    if (typeof path !== 'string') throw new ReportError(`testResults[${String(at[1])}] has no "name"`);
    tell(path, duration(result) / 1000);
  }
};

function duration({ startTime, endTime, perfStats, assertionResults }: TestResult): number {
  const start = startTime ?? perfStats?.start;
  const end = endTime ?? perfStats?.end;
  if (typeof start === 'number' && typeof end === 'number') return end - start;
  return assertionResults?.length ? assertionResults.reduce((sum, { duration }) => sum + (duration ?? 0), 0) : NaN;
}
