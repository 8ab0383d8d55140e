import { closeSync, openSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { loadLocks } from '../../src/base/locks.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const require = createRequire(import.meta.url);

/** Behaves as on Alpine, where the package looks for a binary for musl. */
const requireOnAlpine = (path: string): unknown => {
  if (path === 'fs-native-extensions') throw Object.assign(new Error("Cannot find addon '.'"), { code: 'ADDON_NOT_FOUND' });
  return require(path);
};

describe('a lock', () => {
  it.each<[situation: string, requireHere: (path: string) => unknown]>([
    ['the package finds its binary', require],
    ...(process.platform === 'linux' ? [['it finds none, as on Alpine', requireOnAlpine] as [string, typeof requireOnAlpine]] : []),
  ])('is exclusive where %s', (_, requireHere) => {
    const { tryLock } = loadLocks(requireHere);
    const path = join(temporaryFolder(), 'lock');
    const [first, second] = [openSync(path, 'w'), openSync(path, 'r+')];
    onTestFinished(() => closeSync(second));
    expect([tryLock(first), tryLock(second)]).toEqual([true, false]);
    closeSync(first);
    expect(tryLock(second)).toBe(true);
    expect(() => tryLock(99_999)).toThrow(/EBADF|bad file descriptor/i);
  });

  it('is shared with others that share it, until it is unlocked', () => {
    const { tryLock, unlock } = loadLocks(require);
    const path = join(temporaryFolder(), 'lock');
    const files = [openSync(path, 'w+'), openSync(path, 'r+'), openSync(path, 'r+')] as const;
    onTestFinished(() => files.forEach(closeSync));
    expect(files.map((fd, i) => tryLock(fd, i < 2))).toEqual([true, true, false]);
    unlock(files[0]);
    expect(tryLock(files[2])).toBe(false);
    unlock(files[1]);
    expect([tryLock(files[2]), tryLock(files[0], true)]).toEqual([true, false]);
  });

  it('fails if no binary loads', () => {
    expect(() => loadLocks(requireOnAlpine, 'plan9')).toThrow('Cannot find addon');
  });
});
