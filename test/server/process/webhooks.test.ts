import type { IncomingHttpHeaders, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it, onTestFinished } from 'vitest';
import { changeSettings } from '../../../src/server/engine/access.js';
import { testEvent } from '../../../src/server/engine/webhooks/event.js';
import { signatureOf } from '../../../src/server/engine/webhooks/signature.js';
import { SILENT_MILLISECONDS } from '../../../src/server/insight/timeline/draft-span.js';
import type { FlagsSubject } from '../../../src/server/insight/trends/flags.js';
import { openLog } from '../../../src/server/process/log.js';
import { OLDEST_RUN_MILLISECONDS, WAITING_DELIVERIES_PER_PROJECT, WebhookEvents } from '../../../src/server/process/webhook-events.js';
import { WebhookSender } from '../../../src/server/process/webhook-sender.js';
import { Clock } from '../../harness/clock.js';
import { memoryStore } from '../../harness/memory-store.js';
import { initialise, pathsIn, pull, record } from '../../harness/messages.js';
import { startServer, type TestServer } from '../../harness/server.js';
import { stubServer } from '../../harness/stub-server.js';
import { BUILD, NOW, newProject, summaryOf } from '../store/contract/fixtures.js';

const SECRET = '0123456789abcdef';
const PATHS = ['a_spec.rb', 'b_spec.rb', 'c_spec.rb'];

interface Received {
  headers: IncomingHttpHeaders;
  body: any;
  text: string;
  response: ServerResponse;
}

/** A webhook, which answers by `answer`. */
async function receiver(answer: (received: Received) => void = ({ response }) => response.end()) {
  const all: Received[] = [];
  const waiting: ((received: Received) => void)[] = [];
  const address = await stubServer(async (request, response) => {
    const body = await text(request);
    const received = { headers: request.headers, body: JSON.parse(body), text: body, response };
    all.push(received);
    answer(received);
    for (const resolve of waiting.splice(0)) resolve(received);
  });
  /** The next request that arrives. */
  const next = () => new Promise<Received>(resolve => waiting.push(resolve));
  return { url: `${address}/hook`, all, next };
}

/** A sender over a store with a project, whose clock stands still. */
async function startSender(url: string, settings: Record<string, string> = {}) {
  const store = memoryStore();
  const project = await newProject(store);
  await changeSettings(store.access, project, { webhook_url: url, ...settings });
  const clock = { now: NOW };
  const log: string[] = [];
  const logger = openLog('debug', { write: line => log.push(line) });
  const open = () => {
    const sender = new WebhookSender(store, logger, () => clock.now);
    onTestFinished(() => sender.close());
    return sender;
  };
  const add = (key: string, of = project) =>
    store.deliveries.add({ project: of, key, id: `id of ${key}`, event: testEvent(key), created_at: clock.now }, 9);
  const sender = open();
  /** Sends what is due at a time. */
  const at = async (now: number) => {
    clock.now = now;
    await sender.look();
    await sender.settled();
  };
  return { store, project, clock, log, sender, open, add, at };
}

