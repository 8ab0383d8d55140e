import { describe, expect, it } from 'vitest';
import { digestOfList } from '../../../src/protocol/list-digest.js';
import type { SettingName } from '../../../src/protocol/project-settings.js';
import { dashboardTable } from '../../../src/server/api/dashboard/table.js';
import { hashPassword } from '../../../src/server/engine/sign-in/password.js';
import { createOperatorLink } from '../../../src/server/engine/sign-in/sign-in.js';
import { type Browser, signedInOperator } from '../../harness/browser.js';
import type { Reply } from '../../harness/client.js';
import { buildKey, type Fields, queueMessage, splitMessage, subsetMessage, testFiles, testQueueMessage } from '../../harness/messages.js';
import { CHEAP, SharedServer } from '../../harness/server.js';

/** Sends each POST valid messages in which one field, at any depth, has an odd value. */

const PASSWORD = 'correct horse battery';
const MISSING = Symbol('missing');
const ODD_VALUES: readonly unknown[] = [MISSING, null, true, 5, -1, 1.5e308, '', 'x', [], [null], {}];

const paths = ['a_spec.rb', 'b_spec.rb'];
const node = { ...buildKey, node_index: 0 };
const test_files = testFiles(paths);
const test_files_digest = digestOfList(paths);
const people = { user_seat: 'Jo', build_author: 'Jo', commit_authors: [{ commits: 1, author: 'Jo' }] };
const checkout = { tree: 'a'.repeat(40), tree_doubt: 'a.js is changed', proof_keys: ['b'.repeat(64)], command_digest: 'c'.repeat(64) };
const links = { job_url: 'https://ci/1', commit_url: 'https://git/{commit}', diff_url: 'https://git/{before}..{commit}' };
const first = { can_initialize_queue: true, attempt_connect_to_queue: false };
const later = { can_initialize_queue: false, attempt_connect_to_queue: false };
const cases = [{ name: 'a', seconds: 1, outcome: 'passed', count: 2 }];

/** Of each endpoint, valid messages in the order in which they are accepted. Each field of its messages is in one of them. */
const ofNodes: Readonly<Record<string, Fields[]>> = {
  '/v1/build_subsets': [
    subsetMessage({
      ci_build_id: '1',
      tells_outcomes: true,
      test_files: [{ path: paths[0], time_execution: 0, ran: true, no_test: true, outcome: 'skipped' }],
    }),
  ],
  '/v1/build_distributions/subset': [
    splitMessage({
      ...people,
      ...links,
      ...checkout,
      test_files_digest,
      fixed_test_suite_split: false,
      cache_read_attempt: false,
      test_files,
    }),
  ],
  '/v1/queues/queue': [
    queueMessage({ ...people, ...first, fixed_queue_split: false, skip_pull: false, test_files }),
    queueMessage({ ...later, batch_uuid: 'u' }),
  ],
  '/v2/queues/queue': [
    testQueueMessage({
      ...people,
      ...links,
      ...checkout,
      ...first,
      test_files_digest,
      paths,
      sizes: [1, 2],
      order: 'failing-first',
      proved_max_age: 60,
      skip_pull: false,
      pieces: 'pytest',
    }),
    testQueueMessage({
      ...later,
      wants_times: true,
      sends_heartbeats: true,
      retry_failed: true,
      batch_index: 1,
      batch_id: 1,
      failed_paths: [paths[0]],
      times: [1, null],
    }),
  ],
  '/v2/queues/heartbeat': [{ ...node, test_queue_id: '100', node_uuid: 'a process' }],
  '/v2/queues/cancel': [
    { ...node, test_queue_id: '100', node_uuid: 'a process' },
    { ...node, test_queue_id: '100', node_uuid: 'a process', batch_id: 0, failed_paths: ['a_spec.rb'] },
  ],
  '/v2/test_cases': [
    {
      ...node,
      ci_build_id: '1',
      runner: 'pytest',
      files: [{ path: 'a_spec.rb::piece 1 of 2', is_piece: true, seconds: 2, cases, passed_whole: ['a'] }],
    },
  ],
  '/v1/plan': [{ branch: 'main', nodes: '2,4', within: 60, mode: 'queue', start_spread: 0, pull_cost: 1, setup: 1, test_files }],
};

