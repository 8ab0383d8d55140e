import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { Calendar } from '../../scripts/demo/calendar.js';
import { playLive } from '../../scripts/demo/live.js';
import { type NodeRequest, startNode } from '../../scripts/demo/node.js';
import { type Demo, openDemo } from '../../scripts/demo/open-demo.js';
import { projects } from '../../scripts/demo/projects.js';
import type { BuildKey } from '../../src/server/engine/keys.js';
import { Client } from '../harness/client.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

/** They include the day on which a node died. */
const DAYS = 2;
const DAY = 86_400_000;
/** The afternoon of the last Thursday. 1970 began on one. */
const NOW = Math.floor((Date.now() - DAY) / (7 * DAY)) * 7 * DAY + 0.6 * DAY;

type BuildLine = BuildKey & { created_at: string };

describe('the demo', () => {
  let demo: Demo;
  let remove = () => {};
  beforeAll(async () => {
    const dataDir = temporaryFolder(end => (remove = end));
    demo = await openDemo({ dataDir, port: 0, seed: 1, days: DAYS, now: NOW, clock: () => NOW });
  });
  afterAll(async () => {
    await demo.close();
    remove();
  });

  const clientOf = (name: string) => new Client(demo.url, demo.projects.find(project => project.name === name)!.token);
  const buildsOf = async (name: string) => (await clientOf(name).get('/v1/builds')).json.data as BuildLine[];
  const completeness = async (name: string, { commit_hash, branch, node_total }: BuildLine) =>
    (await clientOf(name).get(`/v1/builds/completeness?${new URLSearchParams({ commit_hash, branch, node_total: String(node_total) })}`))
      .json;

  it.each(['web-rspec', 'api-jest', 'e2e-playwright'])('has builds of %s on main and on branches, recorded when they ran', async name => {
    const builds = await buildsOf(name);
    expect(builds.length).toBeGreaterThan(3 * DAYS);
    const branches = new Set(builds.map(({ branch }) => branch));
    expect(branches.has('main')).toBe(true);
    expect(branches.size).toBeGreaterThan(2);
    const days = new Set(builds.map(({ created_at }) => created_at.slice(0, 10)));
    expect(days.size).toBeGreaterThan(2);
    for (const { created_at } of builds) expect(Date.parse(created_at)).toBeLessThanOrEqual(NOW);
  });

  it('has one incomplete build, whose node died, and others that are complete', async () => {
    const builds = (await buildsOf('e2e-playwright')).filter(({ created_at }) => Date.parse(created_at) < NOW - 3_600_000);
    const gates = await Promise.all(builds.map(build => completeness('e2e-playwright', build)));
    expect(gates.filter(({ is_complete }) => !is_complete)).toHaveLength(1);
    expect(gates.find(({ is_complete }) => !is_complete).errors.join()).toMatch(/not recorded/);
  });

  it('has a file that fails on main and is muted, in builds that are complete', async () => {
    const { files } = (await clientOf('e2e-playwright').get('/v1/flaky')).json as { files: { path: string; state: string }[] };
    const { path } = files.find(({ state }) => state === 'failing')!;
    const ended = (await buildsOf('e2e-playwright')).find(
      ({ branch, created_at }) => branch === 'main' && Date.parse(created_at) < NOW - DAY / 24,
    );
    expect(await completeness('e2e-playwright', ended!)).toMatchObject({ is_complete: true, muted: [{ path }] });
  });

  it('has the same CI runs with the same seed, and others with another', async () => {
    const { project } = new Calendar(projects[0]!, 1000, NOW, DAYS);
    const drawn = (seed: number) =>
      [...new Calendar(project, seed, NOW, DAYS).past()].map(({ build, at, seconds, nodes }) => ({
        build,
        at,
        seconds: [...seconds],
        nodes,
      }));
    expect(drawn(1000)).toEqual(drawn(1000));
    expect(drawn(1000)).not.toEqual(drawn(1001));
    const recorded = (await buildsOf(project.name)).map(({ commit_hash }) => commit_hash);
    expect(drawn(1000).map(({ build }) => build.commit_hash)).toEqual(expect.arrayContaining(recorded));
  });

  it('runs on as a client of the server, until it is ended', async () => {
    const before = await buildsOf('web-rspec');
    const stopping = new AbortController();
    const failures: string[] = [];
    const played = demo.play(stopping.signal, ({ message }) => failures.push(message));
    // The demo's time has passed, so its nodes wait for nothing.
    await expect.poll(async () => (await buildsOf('web-rspec')).length).toBe(before.length + 1);
    // The build is listed when its first node has recorded, and an ended demo stops the others.
    const [running] = await buildsOf('web-rspec');
    await expect.poll(async () => (await completeness('web-rspec', running!)).is_complete).toBe(true);
    stopping.abort();
    await played;
    expect(failures).toEqual([]);
    expect((await completeness('web-rspec', running!)).is_complete).toBe(true);
  });

  it('outlives a token that is revoked', async () => {
    const failures: string[] = [];
    const stopping = new AbortController();
    const project = { token: 'revoked', calendar: new Calendar(projects[1]!, 1, NOW, 1), running: runningNodes() };
    await playLive(demo.url, [project], stopping.signal, ({ message }) => {
      failures.push(message);
      stopping.abort();
    });
    expect(failures[0]).toMatch(/answered 403/);
  });
});

describe('npm run demo', () => {
  it('ends at once when its port is in use, and takes a free one when that is the usual one', async () => {
    const other = createServer().listen(0, '127.0.0.1');
    onTestFinished(() => void other.close());
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    const { child, folder, stderr } = startDemo('--port', String(port), '--days', '60');
    expect((await once(child, 'close'))[0]).toBe(1);
    expect(stderr()).toMatch(
      new RegExp(`^demo: port ${port} cannot be used \\(.*EADDRINUSE.*\\): give another --port, or 0 for a free one\n$`),
    );
    expect(readdirSync(folder)).toEqual([]);
  });

  it('leaves nothing behind when SIGINT and SIGTERM interrupt it while it makes builds', async () => {
    const { child, folder, stderr } = startDemo('--port', '0', '--days', '60');
    const ended = once(child, 'close');
    await expect.poll(() => readdirSync(folder).length, { timeout: 20_000 }).toBe(1);
    await expect.poll(stderr).toContain('making the builds of 60 days');
    for (const signal of ['SIGINT', 'SIGINT', 'SIGTERM'] as const) child.kill(signal);
    expect((await ended)[0]).toBe(0);
    expect(readdirSync(folder)).toEqual([]);
  });
});

/** Starts the program of the demo with a folder of its own for temporary files. */
function startDemo(...args: string[]) {
  const folder = temporaryFolder();
  const program = fileURLToPath(new URL('../../scripts/demo.js', import.meta.url));
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, TMPDIR: folder },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let text = '';
  child.stderr.setEncoding('utf8').on('data', (more: string) => (text += more));
  return { child, folder, stderr: () => text };
}

/** A node that asks for its files now. */
function runningNodes() {
  const run = [...new Calendar(projects[1]!, 1, NOW, 1).past()].at(-1)!;
  const node = startNode(run, run.nodes[0]!);
  return [{ run, node_index: 0, node, request: node.next().value as NodeRequest }];
}
