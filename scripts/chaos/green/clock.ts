import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Shifts the clock of a server; loaded before its program (--import). The query of this module's address names the file that has the
 * offset, in hours. Monotonic clocks are not shifted.
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