const SETTINGS: Record<SettingName, string> = {
  price: '0.008 USD',
  setup: '90s',
  billing_step: '60s',
  target: '10m',
  ...links,
  job_url: 'https://ci/{node_index}',
  webhook_url: 'https://hooks/1',
  webhook_secret: 'of-sixteen-or-more',
  webhook_events: 'gate_failed',
  webhook_template: 'slack',
};

/** The same of the dashboard, whose messages name what exists. */
const ofPages: Readonly<Record<string, (browser: Browser, server: SharedServer) => Promise<Fields[]>>> = {
  '/dashboard/sign_in': async (_, { store }) => {
    await store.values.put('password', await hashPassword(PASSWORD, Date.now(), CHEAP));
    return [{ link: (await createOperatorLink(store.signIns, Date.now())).secret }, { password: PASSWORD }];
  },
  '/dashboard/sign_out': async () => [{}],
  '/dashboard/projects': async () => [{ name: 'new' }],
  '/dashboard/projects/settings': async browser => [{ project: await projectOf(browser, 'of settings'), settings: SETTINGS }],
  '/dashboard/projects/webhook_test': async browser => {
    const project = await projectOf(browser, 'with a webhook');
    // Nothing listens there.
    await browser.post('/dashboard/projects/settings', { project, settings: { webhook_url: 'http://127.0.0.1:1' } });
    return [{ project }];
  },
  '/dashboard/projects/rename': async browser => [{ project: await projectOf(browser, 'to rename'), name: 'renamed' }],
  '/dashboard/projects/delete': async browser => [{ project: await projectOf(browser, 'gone'), name: 'gone' }],
  '/dashboard/tokens': async browser => [{ project: await projectOf(browser, 'of tokens'), name: 'of CI' }],
  '/dashboard/tokens/revoke': async browser => [await made(browser, 'tokens', { project: await projectOf(browser, 'of a token') })],
  '/dashboard/links': async browser => [{ project: await projectOf(browser, 'of links'), days: 30 }],
  '/dashboard/links/revoke': async browser => [await made(browser, 'links', {})],
  '/dashboard/sessions/end': async (browser, { url, store }) => {
    await signedInOperator(url, store);
    const { sessions } = (await browser.get('/dashboard/access')).json as { sessions: { id: string; is_own: boolean }[] };
    return [{ id: sessions.find(session => !session.is_own)!.id }];
  },
};

/** Has the dashboard make something. Returns the message that names it. */
async function made(browser: Browser, what: string, message: Fields): Promise<Fields> {
  return { id: (await browser.post(`/dashboard/${what}`, message)).json.id as string };
}

async function projectOf(browser: Browser, name: string): Promise<number> {
  return (await browser.post('/dashboard/projects', { name })).json.id as number;
}

type Place = readonly (string | number)[];

/** The places in a message from the outside in, of each list its first entry. */
function placesIn(value: unknown, at: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return [at];
  const entries = Array.isArray(value) ? [[0, value[0]] as const] : Object.entries(value);
  return [at, ...entries.flatMap(([key, inner]) => placesIn(inner, [...at, key]))];
}

/** The message with another value in one place. */
function changed(message: unknown, [key, ...inner]: Place, value: unknown): unknown {
  if (key === undefined) return value;
  if (Array.isArray(message)) {
    const replaced = inner.length === 0 && value === MISSING ? [] : [changed(message[key as number], inner, value)];
    return (message as unknown[]).toSpliced(key as number, 1, ...replaced);
  }
  const fields = { ...(message as Fields), [key]: changed((message as Fields)[key], inner, value) };
  if (fields[key] === MISSING) delete fields[key];
  return fields;
}

/** Records that a server has stored. */
async function contents({ store }: SharedServer): Promise<object> {
  const { access, signIns, cases: report, maintenance } = store;
  await maintenance.publish('runs');
  const projects = await access.projects();
  return {
    records: (await maintenance.load()).records,
    projects: projects.map(({ name, settings }) => ({ name, settings })),
    tokens: (await access.tokens()).map(({ name, revoked_at }) => ({ name, isRevoked: revoked_at !== null })),
    sessions: (await signIns.sessions()).length,
    links: (await signIns.links()).length,
    cases: await Promise.all(projects.flatMap(({ id }) => paths.map(async path => (await report.of(id, path, 1e9))!.kept.length))),
  };
}

