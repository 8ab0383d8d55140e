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
