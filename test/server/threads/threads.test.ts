import { expect, it, vi } from 'vitest';
import { openLog } from '../../../src/server/process/log.js';
import { startThreads } from '../../../src/server/threads/threads.js';

it('a thread that cannot open the store is reported at the start, and nothing keeps running', async () => {
  const ports = () => process.getActiveResourcesInfo().filter(name => name === 'MessagePort').length;
  const before = ports();
  const filename = new URL('../../../src/server/process/worker.js', import.meta.url).href;
  const setup = { source: { dataDir: '/dev/null/no-folder' }, tokenHeader: 'SERVICE-TEST-SUITE-TOKEN', pullCost: 0 };
  const starting = startThreads({ filename, setup, most: 1, isEager: true }, openLog('silent'));
  await expect(starting.started).rejects.toThrow('cannot open the store in /dev/null/no-folder');
  await vi.waitFor(() => expect(ports()).toBe(before), { timeout: 10_000 });
});
