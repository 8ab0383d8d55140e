import { beforeAll, describe, expect, it } from 'vitest';
import { piecePath } from '../../src/protocol/piece-path.js';
import { signedInOperator } from '../harness/browser.js';
import { Clock } from '../harness/clock.js';
import { type ProjectClient, SharedServer } from '../harness/server.js';
import { type Log, type Plan, playCiRun } from './ci-runs.js';
import { fileTimes, middle } from './recompute.js';
import { type Compared, compared } from './situations.js';

const clock = new Clock();
const shared = new SharedServer({}, { now: clock.now });
/** To the millisecond. */
const ms = (seconds: number) => expect.closeTo(seconds, 2.5);
const sumOf = (values: readonly number[]) => values.reduce((sum, each) => sum + each, 0);

const FILES = Object.fromEntries(
  Array.from({ length: 40 }, (_, i) => [`spec/file_${String(i).padStart(2, '0')}_spec.rb`, 4 + ((i * 7) % 10)]),
);
const [FIRST] = Object.keys(FILES);
const nodes = (count: number, others: Plan['nodes'] = []) => Array.from({ length: count }, (_, i) => others[i] ?? {});

let client: ProjectClient;
const plan = (commit_hash: string, more: Partial<Plan> = {}): Plan => ({
  ...{ mode: 'reports', commit_hash, files: FILES, nodes: nodes(4) },
  ...more,
});

/** Plays CI runs, an hour apart. */
async function playAll(plans: readonly Plan[]): Promise<Log[]> {
  const logs: Log[] = [];
  for (const each of plans) {
    logs.push(await playCiRun(client, clock, each));
    clock.advance({ seconds: 3600 });
    await shared.summarize();
  }
  return logs;
}

const comparison = async (id: string, query = '') => (await client.get(`/v1/builds/${id}/comparison${query}`)).json;

/** Six usual builds whose files take from 0.9 to 1.15 of their times, of which one is incomplete. */
const USUAL = [1, 0.9, 1.1, 1.05, 0.95, 1.15];
const INCOMPLETE = 2;

