import { beforeAll, describe, expect, it } from 'vitest';
import { durationText } from '../../src/base/duration.js';
import { signedInOperator } from '../harness/browser.js';
import { Clock } from '../harness/clock.js';
import { runInProcess } from '../harness/run-in-process.js';
import { type ProjectClient, SharedServer } from '../harness/server.js';
import { type Log, playCiRun } from './ci-runs.js';
import { dayOf, fileTimes, isPartial, middle, toMillis } from './recompute.js';
import { contradictions, leastDelay } from './sentences.js';
import { type Compared, compared, play, SITUATIONS, type Situation } from './situations.js';

const DAY = 86_400_000;
const clock = new Clock();
const shared = new SharedServer({}, { now: clock.now });

/** To the millisecond: sums of rounded values may differ in the last digit. */
const ms = (seconds: number | null): any => (seconds === null ? null : expect.closeTo(seconds, 2.5));
/** Within a part of a value, where the definition leaves something open. */
const about = (value: number, part: number) => expect.closeTo(value, -Math.log10(2 * Math.max(0.001, part * value)));
const sumOf = (values: Iterable<number>) => [...values].reduce((sum, each) => sum + each, 0);

interface Played {
  client: ProjectClient;
  builds: Compared[];
  last: Compared;
  /** Builds that have ended. */
  ended: Compared[];
  get(path: string): Promise<any>;
}

async function playSituation(situation: Situation): Promise<Played> {
  const client = await shared.project();
  // Each on a day of its own.
  clock.millis = (Math.floor(clock.millis / DAY) + 1) * DAY;
  const logs = await play(client, { server: shared, clock }, situation);
  const builds = await compared(client, logs, situation.isRunning && clock.millis);
  const ended = builds.filter(({ figures }) => figures.state !== 'running');
  return { client, builds, last: builds.at(-1)!, ended, get: async path => (await client.get(path)).json };
}

/** Time that builds saved that were planned and ended without a missing file. */
const savedIn = (ended: readonly Compared[]) =>
  sumOf(ended.flatMap(({ figures: { missing, isPlanned }, row }) => (missing.size === 0 && isPlanned ? row.summary.saved : [])));

