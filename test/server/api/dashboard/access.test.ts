import { text } from 'node:stream/consumers';
import { describe, expect, it, vi } from 'vitest';
import { createProject } from '../../../../src/server/engine/access.js';
import { KNOWN_TOKEN_MILLISECONDS } from '../../../../src/server/store/postgresql/access.js';
import { Browser, signedInOperator, signedInReader } from '../../../harness/browser.js';
import { Client, refusal } from '../../../harness/client.js';
import { readSplit, record, startSplit } from '../../../harness/messages.js';
import { SharedServer, startServer } from '../../../harness/server.js';
import { stubServer } from '../../../harness/stub-server.js';

const server = new SharedServer();
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\S+Z$/) as string;
const ID = expect.stringMatching(/^[0-9a-f]{12}$/) as string;

/** A project with a build, and a client with its token. */
async function newProject(name: string) {
  const { id, token } = await createProject(server.store.access, name, Date.now());
  const client = new Client(server.url, token);
  await record(client);
  return { id, client };
}

describe('an operator', () => {
  it('creates a project, another token and a link, sees them, and revokes them', async () => {
    const own = await startServer();
    const browser = await signedInOperator(own.url, own.store);
    const made = await browser.post('/dashboard/projects', { name: 'web shop' });
    expect(made).toMatchObject({ status: 200, json: { name: 'web shop', token: expect.stringMatching(/^[0-9a-f]{64}$/) as string } });
    const { id: project } = made.json as { id: number };
    const first = new Client(own.url, made.json.token);
    await record(first);
    const token = (await browser.post('/dashboard/tokens', { project, name: 'of GitHub' })).json as { id: string; token: string };
    const link = (await browser.post('/dashboard/links', { project, days: 30 })).json as { id: string; url: string };
    expect(link.url).toMatch(new RegExp(`^${own.url}/sign-in#[0-9a-f]{64}$`));

    const access = async () => (await browser.get('/dashboard/access')).json;
    expect(await access()).toEqual({
      projects: [
        {
          id: 1,
          name: 'default',
          is_public: false,
          created_at: TIME,
          tokens: [{ id: ID, name: null, created_at: TIME, used_at: null, revoked_at: null }],
        },
        {
          id: project,
          name: 'web shop',
          is_public: false,
          created_at: TIME,
          tokens: [
            { id: ID, name: null, created_at: TIME, used_at: TIME, revoked_at: null },
            { id: token.id, name: 'of GitHub', created_at: TIME, used_at: null, revoked_at: null },
          ],
        },
      ],
      sessions: [{ id: ID, role: 'operator', project: null, created_at: TIME, used_at: TIME, expires_at: TIME, is_own: true }],
      links: [{ id: link.id, project, created_at: TIME, expires_at: TIME }],
    });
    expect(JSON.stringify(await access())).not.toContain(token.token);

    const reader = new Browser(own.url);
    expect((await reader.signIn(link.url.split('#')[1]!)).status).toBe(200);
    expect((await browser.post('/dashboard/links/revoke', { id: link.id })).status).toBe(200);
    expect((await reader.get('/dashboard/session')).status).toBe(401);
    expect((await browser.post('/dashboard/tokens/revoke', { id: token.id })).status).toBe(200);
    expect((await new Client(own.url, token.token).get('/v1/builds')).status).toBe(403);
    expect((await first.get('/v1/builds')).status).toBe(200);
    expect((await access()).links).toEqual([]);
  });

  it('renames a project, and deletes it when its name is repeated', async () => {
    const { id: project, client } = await newProject('to delete');
    const browser = await signedInOperator(server.url, server.store);
    const reader = await signedInReader(server.url, server.store, project);
    expect(await browser.post('/dashboard/projects/rename', { project, name: 'renamed' })).toMatchObject({ status: 200 });
    expect((await client.get('/v1/builds')).json.data).toHaveLength(1);
    expect(await browser.post('/dashboard/projects/delete', { project, name: 'to delete' })).toMatchObject(
      refusal(422, 'nothing was deleted: "to delete" is not the name of the project "renamed"'),
    );
    expect((await reader.get('/dashboard/session')).status).toBe(200);
    expect((await browser.post('/dashboard/projects/delete', { project, name: 'renamed' })).status).toBe(200);
    // Another server on the database takes the token for valid a little longer, see KNOWN_TOKEN_MILLISECONDS.
    const isRefused = async () => expect((await client.get('/v1/builds')).status).toBe(403);
    await vi.waitFor(isRefused, { timeout: 2 * KNOWN_TOKEN_MILLISECONDS, interval: 100 });
    expect((await reader.get('/dashboard/session')).status).toBe(401);
    expect((await browser.get('/v1/builds', { 'Ballast-Project': String(project) })).status).toBe(403);
    const { json } = await browser.get('/dashboard/access');
    expect(json.projects.map(({ name }: { name: string }) => name)).not.toContain('renamed');
    expect((await browser.post('/dashboard/projects', { name: 'renamed' })).json.id).toBeGreaterThan(project);
  });

  it('makes a link for another operator, and ends the session', async () => {
    const browser = await signedInOperator(server.url, server.store);
    const { json } = await browser.post('/dashboard/links', {});
    const other = new Browser(server.url);
    expect((await other.signIn(json.url.split('#')[1])).json.role).toBe('operator');
    const { sessions } = (await browser.get('/dashboard/access')).json as { sessions: { id: string; is_own: boolean }[] };
    const own = (await other.get('/dashboard/access')).json.sessions.find((session: { is_own: boolean }) => session.is_own);
    expect(sessions.find(({ id }) => id === own.id)!.is_own).toBe(false);
    expect((await browser.post('/dashboard/sessions/end', { id: own.id })).status).toBe(200);
    expect((await other.get('/dashboard/session')).status).toBe(401);
  });

  it.each([
    ['/dashboard/projects', { name: 'default' }, 'a project of that name exists'],
    ['/dashboard/projects', { name: '\u202eabc' }, 'a name has 1 to 200 letters'],
    ['/dashboard/projects', {}, 'parameter is required'],
    ['/dashboard/tokens', { project: 999 }, 'there is no project 999'],
    ['/dashboard/tokens', { project: 'default' }, 'is not a number'],
    ['/dashboard/tokens', { project: 1, name: 'x'.repeat(101) }, '100'],
    ['/dashboard/tokens', { project: 1, name: 'a\nb' }, 'all printable'],
    ['/dashboard/projects/rename', { project: 1, name: '-x' }, 'a name has 1 to 200 letters'],
    ['/dashboard/projects/rename', { project: 999, name: 'x' }, 'there is no project 999'],
    ['/dashboard/projects/delete', { project: 1 }, 'parameter is required'],
    ['/dashboard/projects/delete', { project: 999, name: 'x' }, 'there is no project 999'],
    ['/dashboard/tokens/revoke', { id: 'nothing' }, 'no token in force'],
    ['/dashboard/links', { project: 1 }, '1 to 365'],
    ['/dashboard/links', { days: 3 }, 'parameter is required with days'],
    ['/dashboard/links', { project: null, days: 3 }, 'parameter is required with days'],
    ['/dashboard/links', { project: 1, days: 366 }, 'less than or equal to 365'],
    ['/dashboard/links', { project: 999, days: 3 }, 'there is no project 999'],
    ['/dashboard/links/revoke', { id: 'nothing' }, 'no link has this id'],
    ['/dashboard/sessions/end', { id: 'nothing' }, 'no session has this id'],
  ])('gets a 422 from %s with %j', async (path, message, sentence) => {
    const browser = await signedInOperator(server.url, server.store);
    const reply = await browser.post(path, message);
    expect([reply.status, reply.text]).toEqual([422, expect.stringContaining(sentence)]);
  });

  it('has at most 100 links of a project in force', async () => {
    const own = await startServer();
    const browser = await signedInOperator(own.url, own.store);
    for (let i = 0; i < 100; i++) await browser.post('/dashboard/links', { project: 1, days: 1 });
    expect(await browser.post('/dashboard/links', { project: 1, days: 1 })).toMatchObject(
      refusal(422, 'cannot create a link: 100 are in force; revoke one, or wait until one expires'),
    );
  });

  it('sees and changes the settings of a project, and a reader sees those that pages need', async () => {
    const { id: project } = await newProject('with settings');
    const browser = await signedInOperator(server.url, server.store);
    const path = `/dashboard/projects/settings?project=${project}`;
    const texts = async () => {
      const { settings } = (await browser.get(path)).json as { settings: { name: string; help: string; text: string }[] };
      expect(settings.every(({ help }) => help !== '')).toBe(true);
      return Object.fromEntries(settings.filter(({ text }) => text !== '').map(({ name, text }) => [name, text]));
    };
    expect(await texts()).toEqual({});
    const change = (settings: Record<string, unknown>) => browser.post('/dashboard/projects/settings', { project, settings });
    expect((await change({ price: '0.008 USD', setup: '30s' })).status).toBe(200);
    expect((await change({ price: '', target: '8m' })).status).toBe(200);
    expect(await texts()).toEqual({ setup: '30s', target: '480s' });
    for (const wrong of [{ price: 'cheap' }, { colour: 'red' }, { target: 8 }, { target: 'x'.repeat(5000) }]) {
      expect((await change(wrong)).status).toBe(422);
    }
    expect(await texts()).toEqual({ setup: '30s', target: '480s' });
    expect((await browser.get('/dashboard/projects/settings?project=99999')).status).toBe(422);
    const reader = await signedInReader(server.url, server.store, project);
    expect((await reader.get(path)).status).toBe(403);
    expect((await reader.post('/dashboard/projects/settings', { project, settings: {} })).status).toBe(403);
    const session = (await reader.get('/dashboard/session')).json as { projects: { settings: object }[] };
    expect(session.projects[0]!.settings).toMatchObject({ setup: 30, target: 480, price: null });
  });

  it('sets the address and the secret of a webhook, and nobody gets the secret, nor a reader the address', async () => {
    const { id: project } = await newProject('with a webhook');
    const browser = await signedInOperator(server.url, server.store);
    const secret = 'a-secret-of-the-webhook';
    const settings = { webhook_url: 'https://hooks.example.com/path', webhook_secret: secret };
    const changed = await browser.post('/dashboard/projects/settings', { project, settings });
    const shown = await browser.get(`/dashboard/projects/settings?project=${project}`);
    expect(changed.json).toEqual(shown.json);
    expect((shown.json as { settings: unknown[] }).settings).toContainEqual(
      expect.objectContaining({ name: 'webhook_secret', text: '(set)', is_secret: true }),
    );
    const refused = await browser.post('/dashboard/projects/settings', {
      project,
      settings: { webhook_secret: `${secret} with a space` },
    });
    expect(refused.status).toBe(422);
    const reader = await signedInReader(server.url, server.store, project);
    const sessions = [await browser.get('/dashboard/session'), await reader.get('/dashboard/session')];
    for (const { text } of [changed, shown, refused, ...sessions]) expect(text).not.toContain(secret);
    for (const { text } of sessions) expect(text).not.toContain('hooks.example.com');
  });

  it('sends a test to a webhook, and says how it answered', async () => {
    const { id: project } = await newProject('with a webhook to test');
    const browser = await signedInOperator(server.url, server.store);
    const test = (from = browser) => from.post('/dashboard/projects/webhook_test', { project });
    expect((await test()).text).toContain('cannot send a test: webhook_url is not set');
    let status = 200;
    const received: string[] = [];
    const url = await stubServer(async (request, response) => {
      received.push(`${request.headers['ballast-event']} ${JSON.parse(await text(request)).project}`);
      response.writeHead(status).end();
    });
    await browser.post('/dashboard/projects/settings', { project, settings: { webhook_url: url } });
    expect((await test()).json).toEqual({ problem: null });
    status = 404;
    expect((await test()).json).toEqual({ problem: 'answered with 404' });
    expect((await test(await signedInReader(server.url, server.store, project))).status).toBe(403);
    expect(received).toEqual(Array(2).fill('test with a webhook to test'));
  });
});

