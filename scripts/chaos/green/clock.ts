import { readFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import promises from 'node:timers/promises';

/**
 * Shifts the clock of a process, and speeds up its time. It is loaded before the program (--import), and the query of this module's URL has
 * its settings: see clock-import.ts.
 */

const READ_MILLISECONDS = 5;
/** Shorter ones wait for what this machine does, which is not faster: a server waits for an answer of its database in intervals of 3 s. */
const SHORTEST_INTERVAL_MILLISECONDS = 10_000;
const SHORTEST_TIMEOUT_MILLISECONDS = 1000;
const { searchParams: settings } = new URL(import.meta.url);
const speed = Number(settings.get('speed') ?? 1);
const since = Number(settings.get('since') ?? 0);
const file = settings.get('file');

const trueNow = Date.now;
const trueUptime = performance.now.bind(performance);
let offset = 0;
let readAt = -Infinity;

Date.now = () => {
  const uptime = trueUptime();
  if (file !== null && uptime - readAt > READ_MILLISECONDS) {
    readAt = uptime;
    offset = 3_600_000 * Number(readFileSync(file, 'utf8'));
  }
  return since + Math.floor((trueNow() - since) * speed) + offset;
};

if (speed !== 1) {
  performance.now = () => trueUptime() * speed;
  const shortened = (shortest: number, delay = 0) => (delay < shortest ? delay : delay / speed);
  const { setInterval, setTimeout } = globalThis;
  const { setTimeout: sleep } = promises;
  const interval = (callback: () => void, delay?: number, ...args: []) =>
    setInterval(callback, shortened(SHORTEST_INTERVAL_MILLISECONDS, delay), ...args);
  const timeout = (callback: () => void, delay?: number, ...args: []) =>
    setTimeout(callback, shortened(SHORTEST_TIMEOUT_MILLISECONDS, delay), ...args);
  Object.assign(globalThis, { setInterval: interval });
  if (settings.get('timers') === 'all') {
    Object.assign(globalThis, { setTimeout: timeout });
    promises.setTimeout = (delay, value, options) => sleep(shortened(SHORTEST_TIMEOUT_MILLISECONDS, delay), value, options);
    syncBuiltinESMExports();
  }
}