/** Answers of the server, beside the figures that follow from the requests. */
const ANSWERS: Record<string, (played: Played) => Promise<[said: unknown, truth: unknown][]>> = {
  minutes: async ({ builds }) =>
    builds.map(({ minutes, figures, log }) => {
      const { wall, floor, lost, started_at, files, missing, missing_count, failed, is_running } = minutes;
      const part = (name: string) => minutes.parts.find((each: any) => each.name === name).seconds;
      const said = {
        ...{ wall, floor, lost, started_at, files, missing_count, is_running, failed: failed.map(({ path }: any) => path).sort() },
        missing: missing.map(({ path, node_index }: any) => [path, node_index]).sort(),
        ...{
          even_share: part('even_share'),
          longest_file: part('longest_file'),
          sum: sumOf(minutes.parts.map((each: any) => each.seconds)),
        },
      };
      const truth = {
        ...{ wall: ms(figures.wall), floor: ms(figures.floor), lost: ms(figures.wall - figures.floor), sum: ms(figures.wall) },
        ...{ even_share: ms(figures.evenShare), longest_file: ms(figures.longestFile), is_running: figures.state === 'running' },
        started_at: new Date(figures.startedAt).toISOString(),
        files: filesOf({ log, figures }),
        ...{ missing_count: figures.missing.size, missing: [...figures.missing].sort(), failed: figures.failed?.toSorted() ?? [] },
      };
      return [said, truth];
    }),
  nodes: async ({ builds }) =>
    builds.map(({ minutes, figures }) => [
      minutes.nodes.map(({ start, end, recorded, busy, repeats, unreported, gaps, idle, batches, files, slowness }: any) => ({
        ...{ start, end, recorded, busy, repeats, idle, batches, files, slowness, between: toMillis(unreported + gaps) },
      })),
      figures.nodes.map(({ start, end, hasRecorded, busy, repeats, between, idle, batches, files, slowness }) => ({
        ...{ start: ms(start), end: ms(end), recorded: hasRecorded, busy: ms(busy), repeats: ms(repeats), idle: ms(idle) },
        ...{ batches, files, slowness: slowness === null ? null : expect.closeTo(slowness, 2), between: ms(between) },
      })),
    ]),
  verdict: async ({ builds }) =>
    builds.map(({ minutes, figures }) => [
      { [minutes.verdict]: contradictions(minutes.verdict, figures, minutes) },
      { [minutes.verdict]: [] },
    ]),
  timeline: async ({ get, last: { id, figures } }) => {
    const { wall, floor, nodes } = await get(`/v1/builds/${id}/timeline`);
    const spans = nodes.map((node: any) =>
      node.start === null ? [] : node.spans.map(({ from, to, files }: any) => [from, to, files.length]),
    );
    const truth = figures.spans.map(own => own.map(([from, to, files]) => [ms(from), ms(to), files]));
    return [
      [
        { wall, floor, spans },
        { wall: ms(figures.wall), floor: ms(figures.floor), spans: truth },
      ],
    ];
  },
  gate: async ({ get, last: { log, figures } }) => {
    if (log.mode === 'recordings') return [];
    const ciRun = { [log.mode === 'split' ? 'ci_build_id' : 'node_build_id']: `run of ${log.commit_hash}` };
    const query = new URLSearchParams({ commit_hash: log.commit_hash, branch: 'main', node_total: String(log.nodes), ...ciRun });
    const { test_files, recorded, ran_not_recorded, errors } = await get(`/v1/builds/completeness?${query}`);
    const ran = recorded + (figures.nodes.every(({ isLost }) => !isLost) ? ran_not_recorded.length : 0);
    const truth = { test_files: log.planned.length, ran: log.planned.length - figures.missing.size, isMissing: figures.missing.size > 0 };
    return [[{ test_files, ran, isMissing: errors.length > 0 }, truth]];
  },
  // In no split has the node with the most work less than an even share of the estimates.
  'the forecast of a split': async ({ get, last: { id, log, figures } }) => {
    if (log.mode !== 'split') return [];
    const { makespan, lower_bound } = await get(`/v1/builds/${id}/forecast`);
    const share = sumOf([...figures.estimates.values()].map(estimate => estimate ?? 0)) / log.nodes;
    return [
      [
        { makespan, isPossible: lower_bound >= share - 0.001 },
        { makespan: expect.toSatisfy(most => most >= lower_bound), isPossible: true },
      ],
    ];
  },
  'the list of builds': async ({ builds }) =>
    builds
      .filter(({ figures }) => figures.state !== 'running')
      .map(({ row: { is_running, state, started_at, summary }, figures, log }) => {
        const { wall, floor, idle_share, files, failed, missing, longest, last, decided_by } = summary;
        const [first, before] = figures.ended;
        const isDecided = figures.longestFile > leastDelay(figures) ? { path: figures.longest.path } : null;
        const isLate = first && before && first.end - before.end > leastDelay(figures);
        return [
          { is_running, state, started_at, wall, floor, idle_share, files, failed, missing, longest: longest?.seconds, last, decided_by },
          {
            ...{
              is_running: false,
              state: figures.state,
              started_at: new Date(figures.startedAt).toISOString(),
              wall: ms(figures.wall),
              floor: ms(figures.floor),
            },
            ...{ idle_share: ms(figures.idleShare), files: filesOf({ log, figures }), failed: figures.failed?.length ?? null },
            ...{ missing: figures.missing.size, longest: figures.seconds.size > 0 ? Math.max(...figures.seconds.values()) : undefined },
            last: first && before ? { node_index: first.node, seconds: ms(first.end - before.end) } : null,
            decided_by:
              figures.missing.size > 0 || isPartial(figures)
                ? null
                : (isDecided ?? (isLate ? (decided_by?.path ? decided_by : { node_index: first.node }) : null)),
          },
        ];
      }),
  'other methods': async ({ get, ended }) =>
    Promise.all(
      ended.map(async ({ id, row, figures }): Promise<[unknown, unknown]> => {
        const { baselines } = await get(`/v1/builds/${id}/what_if?nodes=${figures.nodes.length}`);
        const { round_robin, by_name, one_at_a_time } = baselines;
        const best = Math.min(round_robin, by_name, figures.isQueue ? one_at_a_time : Infinity);
        // What a batch costs is an estimate, too.
        const truth = Object.fromEntries(Object.entries(figures.baselines).map(([name, wall]) => [name, about(wall, 0.02)]));
        return [
          { ...baselines, saved: row.summary.saved },
          { ...truth, saved: figures.saved === null ? null : ms(best - figures.wall) },
        ];
      }),
    ),
  'the day': async ({ get, ended }) => {
    const { days } = await get('/v1/trends/builds');
    const { builds, incomplete, unplanned, with_failures, passed, jobs, wall, floor, median_wall, idle_share, saved, parts } = days[0];
    const { node_seconds, job_seconds, median_test_seconds } = days[0];
    const truth = dayOf(ended.map(({ figures }) => figures));
    const counts = {
      ...{ builds: truth.builds, incomplete: truth.incomplete, unplanned: truth.unplanned },
      ...{ with_failures: truth.with_failures, passed: truth.passed },
    };
    const times = { wall: ms(truth.wall), floor: ms(truth.floor), median_wall: ms(truth.median_wall), idle_share: ms(truth.idle_share) };
    const best = savedIn(ended);
    return [
      [
        { builds, incomplete, unplanned, with_failures, passed, wall, floor, median_wall, idle_share },
        { ...counts, ...times },
      ],
      [
        { jobs, node_seconds, job_seconds, median_test_seconds },
        {
          jobs: truth.jobs,
          node_seconds: ms(truth.node_seconds),
          job_seconds: truth.job_seconds,
          median_test_seconds: ms(truth.median_test_seconds),
        },
      ],
      [
        { days: days.length, best: saved.best, parts: sumOf(parts.map((part: any) => part.seconds)) },
        { days: 1, best: ms(best), parts: expect.closeTo(truth.wall ?? 0, 1.5) },
      ],
    ];
  },
  'the overview': async ({ client, ended, builds }) => {
    const browser = await signedInOperator(shared.url, shared.store, clock.millis);
    const { projects } = (await browser.get('/dashboard/projects')).json;
    const overview = projects.find(({ id }: any) => id === client.id);
    const truth = dayOf(ended.map(({ figures }) => figures));
    const saved = savedIn(ended);
    const figures = {
      ...{
        builds_today: truth.builds,
        incomplete_today: truth.incomplete,
        unplanned_today: truth.unplanned,
        with_failures_today: truth.with_failures,
        passed_today: truth.passed,
      },
      ...{ running: builds.length - ended.length, median_wall: ms(truth.median_wall), idle_share: ms(truth.idle_share) },
      ...{ builds_30_days: truth.builds - truth.incomplete - truth.unplanned, saved_30_days: ms(saved) },
    };
    return [
      [Object.fromEntries(Object.keys(figures).map(name => [name, overview[name]])), figures],
      [
        overview.recent.map(({ wall, floor, failed, missing }: any) => ({ wall, floor, failed, missing })),
        ended.map(({ figures: { wall, floor, failed, missing } }) => ({
          wall: ms(wall),
          floor: ms(floor),
          failed: failed?.length ?? null,
          missing: missing.size,
        })),
      ],
    ];
  },
  files: async ({ get, builds }) => filesSaid(await get('/v1/trends/files?limit=500'), builds),
  'the nodes over builds': async ({ get, ended, last }) => {
    const { nodes, builds } = await get('/v1/trends/nodes');
    // One earlier build with another number is as common, and older.
    const same = ended.filter(({ log }) => log.nodes === last.log.nodes && log.recorded.length > 0).map(({ figures }) => figures.ended);
    const lastBuilds = (node: number) => same.filter(([first, before]) => before && first!.node === node).length;
    return [
      [
        [builds.length, nodes.map((node: any) => node.last_builds)],
        [same.length, nodes.map((_: unknown, node: number) => lastBuilds(node))],
      ],
    ];
  },
  forecast: async ({ get, last: { id, log, figures }, builds }) => {
    if (log.mode === 'recordings') return [];
    const { wall, expected_end, makespan, lower_bound, unknown_files } = await get(`/v1/builds/${id}/forecast`);
    const isRunning = figures.state === 'running';
    const unknown = [...figures.estimates.values()].filter(estimate => estimate === null).length;
    const said = { wall, isExpected: expected_end !== null, isBound: makespan >= lower_bound, unknown_files };
    const truth = { wall: isRunning ? null : ms(figures.wall), isExpected: isRunning, isBound: true, unknown_files: unknown };
    if (!isRunning) return [[said, truth]];
    // It runs as the whole build before it did.
    const end = (Date.parse(expected_end.at) - figures.startedAt) / 1000;
    return [
      [said, truth],
      [
        [end, expected_end.earliest <= expected_end.at && expected_end.at <= expected_end.latest],
        [about(builds.at(-2)!.figures.wall, 0.05), true],
      ],
    ];
  },
};

