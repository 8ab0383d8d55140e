import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Loaded into a server before its program (--import): what its clock is off by, in hours, is in the file that the query of this module's
 * address names. Monotonic clocks stay as they are.
 */

const LOOK_MILLISECONDS = 5;
const file = fileURLToPath(new URL(import.meta.url).searchParams.get('file')!);
const trueNow = Date.now;
let offset = 0;
let lookedAt = -Infinity;

Date.now = () => {
  const uptime = performance.now();
  if (uptime - lookedAt > LOOK_MILLISECONDS) {
    lookedAt = uptime;
    offset = 3_600_000 * Number(readFileSync(file, 'utf8'));
  }
  return trueNow() + offset;
};
