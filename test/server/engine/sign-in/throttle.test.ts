import { describe, expect, it } from 'vitest';
import { SignInThrottle } from '../../../../src/server/engine/sign-in/password.js';

const HOUR = 3_600_000;

/** Makes attempts as soon as they are allowed. Returns the waits before them, in seconds. */
function waits(throttle: SignInThrottle, address: string, count: number, start = 0): number[] {
  let at = start;
  return Array.from({ length: count }, () => {
    const wait = throttle.attempt(address, at);
    at += wait;
    if (wait > 0) expect(throttle.attempt(address, at)).toBe(0);
    return wait / 1000;
  });
}

describe('the throttle of sign-ins', () => {
  it('doubles the wait of an address after five wrong attempts, up to 15 minutes', () => {
    expect(waits(new SignInThrottle(), 'a', 17)).toEqual([0, 0, 0, 0, 0, 1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
  });

  it('makes all addresses together wait after 50, up to 10 seconds', () => {
    const throttle = new SignInThrottle();
    for (let i = 0; i < 50; i++) expect(throttle.attempt(`address ${i}`, 0)).toBe(0);
    expect(waits(throttle, 'new', 5)).toEqual([1, 2, 4, 8, 10]);
  });

  it('forgets an address after an hour without an attempt', () => {
    const throttle = new SignInThrottle();
    waits(throttle, 'a', 5);
    expect(throttle.attempt('a', HOUR)).toBe(0);
    expect(throttle.attempt('a', HOUR)).toBe(0);
  });

  it('does not wait longer than that when the clock is set back', () => {
    const throttle = new SignInThrottle();
    for (let i = 0; i < 5; i++) throttle.attempt('a', 100 * HOUR);
    expect(throttle.attempt('a', 0)).toBe(1000);
  });

  it('remembers a bounded number of addresses', () => {
    const throttle = new SignInThrottle();
    let at = 0;
    const fail = (address: string) => {
      at += 10_000;
      return throttle.attempt(address, at);
    };
    for (let i = 0; i < 5; i++) fail('first');
    at -= 10_000;
    expect(throttle.attempt('first', at)).toBe(1000);
    for (let i = 0; i < 10_000; i++) fail(`address ${i}`);
    expect(throttle.attempt('first', at + 10_000)).toBe(0);
  });
});