describe('a reader', () => {
  it('sees the project of the link, and no other', async () => {
    const [shown, hidden] = [await newProject('shown'), await newProject('hidden')];
    const reader = await signedInReader(server.url, server.store, shown.id);
    const headers = (project: number | string) => ({ 'Ballast-Project': String(project) });
    expect((await reader.get('/v1/builds', headers(shown.id))).json).toEqual((await shown.client.get('/v1/builds')).json);
    const build = (await hidden.client.get('/v1/builds')).json.data[0].id as string;
    expect((await reader.get(`/v1/builds/${build}`, headers(shown.id))).status).toBe(404);
    for (const project of [hidden.id, 999, -1, '1e0', '__proto__', `${shown.id},${hidden.id}`, '9'.repeat(400)])
      expect(await reader.get('/v1/builds', headers(project))).toMatchObject(
        refusal(403, 'this session does not show this project; sign in with a link of the project'),
      );
    expect((await reader.get('/dashboard/session')).json.projects.map(({ id }: { id: number }) => id)).toEqual([shown.id]);
  });

  it('changes nothing', async () => {
    const { id } = await newProject('unchanged');
    const reader = await signedInReader(server.url, server.store, id);
    const projects = ['projects', 'projects/rename', 'projects/delete'];
    for (const path of [...projects, 'tokens', 'tokens/revoke', 'links', 'links/revoke', 'sessions/end'])
      expect(await reader.post(`/dashboard/${path}`, { name: 'new', project: id, days: 1, id: 'x' })).toMatchObject(
        refusal(403, 'this session is read-only; sign in with the password, or a link from "ballast dashboard link"'),
      );
    expect((await reader.get('/dashboard/access')).status).toBe(403);
  });
});

