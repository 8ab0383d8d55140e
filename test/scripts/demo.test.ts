import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Calendar } from '../../scripts/demo/calendar.js';
import { playLive } from '../../scripts/demo/live.js';
import { type NodeRequest, startNode } from '../../scripts/demo/node.js';
import { type Demo, openDemo } from '../../scripts/demo/open-demo.js';
import { projects } from '../../scripts/demo/projects.js';
import { Client } from '../harness/client.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const DAYS = 4;
const DAY = 86_400_000;
/** The afternoon of the last Thursday. 1970 began on one. */
const NOW = Math.floor((Date.now() - DAY) / (7 * DAY)) * 7 * DAY + 0.6 * DAY;

interface BuildLine {
  commit_hash: string;
  branch: string;
  node_total: number;
  created_at: string;
}

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

  it.each(['web-rspec', 'api-jest', 'e2e-cypress'])('has builds of %s on main and on branches, recorded when they ran', async name => {
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
    const builds = (await buildsOf('e2e-cypress')).filter(({ created_at }) => Date.parse(created_at) < NOW - 3_600_000);
    const gates = await Promise.all(builds.map(build => completeness('e2e-cypress', build)));
    expect(gates.filter(({ is_complete }) => !is_complete)).toHaveLength(1);
    expect(gates.find(({ is_complete }) => !is_complete).errors.join()).toMatch(/not recorded/);
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
    stopping.abort();
    await played;
    expect(failures).toEqual([]);
    const [running] = await buildsOf('web-rspec');
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

/** A node that asks for its files now. */
function runningNodes() {
  const run = [...new Calendar(projects[1]!, 1, NOW, 1).past()].at(-1)!;
  const node = startNode(run, run.nodes[0]!);
  return [{ run, node_index: 0, node, request: node.next().value as NodeRequest }];
}
