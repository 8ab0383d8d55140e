import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Demo, openDemo } from './open-demo.js';

/** A Thursday afternoon, as at night and on Mondays few builds are recent. */
export const STOPPED_AT = Date.UTC(2026, 10, 19, 15, 20);

/** Serves a demo whose clock stands still, in a temporary folder that `close` deletes. It is the same each time. */
export async function openStoppedDemo(days: number): Promise<Demo> {
  const dataDir = mkdtempSync(join(tmpdir(), 'ballast-demo-'));
  const remove = () => rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  try {
    const demo = await openDemo({ dataDir, port: 0, seed: 1, days, now: STOPPED_AT, clock: () => STOPPED_AT, isExact: true });
    return { ...demo, close: () => demo.close().finally(remove) };
  } catch (error) {
    remove();
    throw error;
  }
}
