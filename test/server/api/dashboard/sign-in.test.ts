import { describe, expect, it } from 'vitest';
import { noSettings } from '../../../../src/protocol/project-settings.js';
import { createProject } from '../../../../src/server/engine/access.js';
import type { Store } from '../../../../src/server/engine/ports/store.js';
import { shownSettings } from '../../../../src/server/engine/setting-texts.js';
import { hashPassword } from '../../../../src/server/engine/sign-in/password.js';
import { createOperatorLink, createReaderLink, deleteEndedSignIns } from '../../../../src/server/engine/sign-in/sign-in.js';
import { Browser, signedInOperator } from '../../../harness/browser.js';
import { type Reply, refusal } from '../../../harness/client.js';
import { Clock } from '../../../harness/clock.js';
import { CHEAP, SharedServer, startServer } from '../../../harness/server.js';

const clock = new Clock();
const server = new SharedServer({}, { now: clock.now });
const operatorLink = async () => (await createOperatorLink(server.store.signIns, clock.millis)).secret;
const PASSWORD = 'correct horse battery';
const setPassword = async ({ values }: Store) => values.put('password', await hashPassword(PASSWORD, clock.millis, CHEAP));
const DAY = 86_400_000;
const operator = () => signedInOperator(server.url, server.store, clock.millis);

/** A server of its own, with a password. */
async function withPassword(settings: Parameters<typeof startServer>[0] = {}) {
  const own = await startServer(settings, clock.now);
  await setPassword(own.store);
  return { own, browser: new Browser(own.url) };
}

const ended = (why: string) => refusal(401, `your session has ended${why}: sign in to go on`);

/** Asks for the session. Resolves when its use is noted: that write is under way, and this one follows it. */
async function session(browser: Browser): Promise<Reply> {
  const reply = await browser.get('/dashboard/session');
  await server.store.maintenance.probe(clock.millis);
  return reply;
}

describe('a sign-in link of an operator', () => {
  it.each([
    ['a cookie that no script reads and no other site sends', 'http', 'ballast_session', ''],
    ['over TLS a cookie for this host alone', 'https', '__Host-ballast', '; Secure'],
  ])('gives %s', async (_, scheme, name, more) => {
    const browser = new Browser(server.url, { Origin: server.url.replace('http', scheme) });
    const reply = await browser.signIn(await operatorLink());
    expect([reply.status, reply.json.role]).toEqual([200, 'operator']);
    const cookie = new RegExp(`^${name}=[0-9a-f]{64}; Path=/; Max-Age=7776000; HttpOnly; SameSite=Strict${more}$`);
    expect(reply.headers.getSetCookie()).toEqual([expect.stringMatching(cookie)]);
  });

  it('is used up, also by one of many requests at the same time', async () => {
    const link = await operatorLink();
    const replies = await Promise.all(Array.from({ length: 4 }, () => new Browser(server.url).signIn(link)));
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 401, 401, 401]);
    const late = await new Browser(server.url).signIn(link);
    expect(late).toMatchObject(refusal(401, 'this link was used, revoked or has expired; "ballast dashboard link" prints another'));
    expect(late.headers.getSetCookie()).toEqual([]);
  });

  it('expires after ten minutes', async () => {
    const link = await operatorLink();
    clock.advance({ seconds: 600 });
    expect((await new Browser(server.url).signIn(link)).status).toBe(401);
  });

  it('replaces the session that the browser had', async () => {
    const browser = await operator();
    const before = browser.cookie;
    await browser.signIn(await operatorLink());
    expect(browser.cookie).not.toBe(before);
    expect((await new Browser(server.url, { Cookie: before }).get('/dashboard/session')).status).toBe(401);
    expect((await session(browser)).status).toBe(200);
  });
});