describe('GET /builds/:id/comparison', () => {
  let logs: Log[];
  let builds: Compared[];
  beforeAll(async () => {
    client = await shared.project();
    const scaled = (by: number) => Object.fromEntries(Object.entries(FILES).map(([path, seconds]) => [path, seconds * by]));
    logs = await playAll([
      ...USUAL.map((by, i) => plan(`usual ${i}`, { files: scaled(by), nodes: nodes(4, i === INCOMPLETE ? [{}, { dies: 1 }] : []) })),
      plan('as usual', { files: scaled(1.05) }),
      plan('a long file', { files: { ...FILES, [FIRST!]: 150 } }),
      plan('a restart', { nodes: nodes(4, [{}, {}, { dies: 2, returns: 90 }]) }),
      plan('a new file', { files: { ...FILES, 'spec/new_spec.rb': 140 } }),
      plan('a slow node', { nodes: nodes(4, [{}, { slow: 3 }]) }),
      plan('fewer nodes', { nodes: nodes(2) }),
    ]);
    builds = await compared(client, logs);
  });
  const build = (commit_hash: string) => builds.find(({ log }) => log.commit_hash === commit_hash)!;

  it('compares with the medians of the complete builds before, on the same branch and with as many nodes', async () => {
    for (const [i, { id, figures, log }] of builds.entries()) {
      const before = builds.slice(0, i).filter(each => each.log.nodes === log.nodes && each.figures.missing.size === 0);
      const { wall, floor, parts, usual, files, other } = await comparison(id);
      expect(other).toBeNull();
      expect([wall.seconds, floor.seconds], log.commit_hash).toEqual([ms(figures.wall), ms(figures.floor)]);
      if (before.length < 3) {
        expect([usual, wall.before, floor.before, files], log.commit_hash).toEqual([null, null, null, []]);
        continue;
      }
      const walls = before.map(each => each.figures.wall);
      expect(wall.before).toEqual(ms(middle(walls)));
      expect(usual).toMatchObject({ branch: 'main', builds: before.length, shorter: walls.filter(each => each < figures.wall).length });
      const outside = Math.floor(before.length / 4);
      const usually = before
        .map(each => each.figures)
        .sort((a, b) => a.wall - b.wall)
        .slice(outside, before.length - outside);
      const scale = middle(walls) / sumOf(usually.map(each => each.wall));
      const part = (name: string) => parts.find((each: any) => each.name === name).before;
      expect(part('even_share')).toBeCloseTo(scale * sumOf(usually.map(each => each.evenShare)), 2);
      expect(part('longest_file')).toBeCloseTo(scale * sumOf(usually.map(each => each.longestFile)), 2);
      expect(floor.before).toBeCloseTo(part('even_share') + part('longest_file'), 6);
      expect(sumOf(parts.map((each: any) => each.before))).toBeCloseTo(wall.before, 6);
      const own = new Map(fileTimes([log]));
      const others = fileTimes(before.map(each => each.log));
      for (const { path, seconds, before: usually } of files) {
        expect(seconds, path).toEqual(own.has(path) ? ms(own.get(path)!.at(-1)!) : null);
        const times = others.get(path) ?? [];
        expect(usually, path).toEqual(2 * times.length >= before.length ? ms(middle(times)) : null);
      }
    }
  });

  it('has causes that add up to the difference, the largest first', async () => {
    for (const { id, log } of builds) {
      for (const query of ['', `?with=${builds[0]!.id}`, `?with=${build('fewer nodes').id}`]) {
        const { causes, wall } = await comparison(id, query);
        const seconds = causes.map((cause: any) => cause.seconds);
        if (wall.before === null) expect(causes).toEqual([]);
        else expect(sumOf(seconds), log.commit_hash).toBeCloseTo(wall.seconds - wall.before, 6);
        expect(seconds).toEqual(seconds.toSorted((a: number, b: number) => Math.abs(b) - Math.abs(a)));
      }
    }
  });

  it.each([
    ['a long file', { text: FIRST, path: FIRST, node_index: null }],
    ['a restart', { text: 'node 2 restarted', path: null, node_index: 2 }],
    ['a new file', { text: 'spec/new_spec.rb (new)', path: 'spec/new_spec.rb' }],
    ['a slow node', { text: 'node 1 was slow', node_index: 1 }],
  ])('names the cause of %s', async (commit_hash, cause) => {
    const { verdict, causes, files } = await comparison(build(commit_hash).id);
    expect(causes[0]).toMatchObject(cause);
    const file = files.find(({ path }: any) => path === causes[0].path);
    const own = file?.seconds && file.before ? ms(file.seconds - file.before) : null;
    expect(causes[0].file_seconds).toEqual(own);
    expect(verdict).toMatch(
      new RegExp(`^.+ longer than usual: ${cause.text!.replace(/[()]/g, '\\$&')} \\+.+\\. The median of \\d builds of main is `),
    );
  });

  it('says when a build took as long as usual, is incomplete, or cannot be compared', async () => {
    expect((await comparison(build('as usual').id)).verdict).toMatch(/^As long as usual\. The median of 5 builds of main is /);
    expect((await comparison(build('usual 0').id)).verdict).toBe(
      'What is usual is not known: fewer than three builds of main with 4 nodes ended complete before this one.',
    );
    const { verdict } = await comparison(build(`usual ${INCOMPLETE}`).id, `?with=${builds[0]!.id}`);
    expect(verdict).toMatch(/^The build misses \d+ test files?, so its time says little\.$/);
  });

  it('names the file that decided, and runs in pieces now', async () => {
    const { [FIRST!]: _, ...rest } = FILES;
    const pieces = [1, 2, 3].map(number => [piecePath({ file: FIRST!, number, count: 3 }), 50]);
    const [inPieces] = await compared(client, await playAll([plan('in pieces', { files: { ...rest, ...Object.fromEntries(pieces) } })]));
    const { causes } = await comparison(inPieces!.id, `?with=${build('a long file').id}`);
    expect(causes.find(({ path }: any) => path === FIRST)).toMatchObject({ text: `${FIRST} ran in pieces`, seconds: expect.any(Number) });
  });

  it('compares two builds with different numbers of nodes', async () => {
    const [few, many] = [build('fewer nodes'), build('as usual')];
    const { other, wall, causes, verdict, usual } = await comparison(few.id, `?with=${many.id}`);
    expect(other).toMatchObject({ build_id: many.id, commit_hash: 'as usual', node_total: 4 });
    expect(usual).toBeNull();
    expect([wall.seconds, wall.before]).toEqual([ms(few.figures.wall), ms(many.figures.wall)]);
    const work = many.figures.evenShare * 4;
    expect(causes[0]).toMatchObject({ text: '2 nodes instead of 4', seconds: ms(work / 2 - work / 4) });
    expect(verdict).toContain(' longer than the build of as usua on main: 2 nodes instead of 4 +');
    const back = await comparison(many.id, `?with=${few.id}`);
    expect(back.verdict).toContain(' shorter than the build of fewer n on main: 4 nodes instead of 2 \u2212');
  });

  it('takes the default branch for a branch of few builds', async () => {
    const { status } = await client.post('/v1/build_subsets', {
      ...{ commit_hash: 'of a branch', branch: 'topic', node_total: 4, node_index: 0 },
      test_files: [{ path: FIRST, time_execution: 9 }],
    });
    expect(status).toBe(201);
    await shared.summarize();
    const [{ id }] = (await client.get('/v1/builds?branch=topic')).json.data;
    expect((await comparison(id)).usual).toMatchObject({ branch: 'main' });
  });

  it('finds the builds of its project only, for CI jobs and for pages', async () => {
    const { id } = builds[0]!;
    const stranger = await shared.project();
    expect((await stranger.get(`/v1/builds/${id}/comparison`)).status).toBe(404);
    expect((await client.get(`/v1/builds/${id}/comparison?with=00000000-0000-4000-8000-000000000000`)).status).toBe(404);
    expect((await client.get(`/v1/builds/${id}/comparison?with=usual`)).status).toBe(404);
    const browser = await signedInOperator(shared.url, shared.store, clock.millis);
    const own = await browser.get(`/v1/builds/${id}/comparison`, { 'Ballast-Project': String(client.id) });
    expect(own.status).toBe(200);
  });
});
