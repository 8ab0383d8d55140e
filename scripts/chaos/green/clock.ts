import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * Shifts the clock of a server. It is loaded before the program (--import). The query of this module's URL names a file that contains the
 * offset in hours. Monotonic clocks are not shifted.
 */

const READ_MILLISECONDS = 5;
const file = fileURLToPath(new URL(import.meta.url).searchParams.get('file')!);
const trueNow = Date.now;
let offset = 0;
let readAt = -Infinity;

Date.now = () => {
  const uptime = performance.now();
  if (uptime - readAt > READ_MILLISECONDS) {
    readAt = uptime;
    offset = 3_600_000 * Number(readFileSync(file, 'utf8'));
  }
  return trueNow() + offset;
};
