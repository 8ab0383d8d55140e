import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it } from 'vitest';
import { TOKEN } from '../harness/client.js';
import { SharedServer } from '../harness/server.js';

const server = new SharedServer();
const program = fileURLToPath(new URL('../../../scripts/ci/windows/try-client.mjs', import.meta.url));

it('the trial of the client on Windows passes with the paths and the shell of this system, too', async () => {
  const env = { ...process.env, BALLAST_URL: server.url, BALLAST_TOKEN: TOKEN };
  const { stdout } = await promisify(execFile)(process.execPath, [program], { env, timeout: 110_000 });
  expect(stdout).toMatch(/All 11 cases passed\.\n$/);
}, 120_000);

it('the trial says what it needs', async () => {
  const env = { ...process.env, BALLAST_URL: '', BALLAST_TOKEN: '' };
  await expect(promisify(execFile)(process.execPath, [program], { env })).rejects.toThrow('set BALLAST_URL and BALLAST_TOKEN');
});
