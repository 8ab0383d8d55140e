import { jsonValues } from './json.js';
import { type ReadReport, ReportError } from './report.js';

interface TestResult {
  name?: unknown;
  /** Results processors of Jest get this field instead of `name`. */
  testFilePath?: unknown;
  startTime?: unknown;
  endTime?: unknown;
  perfStats?: { start?: unknown; end?: unknown } | null;
  assertionResults?: { duration?: number | null }[] | null;
}

/**
 * Reads the JSON of Jest (`--json --outputFile`) and vitest (`--reporter=json`). A file takes the time from its start to its end, or, without
 * these, the sum of its tests.
 */
export const readJest: ReadReport = async (bytes, addTime) => {
  for await (const { value, at } of jsonValues(bytes, ['$.testResults.*'])) {
    const result = (value ?? {}) as TestResult;
    const path = result.name ?? result.testFilePath;
    if (typeof path !== 'string') throw new ReportError(`testResults[${String(at[1])}] has no "name"`);
    addTime(path, duration(result) / 1000);
  }
};

function duration({ startTime, endTime, perfStats, assertionResults }: TestResult): number {
  const start = startTime ?? perfStats?.start;
  const end = endTime ?? perfStats?.end;
  if (typeof start === 'number' && typeof end === 'number') return end - start;
  return assertionResults?.length ? assertionResults.reduce((sum, { duration }) => sum + (duration ?? 0), 0) : NaN;
}