const filesOf = ({ log, figures }: Pick<Compared, 'log' | 'figures'>) => log.planned.length || figures.seconds.size;

function filesSaid({ files, total, builds: count }: any, builds: readonly Compared[]): [unknown, unknown][] {
  const known = builds.filter(({ log }) => log.recorded.length > 0);
  const times = fileTimes(known.map(({ log }) => log));
  const decided = (path: string) =>
    known.filter(({ figures }) => figures.missing.size === 0 && figures.longestFile > leastDelay(figures) && figures.longest.path === path)
      .length;
  const said = files.map(({ path, median, last, builds, estimate, decided: told }: any) => {
    const [least, most] = [Math.min(...times.get(path)!.slice(-3)), Math.max(...times.get(path)!.slice(-3))];
    return { path, median, last, builds, isNear: estimate >= 0.9 * least && estimate <= 1.1 * most, hasDecided: told >= decided(path) };
  });
  const truth = Array.from(times, ([path, seconds]) => ({
    path,
    median: ms(middle(seconds)),
    last: ms(seconds.at(-1)!),
    builds: seconds.length,
    isNear: true,
    hasDecided: true,
  }));
  const byPath = (a: { path: string }, b: { path: string }) => (a.path < b.path ? -1 : 1);
  return [
    [said.sort(byPath), truth.sort(byPath)],
    [
      { builds: count, share: sumOf(files.map(({ share }: any) => share)), total },
      { builds: known.length, share: expect.closeTo(1, 2), total: expect.closeTo(sumOf(files.map(({ estimate }: any) => estimate)), 1) },
    ],
  ];
}

