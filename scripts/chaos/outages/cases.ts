import { setTimeout as sleep } from 'node:timers/promises';
import { statement } from '../../../test/testbed/postgresql.js';
import { pick } from '../../../test/testbed/random.js';
import { invariant } from '../invariants.js';
import type { Nodes } from './nodes.js';
import { OLDER_RELEASE, Stage, type StageOptions } from './stage.js';
import { startTogether } from './start-together.js';

/** A case: something is done to two servers and their database while nodes use them. It returns what was done, and what was measured. */
type Case = (seed: number, seconds: number) => Promise<string>;

const PLAYED_MILLISECONDS = 2000;
/** After its return. Reaching a database takes up to 1 s, and this machine may be busy. */
const FIRST_ANSWER_MILLISECONDS = 5000;
/** A request to a server that nothing was done to. */
const UNDISTURBED_MILLISECONDS = 5000;

/** After that time a balancer sends nothing to a server that does not answer. */
const FOUND_DOWN_MILLISECONDS = 5000;

const onStage =
  (options: StageOptions, act: (stage: Stage, seconds: number) => Promise<string>): Case =>
  async (seed, seconds) => {
    const stage = await Stage.open(options, seed);
    try {
      const done = await stage.during(() => act(stage, seconds));
      return `${done}; ${stage.summary()}`;
    } finally {
      await stage.close();
    }
  };

/** The primary is lost, and its standby promoted after a time. */
const failover = (seconds: number) =>
  onStage({ standby: 'synchronous', hasClients: true }, async stage => {
    await sleep(PLAYED_MILLISECONDS + 1000 * stage.random());
    await stage.clusters[0]!.end('SIGQUIT');
    await sleep(1000 * seconds);
    await stage.promote();
    const first = await expectSoon(stage);
    await sleep(PLAYED_MILLISECONDS);
    return `primary killed, standby promoted after ${seconds} s, first answers ${first} ms later`;
  });

const onClocks = (ahead: number) =>
  // With leases, a wrong difference of two times takes a batch from a node that runs it.
  onStage({ clocks: [0, ahead], flags: ['--lease-factor', '2', '--lease-grace-seconds', '10'] }, async (_, seconds) => {
    await sleep(1000 * seconds);
    return `one clock ${ahead} s ahead`;
  });

/** A server stands still for some seconds, again and again. */
const standStill = (options: StageOptions, pauseSeconds: number, patience: Partial<Pick<Nodes, 'timeout' | 'retries'>>) =>
  onStage(options, async (stage, seconds) => {
    const until = performance.now() + 1000 * seconds;
    Object.assign(stage.nodes, patience);
    let pauses = 0;
    let longest = { path: '', milliseconds: 0, from: 0 };
    do {
      await sleep(500 * stage.random());
      const still = pick(stage.random, stage.servers);
      const from = performance.now();
      still.child.kill('SIGSTOP');
      await sleep(Math.min(FOUND_DOWN_MILLISECONDS, 1000 * pauseSeconds));
      if (1000 * pauseSeconds > FOUND_DOWN_MILLISECONDS) stage.nodes.down.add(still);
      await sleep(Math.max(0, 1000 * pauseSeconds - FOUND_DOWN_MILLISECONDS));
      still.child.kill('SIGCONT');
      stage.nodes.down.clear();
      const others = stage.nodes.took.filter(request => request.server !== still && request.from >= from);
      for (const request of others)
        if (request.milliseconds > longest.milliseconds) longest = { ...request, from: Math.round(request.from - from) };
      pauses += 1;
      await sleep(500 + 500 * stage.random());
    } while (performance.now() < until);
    const request = `${longest.path} to the other took ${Math.round(longest.milliseconds)} ms`;
    invariant(longest.milliseconds < UNDISTURBED_MILLISECONDS, `${longest.from} ms after a server stood still, ${request}`);
    return `a server stopped ${pauses} times, meanwhile ${request} at most`;
  });

