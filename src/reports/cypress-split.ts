import { jsonValues } from './json.js';
import { type ReadReport, ReportError } from './report.js';

/** The timings of cypress-split: `{"durations": [{"spec": "cypress/e2e/a.cy.js", "duration": milliseconds}]}`. */
export const readCypressSplit: ReadReport = async (bytes, tell) => {
  for await (const { value, at } of jsonValues(bytes, ['$.durations.*'])) {
    const { spec, duration } = (value ?? {}) as { spec?: unknown; duration?: unknown };
    if (typeof spec !== 'string') throw new ReportError(`durations[${String(at[1])}] has no "spec"`);
    tell(spec, typeof duration === 'number' ? duration / 1000 : NaN);
  }
};
