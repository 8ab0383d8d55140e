import { describe, expect, it } from 'vitest';
import { hashPassword } from '../../src/server/engine/sign-in/password.js';
import { CHEAP, SharedServer, startServer } from '../harness/server.js';
import { openAsOperator, operatorLink } from './operator.js';
import { openTab } from './tab.js';

const server = new SharedServer();

describe('signing in', () => {
  it('works once with a link, whose secret leaves the address', async () => {
    const link = await operatorLink(server);
    const tab = await openTab();
    await tab.goto(link);
    await tab.getByRole('navigation', { name: 'Ballast' }).waitFor();
    expect(tab.url()).toBe(`${server.url}/`);
    const other = await openTab({ isOther: true });
    await other.goto(link);
    await other
      .getByRole('alert')
      .getByText(/^This link was used/)
      .waitFor();
    expect(other.url()).toBe(`${server.url}/sign-in`);
  });

  it('returns to the page that was asked for', async () => {
    const tab = await openTab();
    await tab.goto(`${server.url}/access`);
    await tab.waitForURL('**/sign-in?to=%2Faccess');
    const [, secret] = (await operatorLink(server)).split('#');
    await tab.goto(`${server.url}/sign-in?to=%2Faccess#${secret}`);
    await tab.getByRole('heading', { name: 'Projects and tokens' }).waitFor();
    expect(new URL(tab.url()).pathname).toBe('/access');
  });

  it('works with the password, and waits after too many wrong ones', async () => {
    // No time passes: after some seconds, which a slow machine may take, another attempt is free.
    const [at, uptime] = [Date.now(), performance.now()];
    const own = await startServer(
      {},
      () => at,
      () => uptime,
    );
    await own.store.values.put('password', await hashPassword('correct horse battery', at, CHEAP));
    const tab = await openTab();
    await tab.goto(`${own.url}/sign-in`);
    const password = tab.getByLabel('Or the password');
    const enter = async (text: string) => {
      await password.fill(text);
      await password.press('Enter');
    };
    for (const status of [401, 401, 401, 401, 401, 429]) {
      const answered = tab.waitForResponse('**/dashboard/sign_in');
      await enter('wrong horse battery');
      expect((await answered).status()).toBe(status);
      const text = status === 401 ? /^The password is wrong/ : /^Too many failed sign-ins; try again in/;
      await tab.getByRole('alert').getByText(text).waitFor();
    }
    const other = await startServer();
    await other.store.values.put('password', await hashPassword('correct horse battery', Date.now(), CHEAP));
    await tab.goto(`${other.url}/sign-in`);
    await enter('correct horse battery');
    await tab.getByRole('navigation', { name: 'Ballast' }).waitFor();
  });

  it('ends when the session is ended, which is said only to those who had one; then it leads back', async () => {
    const tab = await openAsOperator(server, '/access');
    const own = tab.getByRole('listitem').filter({ hasText: '(this one)' });
    await own.getByRole('button', { name: 'End' }).click();
    await own.getByText('You are signed out.').waitFor();
    await own.getByRole('button', { name: 'End' }).click();
    const ending = tab.getByRole('status').getByText('Your session has ended: sign in to go on.');
    await ending.waitFor();
    await tab.reload();
    await ending.waitFor();
    // A link that is pasted into the tab does not name the page.
    await tab.goto(await operatorLink(server));
    await tab.getByRole('heading', { name: 'Projects and tokens' }).waitFor();
    const answered = tab.waitForResponse('**/dashboard/session');
    await tab.getByRole('button', { name: 'Sign out' }).click();
    await tab.getByRole('heading', { name: 'Sign in' }).waitFor();
    await answered;
    expect(await ending.count()).toBe(0);
  });

  it('in another tab of the browser is enough', async () => {
    const tab = await openTab({ isOther: true });
    await tab.goto(`${server.url}/docs?x=1`);
    await tab.waitForURL('**/sign-in?to=%2Fdocs%3Fx%3D1');
    await tab.getByLabel('Or the password').waitFor();
    const other = await tab.context().newPage();
    await other.goto(await operatorLink(server));
    await other.getByRole('navigation', { name: 'Ballast' }).waitFor();
    await tab.bringToFront();
    await tab.evaluate('dispatchEvent(new Event("focus"))');
    await tab.waitForURL(`${server.url}/docs?x=1`);
  });
});
