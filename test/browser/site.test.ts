import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeSite } from '../../scripts/site/make-site.js';
import { recordDemo } from '../../scripts/site/recording.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { expectAccessible, loadAxe } from './accessibility.js';
import { demoProject, demoServer } from './demo-project.js';
import { operatorLink, type Served } from './operator.js';
import { openTab } from './tab.js';

const server = demoServer();
const other = demoServer();

const DEMO = { days: 1, isExact: true, called: 'e2e' };

describe('the site, from its folder', () => {
  let folder: string;
  let start: string;
  let build: string;
  let remove = () => {};
  let recorded: Awaited<ReturnType<typeof recordDemo>>;
  const record = async ({ url, store }: Served) => recordDemo({ url, link: await operatorLink({ url, store }) });
  beforeAll(async () => {
    folder = temporaryFolder(end => (remove = end));
    const project = await demoProject(server, DEMO);
    recorded = await record(server);
    start = `/p/${project.name}`;
    build = start + /\/builds\/[\w-]+/.exec(recorded.find(([key]) => key.endsWith('/comparison'))![0])![0];
    await makeSite(folder, recorded, server.now);
  });
  afterAll(() => remove());

  const address = (path: string) => pathToFileURL(join(folder, path)).href.replace('%23', '#').replaceAll('%3F', '?');
  const demo = (path: string) => address(`demo/index.html#${path}`);

  /** Opens a tab. Its requests that are not for files of the site are noted. */
  async function openSite(): Promise<{ tab: Page; foreign: string[] }> {
    const tab = await openTab({ isOther: true });
    const foreign: string[] = [];
    tab.on('request', request => {
      if (!request.url().startsWith(`${pathToFileURL(folder).href}/`)) foreign.push(request.url());
    });
    tab.on('requestfailed', request => {
      // A page that is left ends its requests.
      if (request.failure()?.errorText !== 'net::ERR_ABORTED') foreign.push(request.url());
    });
    return { tab, foreign };
  }

  it('is the same each time', async () => {
    await demoProject(other, DEMO);
    const again = new Map(await record(other));
    const differing = recorded.filter(([key, answer]) => JSON.stringify(again.get(key)) !== JSON.stringify(answer));
    expect(differing.map(([key]) => key)).toEqual([]);
    expect(again.size).toBe(recorded.length);
  });

  it('has no link that leads nowhere between its guides, and none to a server', () => {
    const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter(name => name.endsWith('.html'));
    expect(pages.length).toBeGreaterThan(30);
    const dead = pages.flatMap(page => {
      const links = [...readFileSync(join(folder, page), 'utf8').matchAll(/ (?:href|src)="([^"]+)"/g)].map(([, link]) => link!);
      return links.filter(link => !/^https?:/.test(link) && !leads(page, link)).map(link => `${page}: ${link}`);
    });
    expect(dead).toEqual([]);
  });

  /** Reports whether the file of a link is there, and has its anchor. */
  function leads(page: string, link: string): boolean {
    const [path, anchor] = link.split('#') as [string, string?];
    const file = path === '' ? join(folder, page) : resolve(folder, dirname(page), path);
    if (!existsSync(file)) return false;
    return anchor === undefined || anchor.startsWith('/') || readFileSync(file, 'utf8').includes(` id="${anchor}"`);
  }

  it.each([
    ['fallback', 'ready-made'],
    ['webhook', 'webhooks'],
    ['pieces', 'pieces'],
    ['Kubernetes', 'kubernetes'],
    ['backup', 'backups'],
    ['flaky', 'flaky-files'],
    ['receipt', 'proof'],
    ['knapsack', 'migration'],
    ['fork', 'forks'],
    ['coverage', 'coverage'],
    ['upgrade', 'upgrading'],
    ['retry', 'clients'],
  ])('finds "%s" in its guides', async (word, guide) => {
    const tab = await openTab();
    await tab.goto(address('docs/api.html'));
    await tab.getByRole('searchbox').fill(word);
    const first = tab.locator('.found a').first();
    await expect.poll(() => first.getAttribute('href')).toMatch(new RegExp(`^${guide}\\.html`));
    await first.click();
    await tab.locator('article').waitFor();
    expect(fileURLToPath(tab.url().split('#')[0]!)).toBe(join(folder, 'docs', `${guide}.html`));
  });

  it('shows every page to which a link of the demo leads, with its data', async () => {
    const { tab, foreign } = await openSite();
    await tab.goto(demo('/'));
    const seen = new Set<string>();
    const waiting = ['#/'];
    while (waiting.length > 0) {
      const link = waiting.pop()!;
      if (seen.has(kindOf(link))) continue;
      seen.add(kindOf(link));
      const links = await linksOf(tab, link);
      waiting.push(...links.filter(link => link.startsWith('#/') && !isBesideMain(link)));
    }
    expect(seen.size).toBeGreaterThan(60);
    expect(foreign).toEqual([]);
  });

  /** Of a branch beside the default one, the site has its builds, one list of its files, and those files that a build names. */
  const isBesideMain = (link: string) => /files(\/file)?\?.*branch=(?!main)/.test(link) || /tab=files.*file=/.test(link);

  /** Pages of builds and files differ by these parts of their addresses; other choices show the same answers. */
  const kindOf = (link: string) =>
    link.replace(/([?&](?:part|node|sort|q|order|nodes)=[^&]*)+/g, '').replace(/(builds\/.*[?&]file=)[^&]*/, '$1');

  /** Shows an address of the demo as a click on it does. Returns the links of the page. */
  async function linksOf(tab: Page, link: string): Promise<string[]> {
    await tab.evaluate(`location.hash = ${JSON.stringify(link)}`);
    await tab.locator('main h1, [role=alert]').first().waitFor();
    await tab.getByRole('progressbar').waitFor({ state: 'detached' });
    expect.soft(await tab.getByRole('alert').allInnerTexts(), link).toEqual([]);
    return tab.locator('a[href]').evaluateAll(links => links.map(link => link.getAttribute('href')!));
  }

  it('has no accessibility problem in light and dark colours, and fits windows from 320 pixels on', async () => {
    const { tab, foreign } = await openSite();
    await loadAxe(tab);
    const pages = [address('index.html'), address('docs/pieces.html'), ...['/', `${start}/files`, build].map(demo)];
    for (const page of pages) {
      await expectAccessible(tab, page, async (tab, page) => {
        await tab.goto(page);
        await tab.reload();
        await tab.locator('main h1').first().waitFor();
      });
    }
    expect(foreign).toEqual([]);
  }, 120_000);

  it('goes back and forward, stands still in time, and says that nothing can be changed or was not recorded', async () => {
    const { tab } = await openSite();
    await tab.goto(demo('/'));
    await tab.getByRole('link', { name: start.slice(3) }).click();
    await tab.getByRole('link', { name: 'Nodes' }).click();
    await tab.getByRole('heading', { level: 1 }).waitFor();
    await tab.goBack();
    await expect.poll(() => tab.title()).toContain('Builds');
    await tab.goForward();
    await expect.poll(() => tab.title()).toContain('Nodes');
    expect(await tab.getByRole('complementary').innerText()).toMatch(/^This is a recording: .* on 2026-01-15/);
    await tab.getByLabel('Branch').fill('never-built');
    await tab.getByLabel('Branch').press('Enter');
    await tab.getByText('this demo is a recording, which has no answer to that').waitFor();
    await expect.poll(() => tab.getByRole('button', { name: 'Sign out' }).count()).toBe(0);
  });
});