describe('a delivery', () => {
  it('is signed, and has the same id when it is sent again', async () => {
    let status = 500;
    const hook = await receiver(({ response }) => response.writeHead(status).end());
    const { add, at, sender } = await startSender(hook.url, { webhook_secret: SECRET });
    await add('a');
    await at(NOW);
    status = 204;
    await at(NOW + 14_999);
    expect(hook.all).toHaveLength(1);
    await at(NOW + 15_000);
    await at(NOW + 9e9);
    expect(hook.all.map(({ headers }) => headers['ballast-delivery'])).toEqual(['id of a', 'id of a']);
    const [{ headers, text: sent }] = hook.all as [Received];
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'ballast-event': 'test', 'ballast-timestamp': `${NOW / 1000}` });
    expect(headers['ballast-signature']).toBe(signatureOf(SECRET, `${NOW / 1000}`, sent));
    expect(sender.results).toEqual({ delivered: 1, failed: 1, given_up: 0 });
  });

  it('without a secret is not signed', async () => {
    const hook = await receiver();
    const { add, at } = await startSender(hook.url);
    await add('a');
    await at(NOW);
    expect(hook.all[0]!.headers['ballast-signature']).toBeUndefined();
  });

  it('is sent again after growing pauses, then given up and logged, without its address', async () => {
    const hook = await receiver(({ response }) => response.writeHead(500).end());
    const { add, at, sender, log, store } = await startSender(hook.url);
    await add('a');
    await add('b');
    let now = NOW;
    for (const [i, pause] of [15_000, 60_000, 300_000, 1_800_000, 7_200_000].entries()) {
      await at(now);
      await at(now + pause - 1);
      expect(hook.all).toHaveLength(i + 1);
      now += pause;
    }
    await at(now);
    expect(hook.all.map(({ headers }) => headers['ballast-delivery'])).toEqual([...Array.from({ length: 6 }, () => 'id of a'), 'id of b']);
    expect(sender.results).toMatchObject({ delivered: 0, given_up: 1 });
    expect(log.filter(line => line.includes('given up')).join()).toContain('"problem":"answered with 500"');
    expect(log.join()).not.toContain('/hook');
    expect((await store.deliveries.due(9e15, 9)).map(({ key }) => key)).toEqual(['b']);
  });

  it('is not sent to where a redirect leads', async () => {
    const hook = await receiver(({ response }) => response.writeHead(302, { location: '/other' }).end());
    const { add, at, log } = await startSender(hook.url);
    await add('a');
    await at(NOW);
    expect(hook.all).toHaveLength(1);
    expect(log.join()).toContain('answered with 302: redirects are not followed');
  });

  it('that cannot be connected to is sent again', async () => {
    const { add, at, log, sender } = await startSender('http://127.0.0.1:1/');
    await add('a');
    await at(NOW);
    expect(sender.results).toEqual({ delivered: 0, failed: 1, given_up: 0 });
    expect(log.join()).toContain('could not be reached: ');
  });

  it('is sent by one of several processes, one at a time, also after one of them ended in the middle', async () => {
    const hook = await receiver(() => {});
    const { add, clock, sender, open } = await startSender(hook.url);
    await add('a');
    await add('b');
    const arrived = hook.next();
    await sender.look();
    await arrived;
    const other = open();
    for (const each of [other, sender]) await each.look();
    await other.settled();
    expect(hook.all).toHaveLength(1);
    await sender.close();
    clock.now = NOW + 15_000;
    const again = hook.next();
    await other.look();
    (await again).response.end();
    (await hook.next()).response.end();
    await other.settled();
    expect(hook.all.map(({ headers }) => headers['ballast-delivery'])).toEqual(['id of a', 'id of a', 'id of b']);
    expect(other.results).toEqual({ delivered: 2, failed: 0, given_up: 0 });
  });

  it('of a project waits for no other project', async () => {
    const hook = await receiver(({ body, response }) => void (body.project === 'quick' && response.end()));
    const { store, add, sender } = await startSender(hook.url);
    const other = await newProject(store, 'other');
    await changeSettings(store.access, other, { webhook_url: hook.url });
    await add('hangs');
    await add('quick', other);
    await sender.look();
    await expect.poll(() => store.deliveries.due(9e15, 9).map(({ key }) => key)).toEqual(['hangs']);
    expect(sender.results.delivered).toBe(1);
  });

  it('is dropped when the address was unset', async () => {
    const hook = await receiver();
    const { store, project, add, at } = await startSender(hook.url);
    await add('a');
    await changeSettings(store.access, project, { webhook_url: '' });
    await at(NOW);
    expect([hook.all, await store.deliveries.due(9e15, 9)]).toEqual([[], []]);
  });
});