describe('a link of readers', () => {
  it('signs in any number of browsers until it expires, which ends their sessions', async () => {
    const { id } = await createProject(server.store.access, 'for readers', clock.millis);
    const { secret } = await createReaderLink(server.store.signIns, id, 2, clock.millis);
    const browsers = [new Browser(server.url), new Browser(server.url)];
    for (const browser of browsers) {
      expect((await browser.signIn(secret)).json).toMatchObject({
        role: 'reader',
        projects: [{ id, name: 'for readers', default_branch: null, settings: shownSettings(noSettings) }],
        expires_at: new Date(clock.millis + 2 * DAY).toISOString(),
      });
    }
    clock.advance({ days: 2, milliseconds: -1 });
    expect((await session(browsers[0]!)).status).toBe(200);
    clock.advance({ milliseconds: 1 });
    expect(await session(browsers[0]!)).toMatchObject(ended(' because its link for readers has expired'));
    expect((await new Browser(server.url).signIn(secret)).status).toBe(401);
  });

  it('leaves an operator who opens it an operator', async () => {
    const browser = await operator();
    const { cookie } = browser;
    const { secret } = await createReaderLink(server.store.signIns, 1, 1, clock.millis);
    expect((await browser.signIn(secret)).json.role).toBe('operator');
    expect(browser.cookie).toBe(cookie);
  });
});

describe('the password', () => {
  it('is refused in the same way if it is wrong and if none is set', async () => {
    const own = await startServer({}, clock.now);
    const wrong = () => new Browser(own.url).post('/dashboard/sign_in', { password: `${PASSWORD}!` });
    const unset = await wrong();
    await setPassword(own.store);
    for (const reply of [unset, await wrong()]) {
      expect(reply).toMatchObject(
        refusal(
          401,
          'the password is wrong, or none is set; "ballast dashboard password" sets one, "ballast dashboard link" prints a link',
        ),
      );
      expect(reply.headers.get('www-authenticate')).toBe('Ballast');
    }
  });

  it('signs an operator in, in each form of Unicode', async () => {
    const own = await startServer({}, clock.now);
    await own.store.values.put('password', await hashPassword('pa\u00dfw\u00f6rter und so', clock.millis, CHEAP));
    const browser = new Browser(own.url);
    const { json } = await browser.post('/dashboard/sign_in', { password: 'pa\u00dfwo\u0308rter und so' });
    expect(json).toMatchObject({ role: 'operator', has_password: true });
    expect((await session(browser)).status).toBe(200);
  });
});

describe('failed sign-ins', () => {
  const tries = async (browser: Browser, count: number) => {
    const replies = [];
    for (let i = 0; i < count; i++) replies.push(await browser.post('/dashboard/sign_in', { password: `wrong ${i}` }));
    return replies;
  };

  it('make their address wait, twice as long each time, and a right link does not wait', async () => {
    const { own, browser } = await withPassword();
    expect((await tries(browser, 6)).map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429]);
    const right = await browser.post('/dashboard/sign_in', { password: PASSWORD });
    expect(right).toMatchObject(refusal(429, 'too many failed sign-ins; try again in 1 s, or use a link from "ballast dashboard link"'));
    expect(right.headers.get('retry-after')).toBe('1');
    clock.advance({ seconds: 1 });
    expect((await tries(browser, 2)).map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [401, null],
      [429, '2'],
    ]);
    expect((await browser.signIn('0'.repeat(64))).status).toBe(429);
    expect((await browser.signIn((await createOperatorLink(own.store.signIns, clock.millis)).secret)).status).toBe(200);
  });

  it('at the same time are counted before they are checked', async () => {
    const { browser } = await withPassword();
    const replies = await Promise.all(Array.from({ length: 20 }, () => browser.post('/dashboard/sign_in', { password: 'guess guess' })));
    expect(replies.filter(({ status }) => status === 401)).toHaveLength(5);
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(15);
  });

  it('are forgotten after a right one', async () => {
    const { browser } = await withPassword();
    await tries(browser, 4);
    expect((await browser.post('/dashboard/sign_in', { password: PASSWORD })).status).toBe(200);
    expect((await tries(browser, 5)).map(({ status }) => status)).toEqual([401, 401, 401, 401, 401]);
  });

  it('are counted by the address that a trusted proxy reports', async () => {
    const { own } = await withPassword({ trustedProxies: '127.0.0.1' });
    const from = (address: string) => new Browser(own.url, { 'X-Forwarded-For': `203.0.113.1, ${address}` });
    await tries(from('2001:db8::1'), 5);
    expect((await tries(from('2001:db8::2:3'), 1))[0]!.status).toBe(429);
    expect((await tries(from('2001:db8:0:1::1'), 1))[0]!.status).toBe(401);
    const { own: untrusted } = await withPassword();
    for (let i = 0; i < 5; i++) await tries(new Browser(untrusted.url, { 'X-Forwarded-For': `192.0.2.${i}` }), 1);
    expect((await tries(new Browser(untrusted.url, { 'X-Forwarded-For': '192.0.2.9' }), 1))[0]!.status).toBe(429);
  });
});