describe.each(Object.entries(SITUATIONS) as [string, Situation][])('%s', (_, situation) => {
  let played: Played;
  beforeAll(async () => {
    played = await playSituation(situation);
  });

  for (const [answer, of] of Object.entries(ANSWERS)) {
    it(`has ${answer} as its requests tell`, async () => {
      for (const [said, truth] of await of(played)) expect(said).toEqual(truth);
    });
  }
});

describe('a file that became slow in the last four of eight builds', () => {
  it('is ranked by its last times, and decided these builds', async () => {
    const client = await shared.project();
    const { files, nodes } = SITUATIONS['a whole build'];
    const slow = 'spec/file_020_spec.rb';
    const logs: Log[] = [];
    for (let i = 0; i < 8; i++) {
      logs.push(
        await playCiRun(client, clock, { mode: 'queue', commit_hash: `c${i}`, nodes, files: i < 4 ? files : { ...files, [slow]: 150 } }),
      );
      clock.advance({ seconds: 3600 });
    }
    await shared.summarize();
    const get = async (path: string) => (await client.get(path)).json;
    const builds = await compared(client, logs);
    for (const [said, truth] of filesSaid(await get('/v1/trends/files?limit=500'), builds)) expect(said).toEqual(truth);
    const [first] = (await get('/v1/trends/files')).files;
    const change = { commit_hash: 'c4', factor: expect.closeTo(150 / files[slow]!, 0) };
    expect(first).toMatchObject({ path: slow, median: (files[slow]! + 150) / 2, decided: 4, change });
    expect(await get(`/v1/trends/files/history?path=${slow}`)).toMatchObject({ changes: [change], decided: [{}, {}, {}, {}] });
  });
});

describe('ballast summary', () => {
  it('says what the page says', async () => {
    const { client, last } = await playSituation(SITUATIONS['a node that dies with its files']);
    const { stdout } = await runInProcess(['summary', last.id], { BALLAST_URL: client.url, BALLAST_TOKEN: client.token });
    const { wall, missing, estimates } = last.figures;
    const head = `### Tests: ${durationText(wall)} for ${estimates.size - missing.size} of ${estimates.size} test files`;
    // In Markdown, paths are marked.
    const verdict = last.minutes.verdict.replace(/(?<=missing \()\S+/, '`$&`');
    expect(stdout.split('\n').slice(0, 3)).toEqual([head, '', verdict]);
    const listed = [...stdout.matchAll(/^- `(.*)`$/gm)].map(([, path]) => path);
    expect(listed.sort()).toEqual([...missing.keys()].sort());
  });
});