describe('a session on the paths of the API', () => {
  it('reads what a token reads, and records and splits nothing', async () => {
    const { id, client } = await newProject('read by an operator');
    const browser = await signedInOperator(server.url, server.store);
    const headers = { 'Ballast-Project': String(id) };
    expect((await browser.get('/v1/builds', headers)).json).toEqual((await client.get('/v1/builds')).json);
    expect((await browser.get('/v1/builds', { 'Ballast-Project': '999' })).status).toBe(403);
    for (const path of ['/v1/build_subsets', '/v1/build_distributions/subset', '/v1/queues/queue', '/v2/queues/queue', '/v1/plan'])
      expect(await browser.post(path, {}, headers)).toMatchObject(
        refusal(403, expect.stringContaining('invalid test suite token: none was sent')),
      );
    expect((await startSplit(client, ['a_spec.rb'])).status).toBe(200);
    expect((await readSplit(client)).status).toBe(200);
  });

  it('gets a 401 when it has ended, and the 403 of the API without Ballast-Project', async () => {
    const browser = await signedInOperator(server.url, server.store);
    expect((await browser.get('/v1/builds')).json.errors).toEqual([expect.stringContaining('invalid test suite token: none was sent')]);
    await browser.post('/dashboard/sign_out', {});
    expect((await browser.get('/v1/builds', { 'Ballast-Project': '1' })).status).toBe(401);
  });

  it('gives way to a token', async () => {
    const [one, other] = [await newProject('of the token'), await newProject('of the page')];
    const browser = await signedInOperator(server.url, server.store);
    const headers = { 'Ballast-Project': String(other.id), Cookie: browser.cookie, 'SERVICE-TEST-SUITE-TOKEN': one.client.token };
    const build = (await one.client.get('/v1/builds')).json.data[0].id;
    expect((await browser.get('/v1/builds', headers)).json.data[0].id).toBe(build);
    expect((await browser.get('/v1/builds', { ...headers, 'SERVICE-TEST-SUITE-TOKEN': 'wrong' })).status).toBe(403);
  });
});