describe('an event', () => {
  /** Events over a store with a project, which knows what `flags` returns. */
  async function startEvents(settings: Record<string, string> = {}) {
    const store = memoryStore();
    const project = await newProject(store);
    await changeSettings(store.access, project, { webhook_url: 'http://127.0.0.1:1', ...settings });
    await store.access.setDefaultBranch(project, 'main');
    const found = { grown: [] as object[], slow: [] as object[], flaky: [] as object[], healed: [] as string[] };
    const asked: FlagsSubject[] = [];
    const read = async (name: string, subject: FlagsSubject) => {
      if (name === 'flags') asked.push(subject);
      return found;
    };
    const log: string[] = [];
    const logger = openLog('debug', { write: line => log.push(line) });
    const events = new WebhookEvents(
      store,
      { read } as never,
      logger,
      () => NOW,
      null,
      () => {},
    );
    onTestFinished(() => events.close());
    /** Has a summary of the newest CI run written. Returns the events that wait. */
    const summarized = async (more: object = {}, branch = 'main') => {
      const ciRun = { id: 'the CI run', created_at: NOW };
      const summarizedBuild = {
        recorded: { id: 'the build' },
        ciRun,
        summary: summaryOf({ line: { missing: 3 } }),
        observed: null,
        losses: null,
      };
      await events.summarized({ project, ...BUILD, branch }, { ...summarizedBuild, ...more } as never);
      await events.settled();
      const sent: string[] = [];
      for (let delivery = await store.deliveries.due(NOW, 1); delivery.length > 0; delivery = await store.deliveries.due(NOW, 1)) {
        sent.push(delivery[0]!.event.text);
        await store.deliveries.end(delivery[0]!);
      }
      return sent;
    };
    return { store, project, found, asked, summarized, log, events };
  }
  const LOSSES = { losses: 'Node 1 took no files: 3 test files are missing.' };

  it('of a failed gate is sent once for a CI run that ended incomplete, of any branch, unless it was cancelled', async () => {
    const { summarized } = await startEvents();
    expect(await summarized()).toEqual([]);
    for (const state of ['running', 'cancelled'] as const)
      expect(await summarized({ ...LOSSES, summary: summaryOf({ state, line: { missing: 3 } }) })).toEqual([]);
    expect(await summarized({ ...LOSSES, ciRun: { id: 'old', created_at: NOW - OLDEST_RUN_MILLISECONDS - 1 } })).toEqual([]);
    const sent =
      'web, fix, commit abc: the gate failed: 3 of 12 test files were not recorded. Node 1 took no files: 3 test files are missing.';
    expect(await summarized(LOSSES, 'fix')).toEqual([sent]);
    expect(await summarized(LOSSES, 'fix')).toEqual([]);
    expect(await summarized({ ...LOSSES, ciRun: { id: 'the next CI run', created_at: NOW } }, 'fix')).toEqual([sent]);
  });

  it('of a file is sent once for each change, also when later builds move the change by one', async () => {
    const { summarized, found } = await startEvents();
    const grown = (...around: number[]) => [{ path: 'a.rb', before: 20, after: 40, commit_hash: 'c1', around }];
    found.grown = grown(7, 6, 8);
    expect(await summarized()).toEqual(['web, main, commit abc: a.rb has taken 40 s since commit c1, and took 20 s before.']);
    expect(await summarized()).toEqual([]);
    found.grown = grown(8, 7, 9);
    expect(await summarized()).toEqual([]);
    found.grown = grown(17, 16, 18);
    expect(await summarized()).toHaveLength(1);
  });

  it('of a slow node is sent once until it is no longer slow', async () => {
    const { summarized, found } = await startEvents();
    const slow = [{ node_index: 2, node_total: 4, slowness: 1.5, builds: 12 }];
    const counts: number[] = [];
    for (const each of [[], slow, slow, [], slow, slow]) {
      found.slow = each;
      counts.push((await summarized()).length);
    }
    expect(counts).toEqual([0, 1, 0, 0, 1, 0]);
  });

  it('of a flaky file is sent once until it has healed', async () => {
    const { summarized, found } = await startEvents();
    found.flaky = [{ path: 'a.rb', commits: 2, rate: 0.0312, seconds: 90 }];
    expect(await summarized()).toEqual([
      'web, main, commit abc: a.rb is flaky: it failed and passed at 2 commits, in about 3.1 % of the builds. Nodes ran 90 s of tests again because of it.',
    ]);
    expect(await summarized()).toEqual([]);
    found.flaky = [{ path: 'a.rb', commits: 3, rate: 0.05, seconds: 0 }];
    expect(await summarized()).toEqual([]);
    Object.assign(found, { flaky: [], healed: ['a.rb'] });
    expect(await summarized()).toEqual([]);
    Object.assign(found, { flaky: [{ path: 'a.rb', commits: 4, rate: 0.05, seconds: 0 }], healed: [] });
    expect(await summarized()).toEqual([
      'web, main, commit abc: a.rb is flaky: it failed and passed at 4 commits, in about 5.0 % of the builds.',
    ]);
  });

  it('is looked for only where it was chosen, and in trends only of the default branch', async () => {
    const { store, project, asked, summarized } = await startEvents({ webhook_events: 'file_grew' });
    expect(await summarized(LOSSES)).toEqual([]);
    await summarized({}, 'fix');
    expect(asked).toEqual([{ project, branch: 'main', node_total: 4, events: ['file_grew'] }]);
    await changeSettings(store.access, project, { webhook_events: 'gate_failed' });
    expect(await summarized(LOSSES)).toHaveLength(1);
    await changeSettings(store.access, project, { webhook_url: '' });
    await summarized();
    expect(asked).toHaveLength(1);
  });

  it('that is one too many drops the oldest, and the log says so', async () => {
    const { store, project, events, log } = await startEvents();
    const most = WAITING_DELIVERIES_PER_PROJECT;
    for (let i = 0; i < most; i++)
      await store.deliveries.add({ project, key: `${i}`, id: '', event: testEvent(''), created_at: NOW - most + i }, most);
    await events.summarized({ project, ...BUILD }, {
      ...{ ...LOSSES, recorded: null, ciRun: { id: 'the CI run', created_at: NOW }, summary: summaryOf(), observed: null },
    } as never);
    expect(events.dropped).toBe(1);
    expect((await store.deliveries.due(NOW, 9))[0]!.key).toBe('1');
    expect(log.join()).toContain('too many deliveries wait for the webhook of a project; the oldest were dropped');
  });
});

