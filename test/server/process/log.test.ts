import { existsSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { LogFile, openLog } from '../../../src/server/process/log.js';
import { temporaryFolder } from '../../harness/temporary-folder.js';

describe('a log', () => {
  it('has one JSON object per line, with the level as a word and the time', async () => {
    const path = join(temporaryFolder(), 'log');
    const file = new LogFile(openSync(path, 'w'));
    const log = openLog('info', file);
    log.warn({ path: '/a"\n' }, 'something');
    log.debug('nothing');
    for (let i = 0; i < 100; i++) log.info({ i }, 'more');
    await vi.waitFor(() => expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(102), { timeout: 10_000 });
    log.info('started before the end');
    log.info('written by the end');
    file.end();
    // The end does not await a write that has started, so that the two may change places.
    await vi.waitFor(() => expect(readFileSync(path, 'utf8').split('\n')).toHaveLength(104), { timeout: 10_000 });
    const lines = readFileSync(path, 'utf8')
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line));
    expect(lines[0]).toEqual({
      level: 'warn',
      time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      path: '/a"\n',
      msg: 'something',
    });
    expect(lines.slice(1, 101).map(({ i }) => i)).toEqual(Array.from({ length: 100 }, (_, i) => i));
    expect(lines.slice(101).map(({ msg }) => msg)).toEqual(expect.arrayContaining(['started before the end', 'written by the end']));
  });

  it.skipIf(!existsSync('/dev/full'))('on a full disk is lost, and does not stop the process or delay its end', async () => {
    const file = new LogFile(openSync('/dev/full', 'w'));
    const log = openLog('info', file);
    log.info('lost');
    await new Promise(setImmediate);
    log.info('lost, too');
    file.end();
  });
});
