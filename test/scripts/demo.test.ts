import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Calendar } from '../../scripts/demo/calendar.js';
import { type Demo, openDemo } from '../../scripts/demo/open-demo.js';
import { projects } from '../../scripts/demo/projects.js';
import { Client } from '../harness/client.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const DAYS = 4;
/** A Thursday. */
const NOW = Date.UTC(2026, 10, 19, 15);

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

  it('runs on in real time', async () => {
    const stopping = new AbortController();
    const played = demo.play(stopping.signal);
    stopping.abort();
    await expect(played).resolves.toBeUndefined();
  });
});
