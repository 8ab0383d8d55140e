import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { progressText } from '../../src/dashboard/pages/build/progress.js';
import { count, duration, percent } from '../../src/dashboard/text/format.js';
import { PART_TITLES } from '../../src/protocol/answers/minutes.js';
import { Clock } from '../harness/clock.js';
import { SharedServer } from '../harness/server.js';
import { type Log, playCiRun } from '../recomputed/ci-runs.js';
import { dayOf, type Figures, fileTimes, isPartial, middle, toMillis } from '../recomputed/recompute.js';
import { contradictions, leastDelay } from '../recomputed/sentences.js';
import { type Compared, compared, play, SITUATIONS, type Situation } from '../recomputed/situations.js';
import { type BrowsedProject, emptyProject } from './demo-project.js';
import { openAsOperator, show } from './operator.js';

const clock = new Clock();
const shared = new SharedServer({}, { now: clock.now });

const SHOWN = [
  'a whole build',
  'a node that dies with its files',
  'a node that restarts at once',
  'a node that dies and one that never comes',
  'recordings of a part of the nodes',
  'a build that is cancelled when a node has ended',
  'one node',
  'one file',
  '200 nodes',
  'a slow node',
  'failures',
  'a split with a node that dies',
  'a long file',
  'a build that runs',
] as const satisfies (keyof typeof SITUATIONS)[];

const SHAPES = { complete: '✓', recorded: '○', failed: '✕', missing: '▲', partial: '?', unplanned: '?', running: '◌' };
const statusOf = ({ state, missing, failed }: Figures) =>
  SHAPES[state] + (state === 'missing' ? `${missing.size} missing` : state === 'failed' ? `${failed!.length} failed` : state);

/** The texts of all elements that a selector finds. */
const texts = (tab: Page, selector: string): Promise<string[]> =>
  tab.evaluate(
    `Array.from(document.querySelectorAll(${JSON.stringify(selector)}), each => each.textContent.replace(/[ \\n\u00a0]+/g, ' ').trim())`,
  );

/** The rows of a table, as texts by the titles of its columns. */
async function rows(tab: Page, label: string): Promise<Record<string, string>[]> {
  const table = `section.table[aria-label="${label}"]`;
  const titles = await texts(tab, `${table} thead th`);
  const cells = await texts(tab, `${table} tbody tr:not(.spacer) td`);
  const of = (row: number) => Object.fromEntries(titles.map((title, i) => [title, cells[row * titles.length + i]!]));
  return Array.from({ length: cells.length / titles.length }, (_, row) => of(row));
}

function headOf({ log, figures }: Compared) {
  const { wall, floor, state, missing, nodes } = figures;
  const lost = wall - floor;
  if (state === 'running') return expect.stringMatching(`^${duration(wall)} so far, should end at \\d\\d:\\d\\d$`);
  if (missing.size > 0) return `${duration(wall)} for ${log.planned.length - missing.size} of ${count(log.planned.length, 'file')}`;
  if (isPartial(figures)) return `${duration(wall)} on ${nodes.filter(({ hasRecorded }) => hasRecorded).length} of ${nodes.length} nodes`;
  return `${duration(wall)} ${duration(floor)} was possible${lost >= 0.0005 ? `, ${duration(lost)} was lost` : ''}`;
}

/** As the answers have it, in whole milliseconds. */
const text = (seconds: number | null) => duration(seconds === null ? null : toMillis(seconds));
const stateOf = (tookNone: boolean, hasRecorded: boolean, repeats: number) =>
  tookNone ? 'took no files' : !hasRecorded ? 'not recorded' : repeats > 0 ? 'ran files again' : 'recorded';
const nodeRows = ({ nodes, isQueue, state }: Figures) =>
  nodes.map(({ start, end, busy, repeats, idle, hasRecorded }, node) => ({
    Node: `node ${node}`,
    State: stateOf(start === null && isQueue, hasRecorded, repeats) + (state === 'running' && !hasRecorded ? ' yet' : ''),
    ...{
      Started: text(start),
      // A column that is empty is not shown.
      ...(state !== 'running' && { Ended: text(end) }),
      Tests: text(busy),
      Idle: text(idle),
      Repeats: text(repeats),
    },
  }));

