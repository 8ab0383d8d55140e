import type { Locator, Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { rateTexts } from '../../src/dashboard/pages/flaky/sentences.js';
import { changeSettings } from '../../src/server/engine/access.js';
import { Clock } from '../harness/clock.js';
import { buildKey, manyPaths, record, startSplit } from '../harness/messages.js';
import { SharedServer } from '../harness/server.js';
import { expectAccessible, loadAxe } from './accessibility.js';
import { type BrowsedProject, emptyProject } from './demo-project.js';
import { openAsOperator, show } from './operator.js';

const clock = new Clock();
const server = new SharedServer({}, { now: clock.now });
const SUITE = manyPaths(60);
const [A, B, C, D, E] = SUITE as [string, string, string, string, string];
const LONG_CASE = `logs in ${'very '.repeat(30)}often ${'x'.repeat(200)}`;
const DAY = 86_400_000;
/** So many files that fail together say nothing about themselves. */
const OUTAGE = 5;

/** A CI run as its requests were sent. */
interface CiRun {
  at: number;
  commit: string;
  outcomes: Record<string, string>;
}

let ciRuns: CiRun[] = [];

/** Sends the requests of a CI run of one node, which takes two seconds for each of 60 files. */
async function play({ client }: BrowsedProject, commit: string, outcomes: Record<string, string> = {}, tells_outcomes = true) {
  const build = { commit_hash: commit, node_total: 1, ci_build_id: String(ciRuns.length) };
  ciRuns.push({ at: clock.millis, commit, outcomes });
  await startSplit(client, SUITE, { ...build, fixed_test_suite_split: false, tree: 'a'.repeat(40), proof_keys: [] });
  await server.service.nodesNoted();
  clock.advance({ seconds: 120 });
  const test_files = SUITE.map(path => ({ path, time_execution: 2, ...(outcomes[path] && { outcome: outcomes[path] }) }));
  await record(client, { ...build, tells_outcomes, test_files });
}

/** Builds of which all files pass, on a new day. */
async function day(project: BrowsedProject, builds: number): Promise<void> {
  clock.millis = DAY * (Math.floor(clock.millis / DAY) + 1);
  for (let i = 0; i < builds; i++) await play(project, `green ${ciRuns.length}`);
}

const dayOf = (at: number) => Math.floor(at / DAY);

/** What the requests say of a file at a time: the interval is where the deviation of 90 % reaches what was seen. */
function rateOf(path: string, now: number) {
  const weight = (at: number) => (at > now ? 0 : 0.5 ** ((now - at) / (14 * DAY)));
  const builds = [...new Map(ciRuns.map(run => [run.commit, run])).values()];
  const tells = (run: CiRun) => run.outcomes[path] && Object.keys(run.outcomes).length < OUTAGE;
  const flakes = builds.filter(({ commit }) => ciRuns.some(run => run.commit === commit && tells(run)));
  const x = flakes.reduce((sum, { at }) => sum + weight(at), 0);
  const n = builds.reduce((sum, { at }) => sum + weight(DAY * dayOf(at)), 0);
  const edge = (inside: number, outside: number) => {
    let [near, far] = [inside, outside];
    for (let i = 0; i < 50; i++) {
      const p = (near + far) / 2;
      if (Math.abs(x / n - p) < 1.6449 * Math.sqrt((p * (1 - p)) / n)) near = p;
      else far = p;
    }
    return near;
  };
  return { rate: (x + 0.5) / (n + 1), low: edge(x / n, 0), high: edge(x / n, 1), last: flakes.at(-1)!.at };
}

const rateText = (path: string) => Object.values(rateTexts(rateOf(path, clock.millis))).join(' ');

/** How many builds of later days had no flake, and how many are needed. */
function cleanText(path: string): string {
  const { last } = rateOf(path, clock.millis);
  const clean = ciRuns.filter(({ at }) => dayOf(at) > dayOf(last)).length;
  return `clean ${clean} of ${Math.ceil(3 / rateOf(path, last).rate)}`;
}

/** Expression: the canvas has the colour of files that failed, in light colours. */
const HAS_FAILED = `(() => {
  const canvas = document.querySelector('.timeline canvas');
  const { data } = canvas?.width ? canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height) : { data: [] };
  return data.some((red, i) => i % 4 === 0 && red === 213 && data[i + 1] === 94 && data[i + 2] === 0);
})()`;

const plain = (text: string) => text.replace(/[\n\t\u00a0]+/g, ' ').trim();
/** The cells of a table, by row. A folded table is made some time after the click that opens it. */
async function cellsOf(table: Locator) {
  const rows = table.locator('tbody tr');
  await rows.first().waitFor();
  return Promise.all((await rows.all()).map(async row => (await row.locator('td').allTextContents()).map(plain)));
}
const flakyFiles = (tab: Page) => tab.locator('section[aria-label="Flaky files"]');
const titlesOf = (tab: Page) => flakyFiles(tab).locator('th').allTextContents();
const open = (path: string) => openAsOperator({ url: server.url, store: server.store, now: clock.millis }, path, { isOther: true });

describe('the page of flaky files', () => {
  let project: BrowsedProject;
  beforeAll(async () => {
    ciRuns = [];
    project = await emptyProject(server);
    await changeSettings(server.store.access, project.id, { price: '0.008 USD' });
    await day(project, 4);
    await play(project, 'early', { [A]: 'flaky' });
    await day(project, 4);
    await play(project, 'again', { [B]: 'failed', [C]: 'failed' });
    const cases = [
      { name: LONG_CASE, seconds: 1, outcome: 'failed' },
      { name: 'logs out', seconds: 1, outcome: 'failed' },
    ];
    const node = { ...buildKey, commit_hash: 'again', node_total: 1, node_index: 0, ci_build_id: String(ciRuns.length - 1) };
    await project.client.post('/v2/test_cases', { ...node, files: [{ path: B, seconds: 2, cases }] });
    clock.advance({ seconds: 480 });
    await play(project, 'again');
    await day(project, 8);
    await play(project, 'both', { [C]: 'flaky', [D]: 'flaky' });
    await play(project, 'node', Object.fromEntries(SUITE.slice(20, 25).map(path => [path, 'failed'])));
    await play(project, 'all', Object.fromEntries(SUITE.map(path => [path, 'failed'])));
    await play(project, 'broken1', { [E]: 'failed' });
    await play(project, 'broken2', { [E]: 'failed' });
    await server.service.summarize();
  }, 60_000);

  it('has the figures that its requests say', async () => {
    const tab = await open('/docs');
    await show(tab, `/p/${project.name}/flaky`);
    expect(await tab.title()).toBe(`Flaky · ${project.name} · Ballast`);
    // The second CI run of 120 seconds was needed for two files, and ended 10 minutes later.
    expect(plain(await tab.locator('.first-line').innerText())).toMatch(
      /^3 test files are flaky: they cost 2 node-minutes \(\$0\.016\) and made builds end 10 m 00 s later since 2026-01-02\. 1 test file fails at the last commits of the default branch\. 1 test file has healed\. /,
    );
    expect(await titlesOf(tab)).toEqual(['File', 'State', 'Rate', 'Ran again', 'Cost', 'Later', 'Nodes', 'Last build']);
    const price = ['60 s', '$0.008', '5 m 00 s', '0'];
    const none = ['–', '–', '–'];
    const when = expect.stringMatching(/^\d+ m ago$|^2026-01-0\d$/) as string;
    expect(await cellsOf(flakyFiles(tab))).toEqual([
      [C, 'flaky', rateText(C), ...price, when],
      [`${B}${LONG_CASE} and 1 more`, `healing, ${cleanText(B)}`, rateText(B), ...price, when],
      [D, 'suspected', rateText(D), ...none, '0', when],
      [E, 'failing since broken1', '–', ...none, '', when],
      [A, 'healed', rateText(A), ...none, '0', when],
    ]);
    const outages = tab.locator('section', { has: tab.getByRole('heading', { name: '2 outages' }) });
    expect((await outages.locator('li').allTextContents()).map(plain)).toEqual([
      expect.stringMatching(/^60 files failed together in all of main, \d+ m ago$/),
      expect.stringMatching(/^5 files failed on node 0 in node of main, \d+ m ago$/),
    ]);
  });

  it('has what they cost on the page Trends, whatever branch it shows', async () => {
    for (const query of ['', '?all=1', '?branch=other', '?days=90']) {
      const tab = await open('/docs');
      await show(tab, `/p/${project.name}/trends${query}`);
      const days = query.includes('days') ? 90 : 30;
      expect(plain(await tab.locator('.first-line').innerText())).toContain(
        `Flaky files cost 2 node-minutes and made builds end 10 m 00 s later in the last ${days} days, on all branches.`,
      );
    }
  });

  it('leads to the files, to their builds, and from Files', async () => {
    const tab = await open(`/p/${project.name}/files`);
    await tab.getByRole('navigation', { name: 'Lists of files' }).getByRole('link', { name: 'Flaky' }).click();
    await tab.getByRole('button', { name: 'Rate' }).click();
    const rates = [A, B, C, D].sort((a, b) => rateOf(b, clock.millis).rate - rateOf(a, clock.millis).rate);
    await expect.poll(async () => (await cellsOf(flakyFiles(tab)))[0]![0]).toBe(rates[0]);
    await tab.getByRole('link', { name: C }).click();
    await tab.getByRole('heading', { name: 'takes 2.0 s' }).waitFor();
    await tab.goBack();
    await tab.locator('tr', { hasText: C }).getByRole('link').last().click();
    await expect.poll(() => tab.title()).toContain('both');
  });

  it('has no accessibility problem, and fits windows from 320 pixels on', async () => {
    const tab = await open('/docs');
    await loadAxe(tab);
    await expectAccessible(tab, `/p/${project.name}/flaky`);
  }, 60_000);

  it('is about files that the page of their build marks, with a shape and with words', async () => {
    const { commit, outcomes } = ciRuns.find(run => run.commit === 'both')!;
    const [build] = (await project.client.get(`/v1/builds?commit_hash=${commit}`)).json.data as { id: string }[];
    const tab = await open('/docs');
    await show(tab, `/p/${project.name}/builds/${build!.id}?q=flaky:`);
    expect(await tab.locator('.legend li').allTextContents()).toContain('flaky: failed, and passed when it ran again');
    await expect.poll(() => tab.evaluate(HAS_FAILED)).toBe(true);
    await tab.getByText('The timeline as a table').click();
    const cells = await cellsOf(tab.getByRole('region', { name: 'The timeline as a table' }));
    expect(cells.map(row => [row.find(cell => SUITE.includes(cell)), row.at(-1)]).sort()).toEqual(Object.entries(outcomes).sort());
    await show(tab, `/p/${project.name}/builds/${build!.id}?file=${C}`);
    await tab.getByRole('dialog').getByText(', flaky').waitFor();
  });

  it('is about files whose pages say in which builds they failed, and in which of these they passed again', async () => {
    const tab = await open('/docs');
    const commits = [...new Set(ciRuns.map(({ commit }) => commit))];
    for (const path of [A, C, E]) {
      const results = commits.map(commit => {
        const ended = new Set(ciRuns.filter(run => run.commit === commit).map(({ outcomes }) => outcomes[path] ?? 'passed'));
        return ended.has('flaky') || ended.size > 1 ? '△ flaky' : ended.has('failed') ? '✕ failed' : 'passed';
      });
      const failed = results.filter(result => result !== 'passed').length;
      const flaky = results.filter(result => result === '△ flaky').length;
      const again = flaky > 0 ? ` In ${flaky} of these it passed when it ran again. All flaky files` : '';
      const last = commits[results.findLastIndex(result => result !== 'passed')];
      await show(tab, `/p/${project.name}/files/file?path=${path}`);
      expect(plain(await tab.locator('.first-line .rest:has(a)').innerText())).toBe(
        `It failed in ${failed} of the last ${commits.length} builds of main that tell its result, the last time in ${last}.${again}`,
      );
      await tab.getByText(`All ${commits.length} times as a table`).click();
      const said = await cellsOf(tab.getByRole('region', { name: 'Times' }));
      expect(said.map(([build, , result]) => [build, result])).toEqual(
        commits.map((commit, i) => [commit.slice(0, 8), results[i]]).reverse(),
      );
    }
    await loadAxe(tab);
    await expectAccessible(tab, `/p/${project.name}/files/file?path=${C}`);
    await tab.getByRole('link', { name: 'All flaky files' }).click();
    await expect.poll(() => tab.title()).toBe(`Flaky · ${project.name} · Ballast`);
  }, 60_000);

  it('says that nobody told what failed, and that nothing is flaky', async () => {
    const silent = await emptyProject(server);
    const said = async () => {
      const tab = await open('/docs');
      await show(tab, `/p/${silent.name}/flaky`);
      expect(await tab.locator('main table').count()).toBe(0);
      return tab.locator('main h1').innerText();
    };
    await play(silent, 'v1', {}, false);
    expect(await said()).toBe('No client told which test files failed, so none is known to be flaky.');
    await play(silent, 'v2');
    await server.service.summarize();
    expect(await said()).toBe('No flaky test file is known.');
  });
});
