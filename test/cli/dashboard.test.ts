import { describe, expect, it } from 'vitest';
import { Browser } from '../harness/browser.js';
import { said, spawnServer } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const PASSWORD = 'correct horse battery';
const AT = '\\d{4}-\\d\\d-\\d\\dT\\S+Z';

describe('dashboard commands beside a running server', () => {
  it('take effect at the next request: links, a password, an ended session', async () => {
    const server = await spawnServer();
    const ballast = (args: string[], stdin = '') => runInProcess(['dashboard', ...args, '--data-dir', server.dataDir], {}, { stdin });
    const secretOf = ({ stdout }: { stdout: string }) => new RegExp(`^${server.url}/sign-in#([0-9a-f]{64})\n$`).exec(stdout)![1]!;

    const operator = new Browser(server.url);
    const link = await ballast(['link']);
    expect(link).toMatchObject({ code: 0, stderr: '' });
    expect((await operator.signIn(secretOf(link))).json.role).toBe('operator');
    const reader = new Browser(server.url);
    expect((await reader.signIn(secretOf(await ballast(['link', '--project', 'default', '--days', '2'])))).json.role).toBe('reader');

    const withPassword = () => new Browser(server.url).post('/dashboard/sign_in', { password: PASSWORD });
    expect((await withPassword()).status).toBe(401);
    expect(await ballast(['password'], `${PASSWORD}\n`)).toEqual(
      said(0, 'set the password; sessions that the one before signed in have ended'),
    );
    expect((await withPassword()).status).toBe(200);
    expect((await ballast(['password', '--remove'])).code).toBe(0);
    expect((await withPassword()).status).toBe(401);

    const { stdout } = await ballast(['sessions']);
    const lines = stdout.trim().split('\n');
    expect(lines).toEqual([
      expect.stringMatching(new RegExp(`^[0-9a-f]{12}\tsession\toperator\t${AT}\t${AT}\tuntil ${AT}$`)),
      expect.stringMatching(new RegExp(`^[0-9a-f]{12}\tsession\treader of default\t${AT}\t${AT}\tuntil ${AT}$`)),
      expect.stringMatching(new RegExp(`^[0-9a-f]{12}\tlink\treader of default\t${AT}\t-\tuntil ${AT}$`)),
    ]);
    const ids = lines.map(line => line.split('\t')[0]!);
    expect(await ballast(['end', ids[0]!])).toEqual(said(0, `ended session ${ids[0]}`));
    expect((await operator.get('/dashboard/session')).status).toBe(401);
    expect(await ballast(['end', ids[2]!])).toEqual(said(0, `revoked link ${ids[2]}`));
    expect((await reader.get('/dashboard/session')).status).toBe(401);
    expect((await ballast(['sessions', '--json'])).stdout).toBe('[]\n');
  });
});

describe('dashboard link', () => {
  it('has the address that a server would have, or the public one, if none was started', async () => {
    const dataDir = temporaryFolder();
    await runInProcess(['project', 'create', 'web', '--data-dir', dataDir]);
    const link = (...flags: string[]) => runInProcess(['dashboard', 'link', '--data-dir', dataDir, ...flags]);
    expect((await link()).stdout).toMatch(/^http:\/\/127\.0\.0\.1:8080\/sign-in#/);
    expect((await link('--public-url', 'https://ballast.example.com/')).stdout).toMatch(/^https:\/\/ballast\.example\.com\/sign-in#/);
    expect(JSON.parse((await link('--json', '--project', 'web')).stdout)).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{12}$/) as string,
      url: expect.stringMatching(/\/sign-in#[0-9a-f]{64}$/) as string,
      expires_at: expect.stringMatching(new RegExp(`^${AT}$`)) as string,
    });
  });
});

describe('a dashboard command that fails', () => {
  it('reports why on stderr, and exits with 1', async () => {
    const dataDir = temporaryFolder();
    await runInProcess(['project', 'create', 'web', '--data-dir', dataDir]);
    for (const [args, message, stdin] of [
      [['link', '--project', 'two'], 'there is no project "two"; "project list" shows all, "project create" makes one'],
      [['link', '--days', '3'], 'cannot create a link: --days needs --project; the link of an operator is valid for 10 minutes'],
      [['link', '--project', 'web', '--days', '366'], 'cannot create a link for 366 days: give 1 to 365'],
      [['password'], 'cannot set the password: it has 5 characters; it must have 12 to 1024', 'short\n'],
      [['password'], 'cannot set the password: it has 0 characters; it must have 12 to 1024', ''],
      [['end', 'nothing'], 'cannot end the session: no session has this id; it may have ended'],
    ] as const) {
      const run = await runInProcess(['dashboard', ...args, '--data-dir', dataDir], {}, { stdin: stdin ?? '' });
      expect(run).toEqual(said(1, message));
    }
  });
});