export const cases = {
  crash: onStage({ hasClients: true }, async (stage, seconds) => {
    const until = performance.now() + 1000 * seconds;
    const first: number[] = [];
    do {
      await sleep(500 + PLAYED_MILLISECONDS * stage.random());
      await stage.clusters[0]!.end('SIGQUIT');
      await sleep(3000 * stage.random() ** 2);
      await stage.startPrimary();
      first.push(await expectSoon(stage));
    } while (performance.now() < until);
    return `database crashed and started ${first.length} times, first answers ${Math.min(...first)} to ${Math.max(...first)} ms later`;
  }),
  'failover at once': failover(0.1),
  'failover after 10 s': failover(10),
  'failover after 50 s': failover(50),
  'standby stopped': onStage({ standby: 'synchronous', hasClients: true }, async (stage, seconds) => {
    await sleep(PLAYED_MILLISECONDS);
    await stage.clusters[1]!.end('SIGINT');
    // What was confirmed before may be on its way.
    await sleep(1000);
    const from = performance.now();
    await sleep(1000 * seconds);
    const until = performance.now();
    const [row] = await statement<{ sessions: number }>(
      stage.clusters[0]!.url,
      "select count(*)::int as sessions from pg_stat_activity where wait_event = 'SyncRep'",
    );
    const early = stage.nodes.acknowledged.filter(({ at }) => at >= from && at <= until);
    const first = early[0] && `${Math.round(early[0].at - from)} ms: ${early[0].request}`;
    invariant(early.length === 0, `${early.length} batches and records were acknowledged without a standby, the first after ${first}`);
    await stage.clusters[1]!.start();
    const again = await expectSoon(stage);
    await sleep(PLAYED_MILLISECONDS);
    return `no synchronous standby for ${seconds} s, ${row!.sessions} sessions waited, first answers ${again} ms after its return`;
  }),
  'asynchronous standby promoted': onStage({ standby: 'asynchronous' }, async stage => {
    const [primary] = stage.clusters;
    await sleep(PLAYED_MILLISECONDS);
    const [sender] = await statement<{ pid: number }>(primary!.url, 'select pid from pg_stat_replication');
    stage.lossUntil = Infinity;
    process.kill(sender!.pid, 'SIGSTOP');
    const acknowledged = stage.nodes.acknowledged.length;
    await sleep(500 + 1000 * stage.random());
    const lost = stage.nodes.acknowledged.length - acknowledged;
    const ended = primary!.end('SIGQUIT');
    process.kill(sender!.pid, 'SIGKILL');
    await ended;
    await stage.promote();
    const first = await expectSoon(stage);
    stage.lossUntil = performance.now();
    await sleep(2 * PLAYED_MILLISECONDS);
    return `asynchronous standby promoted that lacked ${lost} batches and records, first answers ${first} ms later`;
  }),
  cut: onStage({ isProxied: true }, async (stage, seconds) => {
    stage.proxy!.cuts = 0.05;
    await sleep(1000 * seconds);
    stage.proxy!.cuts = 0;
    return `${stage.proxy!.done} connections cut between the commit and its answer`;
  }),
  held: onStage({ isProxied: true }, async (stage, seconds) => {
    stage.proxy!.holds = 0.05;
    await sleep(1000 * seconds);
    stage.proxy!.holds = 0;
    // The last ones reach the database.
    await sleep(4000);
    return `${stage.proxy!.done} statements cut, which reached the database 3 s later`;
  }),
  'stands still': standStill({ hasClients: true }, 60, {}),
  'stands still often': standStill({}, 2, { timeout: 1000, retries: 20 }),
  'sent twice': onStage({ isProxied: true }, async (stage, seconds) => {
    // The first request is still under way when the second one comes.
    stage.proxy!.delay = 200;
    stage.nodes.isDoubling = true;
    await sleep(1000 * seconds);
    return 'each request sent to both';
  }),
  upgrade: onStage({ hasClients: true, isUpgraded: true }, async (stage, seconds) => {
    const until = performance.now() + 1000 * seconds;
    let upgrades = 0;
    let longest = 0;
    do {
      for (const i of stage.servers.keys()) {
        await sleep(PLAYED_MILLISECONDS / 2 + PLAYED_MILLISECONDS * stage.random());
        longest = Math.max(longest, await stage.upgrade(i));
        upgrades += 1;
      }
    } while (performance.now() < until);
    // The old processes go on while the first new one adds to the tables.
    await stage.addToTables();
    await sleep(PLAYED_MILLISECONDS);
    const from = process.env[OLDER_RELEASE] ?? 'this version';
    return `${stage.servers.length} servers of ${from} replaced by this version, ${upgrades} stops and starts in all, each in at most ${Math.round(longest)} ms, then tables grew`;
  }),
  'clocks 30 s apart': onClocks(30),
  'a clock an hour ahead': onClocks(3600),
  'two starts': async (seed, seconds) => startTogether(seed, seconds),
} satisfies Record<string, Case>;

async function expectSoon(stage: Stage): Promise<number> {
  const milliseconds = await stage.firstAnswers();
  invariant(milliseconds < FIRST_ANSWER_MILLISECONDS, `the first answers came ${milliseconds} ms after the database was back`);
  return milliseconds;
}