/** An endpoint of one of the servers, with valid messages to it. */
interface Endpoint {
  messages: readonly Fields[];
  post(body: string): Promise<Reply>;
}

/** Gets all requests. */
const server = new SharedServer();
/** Gets only what the other one accepts. */
const other = new SharedServer();

/** @param atOnce whether messages may be sent in any order */
async function tryOut(atOnce: boolean, open: (server: SharedServer) => Promise<Endpoint>): Promise<void> {
  const [all, accepted] = [await open(server), await open(other)];
  const send = async (bodyOf: (messages: readonly Fields[]) => unknown) => {
    const body = bodyOf(all.messages);
    const reply = await all.post(body === MISSING ? '' : JSON.stringify(body));
    const said = `${JSON.stringify(body)} was answered with ${reply.status} ${reply.text}`;
    if (reply.status >= 400) {
      expect(reply.status, said).toBeLessThan(500);
      expect(reply.json.errors, said).not.toEqual([]);
      return reply;
    }
    expect([200, 201, 202], said).toContain(reply.status);
    expect((await accepted.post(JSON.stringify(bodyOf(accepted.messages)))).status, said).toBe(reply.status);
    return reply;
  };
  for (const i of all.messages.keys()) expect(await send(messages => messages[i])).toMatchObject({ status: expect.toBeOneOf([200, 201]) });
  for (const [i, message] of all.messages.entries()) {
    for (const place of placesIn(message)) {
      const sent = ODD_VALUES.map(value => () => send(messages => changed(messages[i], place, value)));
      if (atOnce) await Promise.all(sent.map(one => one()));
      else for (const one of sent) await one();
    }
  }
  expect(await contents(server)).toEqual(await contents(other));
}

describe('a message with an odd value in one place is accepted, or gets an error and nothing is stored', () => {
  it.each(Object.entries(ofNodes))('POST %s', (path, messages) =>
    tryOut(true, async to => {
      const client = await to.project();
      // A heartbeat is refused from a process that has no batch.
      if (path === '/v2/queues/heartbeat') await client.post('/v2/queues/queue', { ...ofNodes['/v2/queues/queue']![0], ...messages[0] });
      return { messages, post: body => client.post(path, body) };
    }),
  );

  it.each(Object.entries(ofPages))('POST %s', (path, messageTo) =>
    tryOut(false, async to => {
      const browser = await signedInOperator(to.url, to.store);
      const post = async (body: string) => {
        const reply = await browser.post(path, body);
        if (browser.cookie === '') await browser.signIn((await createOperatorLink(to.store.signIns, Date.now())).secret);
        return reply;
      };
      return { messages: await messageTo(browser, to), post };
    }),
  );
});

describe('odd values are tried', () => {
  it('in every field of every message of a node', async () => {
    const document = (await server.send('/v1/openapi.json', {})).json;
    const expectFields = (described: any, values: readonly unknown[], name: string): void => {
      const schema = described.$ref ? document.components.schemas[described.$ref.split('/').at(-1)] : described;
      expect(values, name).not.toEqual([]);
      if (schema.items) expectFields(schema.items, values.flat(), `${name}[]`);
      for (const [field, inner] of Object.entries(schema.properties ?? {})) {
        const sent = values.flatMap(value => (Object.hasOwn(value as Fields, field) ? [(value as Fields)[field]] : []));
        expectFields(inner, sent, `${name}.${field}`);
      }
    };
    const posts = Object.entries<any>(document.paths).filter(([, { post }]) => post);
    expect(Object.keys(ofNodes).toSorted()).toEqual(posts.map(([path]) => path).toSorted());
    for (const [path, { post }] of posts) expectFields(post.requestBody.content['application/json'].schema, ofNodes[path]!, path);
  });

  it('in every message of a page', () => {
    const posts = Object.entries(dashboardTable).filter(([, { POST }]) => POST);
    expect(Object.keys(ofPages).toSorted()).toEqual(posts.map(([path]) => path).toSorted());
  });
});
