import { randomInt } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { noAnswer } from './errors.js';

/** Waits for some milliseconds, at random, after another process changed first what this one wanted to change. */
export function pauseAfterLoss(): Promise<void> {
  return sleep(1 + randomInt(20));
}

/** 50 ms, doubling to half a second; less a part at random, because many wait. */
export function pauseAfter(tries: number): number {
  return Math.min(500, 50 * 2 ** tries) * (0.5 + Math.random() / 2);
}

/**
 * Rejects when a promise is not settled within a time. A time during which this process stood still counts as a quarter of that: what arrived
 * meanwhile is read first.
 */
export function within<T>(promise: Promise<T>, milliseconds: number): Promise<T> {
  return new Promise((resolve, reject) => {
    let quarters = 4;
    const timer = setInterval(() => {
      quarters -= 1;
      if (quarters > 0) return;
      clearInterval(timer);
      setImmediate(reject, noAnswer(milliseconds));
    }, milliseconds / 4);
    promise.then(resolve, reject).finally(() => clearInterval(timer));
  });
}