describe('a server', () => {
  /** Has a node take files of a queue and never record, and the summary written when it has been silent for long. */
  async function loseNode(server: TestServer, clock: Clock): Promise<void> {
    await initialise(server, PATHS);
    clock.advance({ seconds: SILENT_MILLISECONDS / 1000 + 60 });
    await server.service.summarize();
  }
  const setUp = async (url: string, settings: Parameters<typeof startServer>[0] = {}) => {
    const clock = new Clock();
    const server = await startServer({ publicUrl: 'https://ballast.example.com', ...settings }, clock.now);
    const [project] = await server.store.access.projects();
    await changeSettings(server.store.access, project!.id, { webhook_url: url });
    return { server, clock };
  };

  it('tells that files are missing, once, with the address of the build', async () => {
    const hook = await receiver();
    const { server, clock } = await setUp(hook.url);
    const arrived = hook.next();
    await loseNode(server, clock);
    const { body } = await arrived;
    expect(body).toMatchObject({ event: 'gate_failed', project: 'default', branch: 'main', missing_files: 3, test_files: 3 });
    expect(body.text).toMatch(
      /the gate failed: 3 of 3 test files were not recorded\. .* https:\/\/ballast\.example\.com\/p\/default\/builds\/\S+$/,
    );
    expect((await server.get(`/v1/builds/${body.url.split('/').at(-1)}/minutes`)).status).toBe(200);
    await server.service.summarize();
    expect(hook.all).toHaveLength(1);
    expect((await server.get('/metrics')).text).toContain('ballast_webhook_deliveries_total{result="delivered"} 1');
  });

  it('answers pulls, recordings and summaries while a webhook hangs', async () => {
    const hook = await receiver(() => {});
    const { server, clock } = await setUp(hook.url);
    const arrived = hook.next();
    await loseNode(server, clock);
    const { response } = await arrived;
    const more = { commit_hash: 'c2', node_build_id: '2' };
    expect(pathsIn(await initialise(server, PATHS, more)).length).toBeGreaterThan(0);
    expect((await pull(server, more)).status).toBe(200);
    await record(server, { ...more, commit_hash: 'c3' });
    await server.service.summarize();
    expect((await server.get('/v1/build_summaries?commit_hash=c3')).json.builds[0].summary).not.toBeNull();
    expect([hook.all.length, response.writableEnded]).toEqual([1, false]);
    // Nor does its end wait.
    await server.close();
    expect(response.writableEnded).toBe(false);
  });
});
