import { jsonValues } from './json.js';
import { type ReadReport, ReportError } from './report.js';

/** Reads the timings of cypress-split: `{"durations": [{"spec": "cypress/e2e/a.cy.js", "duration": milliseconds}]}`. */
export const readCypressSplit: ReadReport = async (bytes, addTime) => {
  for await (const { value, at } of jsonValues(bytes, ['$.durations.*'])) {
    const { spec, duration } = (value ?? {}) as { spec?: unknown; duration?: unknown };
    if (typeof spec !== 'string') throw new ReportError(`durations[${String(at[1])}] has no "spec"`);
    addTime(spec, typeof duration === 'number' ? duration / 1000 : NaN);
  }
};
