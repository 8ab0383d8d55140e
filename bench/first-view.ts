import { execFileSync } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Browser, type BrowserContext, chromium } from 'playwright-core';
import { chromiumPath } from '../scripts/chromium.js';
import { median } from '../src/planning/estimating/median.js';
import type { SeededFolders } from './load/seeded-folders.js';
import { MAIN, type Server, startServer } from './load/server.js';
import { printStep } from './progress.js';
import type { Result } from './results.js';

/** How soon the dashboard shows its lists, and whether it slows down as builds accumulate. */

export interface FirstViewOptions {
  builds: number;
  /** Number of builds on the server to compare with. */
  fewBuilds?: number;
  /** Visits of each page. */
  times: number;
}

/** What is shown when; the first page is a line of text, which no page can be faster than. */
const PAGES = [
  { name: 'a line of text', path: '/healthz', shown: 'body' },
  { name: 'projects', path: '/', shown: 'main a[href^="/p/"]' },
  { name: 'builds', path: '/p/default/builds', shown: 'main table tbody tr' },
];
const IDLE_MILLISECONDS = 200;
const head = ['page', 'browser cache', 'builds', 'first paint ms', 'shown ms', 'p90 ms', 'kB'];

export async function firstView({ builds, fewBuilds = 1000, times }: FirstViewOptions, seeds: SeededFolders): Promise<Result[]> {
  if (!chromiumPath) throw new Error('cannot measure pages: no Chromium is in PATH; "apt-get install chromium" installs it');
  const rows: string[][] = [];
  const browser = await chromium.launch({ executablePath: chromiumPath, chromiumSandbox: process.getuid!() !== 0 });
  try {
    for (const count of [fewBuilds, builds]) {
      const server = await startServer({ dataDir: await seeds.withBuilds(count) });
      try {
        printStep(`first-view: ${count} builds`);
        rows.push(...(await rowsOf(browser, server, count, times)));
      } finally {
        await server.stop();
      }
    }
  } finally {
    await browser.close();
  }
  const legend =
    `shown: from the start of the navigation to the frame that shows the first entry of the list, in Chromium without a graphics card, ${times} visits each. ` +
    'first paint: the first text. Empty cache: page, program and data are loaded over loopback. kB: what is transferred.';
  return [{ title: 'First view', head, rows, legend }];
}

async function rowsOf(browser: Browser, server: Server, count: number, times: number): Promise<string[][]> {
  const signedIn = await signIn(browser, server);
  const state = await signedIn.storageState();
  const rows: string[][] = [];
  for (const page of PAGES) {
    // The first visit starts what runs once.
    await visit(signedIn, server.url, page);
    for (const cache of ['empty', 'full'] as const) {
      const visits: Visit[] = [];
      for (let i = 0; i < times; i++) {
        const context = cache === 'full' ? signedIn : await browser.newContext({ storageState: state });
        visits.push(await visit(context, server.url, page));
        if (cache === 'empty') await context.close();
      }
      const shown = visits.map(each => each.shown).sort((a, b) => a - b);
      const cells = [
        median(visits.map(each => each.painted)),
        median(shown),
        shown[Math.floor(0.9 * times)]!,
        median(visits.map(each => each.kB)),
      ];
      rows.push([page.name, cache, String(count), ...cells.map(cell => cell.toFixed(0))]);
    }
  }
  await signedIn.close();
  return rows;
}

async function signIn(browser: Browser, { dataDir, url }: Server): Promise<BrowserContext> {
  const link = execFileSync(process.execPath, [MAIN, 'dashboard', 'link', '--data-dir', dataDir, '--public-url', url], {
    encoding: 'utf8',
  });
  const context = await browser.newContext();
  const tab = await context.newPage();
  await tab.goto(link.trim());
  await tab.getByRole('navigation', { name: 'Ballast' }).waitFor();
  await tab.close();
  return context;
}

/** Milliseconds since the start of the navigation, and thousands of bytes. */
interface Visit {
  shown: number;
  painted: number;
  kB: number;
}

async function visit(context: BrowserContext, url: string, { path, shown }: (typeof PAGES)[number]): Promise<Visit> {
  const tab = await context.newPage();
  const times: Record<string, number> = {};
  let allKnown = () => {};
  const known = new Promise<void>(resolve => (allKnown = resolve));
  await tab.exposeFunction('report', (name: 'shown' | 'painted', milliseconds: number) => {
    times[name] = milliseconds;
    if (times.shown !== undefined && times.painted !== undefined) allKnown();
  });
  await tab.addInitScript(`
    new PerformanceObserver(list => {
      for (const { name, startTime } of list.getEntries()) if (name === 'first-contentful-paint') report('painted', startTime);
    }).observe({ type: 'paint', buffered: true });
    new MutationObserver((_, observer) => {
      if (!document.querySelector(${JSON.stringify(shown)})) return;
      observer.disconnect();
      requestAnimationFrame(() => setTimeout(() => report('shown', performance.now())));
    }).observe(document, { childList: true, subtree: true });`);
  // A browser that has just opened a tab is still busy with it.
  await sleep(IDLE_MILLISECONDS);
  await tab.goto(url + path);
  await known;
  const bytes = (await tab.evaluate('performance.getEntries().reduce((sum, { transferSize = 0 }) => sum + transferSize, 0)')) as number;
  await tab.close();
  return { shown: times.shown!, painted: times.painted!, kB: bytes / 1000 };
}