describe('what the pages say of builds', () => {
  let project: BrowsedProject;
  let builds: Compared[];
  let ended: Compared[];
  let tab: Page;
  beforeAll(async () => {
    project = await emptyProject(shared);
    const logs: Log[] = [];
    for (const name of SHOWN) {
      const situation: Situation = { ...SITUATIONS[name], before: logs.length === 0 || name === '200 nodes' ? 1 : 0 };
      logs.push(...(await play(project.client, { server: shared, clock }, situation, name)));
    }
    builds = await compared(project.client, logs, clock.millis);
    ended = builds.filter(({ figures }) => figures.state !== 'running');
    tab = await openAsOperator({ url: shared.url, store: shared.store, now: clock.millis }, '/docs', {}, close => closing.push(close));
  });
  const open = (path: string) => show(tab, path);
  const closing: (() => Promise<void>)[] = [];
  afterAll(() => Promise.all(closing.map(close => close())));

  it.each(SHOWN)('says of %s what its requests tell', async name => {
    const build = builds.find(({ log }) => log.commit_hash === name)!;
    const { id, figures, minutes, log } = build;
    await open(`/p/${project.name}/builds/${id}?tab=nodes`);
    const verdict = (await texts(tab, '.verdict'))[0]!;
    const progress = progressText(minutes);
    expect([verdict, contradictions(verdict.replace(progress.replaceAll('\u202f', ' '), '').trim(), figures, minutes)]).toEqual([
      (minutes.is_running ? `${progress} ${minutes.verdict}` : `${minutes.verdict} ${progress}`).trim(),
      [],
    ]);
    expect(progress.endsWith(' ran.')).toBe(log.mode !== 'recordings' && figures.missing.size === 0 && !minutes.is_running);
    expect((await texts(tab, '.build-line .status'))[0]).toBe(statusOf(figures));
    await expect.poll(async () => (await texts(tab, 'main h1'))[0]).toEqual(headOf(build));
    const marks = [
      ...(figures.missing.size > 0 && figures.state !== 'running' ? [`▲ ${figures.missing.size}`] : []),
      ...(figures.failed?.length ? [`✕ ${figures.failed.length}`] : []),
    ];
    expect(await texts(tab, '.tab-row a')).toContain(['Completeness', ...marks].join(' '));
    const said = await rows(tab, 'Nodes');
    // A long table has only the rows in the window.
    expect(said).toMatchObject(nodeRows(figures).slice(0, Math.max(20, said.length)));
    if (figures.state !== 'running') {
      const parts = (await texts(tab, '.minutes dd')).map(text => /^[=+] (.*?) (\d.*)$/.exec(text)!.slice(1));
      const floor = { [PART_TITLES.even_share]: figures.evenShare, [PART_TITLES.longest_file]: figures.longestFile };
      for (const [part, seconds] of Object.entries(floor))
        expect(Object.fromEntries(parts)[part] ?? '0 s').toBe(seconds < 0.0005 ? '0 s' : text(seconds));
      const about = await tab.evaluate('Array.from(document.querySelectorAll(".minutes dt, .minutes a"), each => each.title.length > 20)');
      expect(about).not.toContain(false);
      const lost = figures.wall - figures.floor;
      expect(await texts(tab, '.minutes dt')).toEqual([`floor ${text(figures.floor)}`, ...(lost < 0.0005 ? [] : [`lost ${text(lost)}`])]);
    }
    await tab.getByRole('link', { name: /^Completeness/ }).click();
    await tab.locator('.completeness').waitFor();
    const ran = log.planned.length - figures.missing.size;
    const gate =
      log.mode === 'recordings'
        ? `${figures.seconds.size} files were recorded. The build had no queue or split, so Ballast does not know whether other files should have run.`
        : figures.missing.size > 0 && figures.state !== 'running'
          ? `${figures.missing.size} of ${count(log.planned.length, 'file')} ${figures.missing.size === 1 ? 'is' : 'are'} missing.`
          : figures.state === 'running'
            ? `${ran} of ${count(log.planned.length, 'file')} are recorded so far.`
            : `${count(log.planned.length, 'file')}, none missing.`;
    const failed = figures.failed ?? [];
    const heads = [...(failed.length > 0 ? [`${count(failed.length, 'file')} failed.`] : []), gate];
    await expect.poll(async () => (await texts(tab, '.completeness h2')).slice(0, heads.length)).toEqual(heads);
    const isVerified = log.mode !== 'recordings' && figures.state !== 'running';
    const verified = figures.missing.size > 0 ? /^ballast verify fails:$/ : /^ballast verify passes: it asks whether every file ran/;
    const lastSaid = async () => (await texts(tab, '.completeness > h2, .completeness > p')).at(-1);
    if (isVerified) await expect.poll(lastSaid).toMatch(verified);
    else expect(await texts(tab, '.completeness h2')).toHaveLength(heads.length);
    const missing = figures.state === 'running' ? [] : [...figures.missing];
    const handedTo = missing.map(([File, node]) => ({ File, 'Handed to': node === null ? 'no node' : `node ${node}` }));
    const byFile = (a: Record<string, string>, b: Record<string, string>) => (a.File! < b.File! ? -1 : 1);
    expect((await rows(tab, 'Missing files')).sort(byFile)).toEqual(handedTo.sort(byFile));
  });

  it('lists them with the same figures', async () => {
    await open(`/p/${project.name}/builds`);
    const said = await rows(tab, 'Builds');
    expect(said).toHaveLength(builds.length);
    expect((await texts(tab, '.first-line'))[0]).toContain(`${builds.length - 1} builds, 1 running`);
    for (const { log, figures, row } of ended) {
      const { wall, idleShare, missing } = figures;
      const own = said[builds.length - 1 - builds.findIndex(each => each.log === log)]!;
      const Saved = missing.size > 0 || log.mode === 'recordings' ? '–' : duration(row.summary.saved);
      expect(own).toMatchObject({
        Status: statusOf(figures),
        Nodes: String(log.nodes),
        'Wall time': duration(wall),
        Idle: percent(idleShare),
        Saved,
      });
    }
  });

  it('sums them up on the home page', async () => {
    await open('/');
    const { builds: today, incomplete, unplanned, median_wall, idle_share } = dayOf(ended.map(({ figures }) => figures));
    expect((await texts(tab, 'main h1'))[0]).toContain(`${today} builds today, ${incomplete} incomplete (${project.name})`);
    const mine = `.projects li:has(a[href="/p/${project.name}/builds"])`;
    expect((await texts(tab, `${mine} h2 span.small`))[0]).toBe(`▲ ${incomplete} incomplete today`);
    const isCounted = ({ figures: { missing, isPlanned } }: (typeof ended)[number]) => missing.size === 0 && isPlanned;
    const saved = ended.filter(isCounted).reduce((sum, { row }) => sum + row.summary.saved, 0);
    expect(await texts(tab, `${mine} .figures dd`)).toEqual([
      expect.stringMatching(`^${today} .*\\b1 running$`),
      duration(median_wall),
      percent(idle_share),
      `${duration(saved)} in ${count(today - incomplete - unplanned, 'complete build')}`,
    ]);
  });

  it('ranks their files', async () => {
    await open(`/p/${project.name}/files?sort=estimate`);
    const known = ended.filter(({ log }) => log.recorded.length > 0);
    const times = fileTimes(known.map(({ log }) => log));
    const said = (await rows(tab, 'Files')).filter(({ Median }) => Median !== '');
    expect(said.length).toBeGreaterThan(20);
    for (const { File, Median } of said)
      expect([File, Median!.replace(/^[▲▼].*× /, '')]).toEqual([File, duration(middle(times.get(File!)!))]);
    const decided = known.filter(({ figures }) => figures.missing.size === 0 && figures.longestFile > leastDelay(figures));
    const [rest] = await texts(tab, 'main .rest');
    const told = /made (\d+)/.exec(rest!)?.[1];
    // Of a single file another sentence says so.
    if (told === undefined) expect(new Set(decided.map(({ figures }) => figures.longest.path)).size).toBe(1);
    else expect(Number(told)).toBeGreaterThanOrEqual(Math.floor((100 * decided.length) / known.length));
  });

  it('says of a build that runs how many files are reported, and links those that failed', async () => {
    const files = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map(name => [`${name}_spec.rb`, 5]));
    const plan = { mode: 'reports' as const, commit_hash: 'reporting', files, nodes: [{}, {}] };
    await playCiRun(project.client, clock, { ...plan, fails: Object.keys(files), until: 8 });
    const { builds } = (await project.client.get('/v1/build_summaries?limit=1')).json;
    await open(`/p/${project.name}/builds/${builds[0].ci_run_id}`);
    expect((await texts(tab, '.verdict'))[0]).toMatch(
      /^\d of 6 files are handed out, 2 reported\. 2 test files failed: .* The build is running: /,
    );
    await tab.locator('.build-line').getByRole('link', { name: '2 failed' }).click();
    await tab.getByRole('heading', { name: '2 files failed.' }).waitFor();
  });
});