describe('a session', () => {
  it('ends when it is not used for 14 days, and lasts while it is used, at most 90 days', async () => {
    const browser = await operator();
    for (let day = 0; day < 84; day += 12) {
      expect((await session(browser)).status).toBe(200);
      // No answer waits until the use is stored.
      await expect.poll(async () => (await server.store.signIns.sessions()).some(({ used_at }) => used_at === clock.millis)).toBe(true);
      clock.advance({ days: 12 });
    }
    expect((await session(browser)).json.expires_at).toBe(new Date(clock.millis + 6 * DAY).toISOString());
    clock.advance({ days: 6 });
    expect(await session(browser)).toMatchObject(ended(' after 90 days'));
    const idle = await operator();
    clock.advance({ days: 14 });
    expect(await session(idle)).toMatchObject(ended(' after 14 days without use'));
    await deleteEndedSignIns(server.store.signIns, clock.millis + 1);
    expect(await session(idle)).toMatchObject(ended(''));
  });

  it('stores its use only every few minutes', async () => {
    const browser = await operator();
    const usedAt = async () => (await server.store.signIns.sessions()).at(-1)!.used_at;
    const start = await usedAt();
    clock.advance({ seconds: 299 });
    await session(browser);
    expect(await usedAt()).toBe(start);
    clock.advance({ seconds: 1 });
    await session(browser);
    await expect.poll(usedAt).toBe(clock.millis);
  });

  it('ends with a sign-out, which takes the cookie away', async () => {
    const browser = await operator();
    const { cookie } = browser;
    expect((await browser.post('/dashboard/sign_out', {})).status).toBe(200);
    expect(browser.cookie).toBe('');
    expect((await new Browser(server.url, { Cookie: cookie }).get('/dashboard/session')).status).toBe(401);
  });

  it.each([
    'ballast_session=',
    'ballast_session',
    `ballast_session=${'g'.repeat(64)}`,
    `ballast_session="${'0'.repeat(64)}"`,
    `ballast_session=${'0'.repeat(10_000)}`,
    `ballast_session=%00; ballast_session=__proto__; __Host-ballast=../../x`,
    '=;=;;=',
    '\u00fc\u00f1=\u00e9',
  ])('does not come from the cookie %s', async cookie => {
    expect(await new Browser(server.url, { Cookie: cookie }).get('/dashboard/session')).toMatchObject(
      refusal(401, 'not signed in; "ballast dashboard link" prints a link that signs in'),
    );
  });

  it('that nobody had is answered like one that was ended', async () => {
    expect(await new Browser(server.url, { Cookie: `ballast_session=${'0'.repeat(64)}` }).get('/dashboard/session')).toMatchObject(
      ended(''),
    );
  });

  it('is found among other cookies', async () => {
    const { cookie } = await operator();
    for (const header of [`theme=dark; ${cookie}`, `${cookie};a=b`, `ballast_session=old; ${cookie}`])
      expect((await new Browser(server.url, { Cookie: header }).get('/dashboard/session')).status).toBe(200);
  });

  it('over TLS does not come from the plain cookie, which others can set', async () => {
    const own = await startServer({ trustedProxies: '127.0.0.1' }, clock.now);
    const browser = await signedInOperator(own.url, own.store, clock.millis);
    expect((await browser.get('/dashboard/session')).status).toBe(200);
    expect((await browser.get('/dashboard/session', { 'X-Forwarded-Proto': 'https' })).status).toBe(401);
    const secure = { Cookie: browser.cookie.replace('ballast_session', '__Host-ballast'), 'X-Forwarded-Proto': 'https' };
    expect((await browser.get('/dashboard/session', secure)).status).toBe(200);
  });
});

