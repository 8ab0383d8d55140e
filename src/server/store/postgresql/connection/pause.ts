import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';

/** Waits for some milliseconds, at random, after another process changed first what this one wanted to change. */
export function pauseAfterLoss(): Promise<void> {
  return sleep(1 + randomInt(20));
}