describe('the paths of the dashboard', () => {
  it.each(['session', 'access'])('need a session: %s', async path => {
    for (const method of ['GET', 'HEAD']) expect((await server.send(`/dashboard/${path}`, { method })).status).toBe(401);
  });

  it('name the methods that they have', async () => {
    const reply = await server.send('/dashboard/sign_in', { method: 'GET' });
    expect([reply.status, reply.headers.get('allow')]).toEqual([405, 'POST']);
    expect((await server.send('/dashboard/session', { method: 'DELETE' })).headers.get('allow')).toBe('GET, HEAD');
    expect((await server.send('/dashboard/nothing', {})).status).toBe(404);
  });

  it.each([
    ['/dashboard/session', 200],
    ['/v1/builds', 200],
    ['/v1/builds/nothing/trace', 404],
  ])('are never cached, sniffed or framed: %s', async (path, status) => {
    const browser = await signedInOperator(server.url, server.store);
    const { id } = await newProject(`headers of ${path}`.replaceAll('/', ' '));
    const reply = await browser.get(path, { 'Ballast-Project': String(id) });
    expect(reply.status).toBe(status);
    expect(Object.fromEntries(reply.headers)).toMatchObject({
      'cache-control': 'no-store',
      'content-security-policy': expect.stringContaining("frame-ancestors 'none'"),
      'x-content-type-options': 'nosniff',
    });
    expect(reply.headers.get('access-control-allow-origin')).toBeNull();
  });
});

describe('the setting of the dashboard', () => {
  it('off takes its paths and sessions away', async () => {
    const own = await startServer({ dashboard: 'off' });
    const page = { 'Ballast-Project': '1' };
    expect((await own.send('/dashboard/session', {})).status).toBe(404);
    expect((await own.send('/v1/builds', { headers: page })).json.errors).toEqual([expect.stringContaining('invalid test suite token')]);
  });

  it('admin has them on the admin port, which has the API for sessions only', async () => {
    const own = await startServer({ dashboard: 'admin', adminPort: '0' });
    const admin = own.service.adminUrl!;
    const browser = await signedInOperator(admin, own.store);
    expect((await browser.get('/dashboard/session')).json.url).toBe(own.url);
    await record(own);
    const page = { 'Ballast-Project': '1' };
    expect((await browser.get('/v1/builds', page)).json.data).toHaveLength(1);
    const main = new Browser(own.url, { Cookie: browser.cookie });
    expect((await main.get('/dashboard/session')).status).toBe(404);
    expect((await main.get('/v1/builds', page)).status).toBe(403);
    const client = new Client(admin, own.token);
    expect((await client.get('/v1/builds', page)).status).toBe(404);
    expect((await client.post('/v1/build_subsets', { test_suite_token: own.token }, page)).status).toBe(405);
  });
});