describe('a request that changes something', () => {
  const host = () => new URL(server.url).host;

  it.each<[what: string, headers: () => Record<string, string>]>([
    ['from another site', () => ({ Origin: 'https://evil.example' })],
    ['from another port of this host', () => ({ Origin: 'http://127.0.0.1:1' })],
    ['from a page without an origin', () => ({ Origin: 'null' })],
    ['that a browser calls cross-site', () => ({ 'Sec-Fetch-Site': 'cross-site' })],
    ['that a browser calls same-site', () => ({ 'Sec-Fetch-Site': 'same-site' })],
    ['from no page', () => ({ 'Sec-Fetch-Site': 'none' })],
    ['without an origin', () => ({ Origin: '' })],
    ['without Ballast-Dashboard', () => ({ 'Ballast-Dashboard': '' })],
  ])('%s is refused, and changes nothing', async (_, headers) => {
    const browser = await operator();
    const before = await server.store.access.projects();
    for (const path of ['/dashboard/projects', '/dashboard/sign_out', '/dashboard/sign_in']) {
      expect(await browser.post(path, { name: 'stolen', link: 'x' }, headers())).toMatchObject(
        refusal(403, expect.stringContaining('did not come from a page of this dashboard')),
      );
    }
    expect(await server.store.access.projects()).toEqual(before);
    expect((await session(browser)).status).toBe(200);
  });

  it.each<[what: string, headers: () => Record<string, string>]>([
    ['a browser calls same-origin', () => ({ 'Sec-Fetch-Site': 'same-origin', Origin: '' })],
    ['has the origin of this host', () => ({ Origin: `http://${host()}` })],
    ['has the origin of this host over TLS', () => ({ Origin: `https://${host()}` })],
  ])('is accepted if it %s', async (_, headers) => {
    expect((await new Browser(server.url).post('/dashboard/sign_in', { link: await operatorLink() }, headers())).status).toBe(200);
  });

  it('is accepted with the origin of the public address behind a proxy that changes Host', async () => {
    const own = await startServer({ publicUrl: 'https://ballast.example.com' }, clock.now);
    const { secret } = await createOperatorLink(own.store.signIns, clock.millis);
    const browser = new Browser(own.url, { Origin: 'https://ballast.example.com' });
    expect((await browser.signIn(secret)).status).toBe(200);
    expect(browser.cookie).toMatch(/^__Host-ballast=/);
  });

  it.each<[status: number, what: string, body: string, headers: Record<string, string>]>([
    [415, 'a form', 'link=x', { 'Content-Type': 'application/x-www-form-urlencoded' }],
    [415, 'a text, which a form of another site can send', '{"link":"x"}', { 'Content-Type': 'text/plain' }],
    [400, 'no JSON', '{', {}],
    [422, 'neither a link nor a password', '{}', {}],
    [422, 'a number', '{"link":5}', {}],
    [422, 'a long link', JSON.stringify({ link: 'x'.repeat(201) }), {}],
  ])('gets %i for %s', async (status, _, body, headers) => {
    const reply = await new Browser(server.url).post('/dashboard/sign_in', body, headers);
    expect(reply.status).toBe(status);
    expect(reply.headers.get('content-security-policy')).toContain("default-src 'none'");
  });
});

describe('the log', () => {
  it('has who signed in from where, and no secret', async () => {
    const { own, browser } = await withPassword();
    const link = (await createOperatorLink(own.store.signIns, clock.millis)).secret;
    await browser.signIn(link);
    await browser.signIn(`${link.slice(1)}0`);
    await browser.post('/dashboard/sign_in', { password: PASSWORD });
    const made = await browser.post('/dashboard/projects', { name: 'web' });
    const log = own.log.join('');
    expect(log).toContain('signed in to the dashboard');
    expect(log).toContain('sign-in to the dashboard failed');
    expect(log).toContain('127.0.0.1');
    for (const secret of [link, link.slice(1), PASSWORD, browser.cookie.split('=')[1]!, made.json.token]) expect(log).not.toContain(secret);
  });
});
