import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import { type Browser, chromium } from 'playwright-core';
import type { BuildLine, BuildLines } from '../src/protocol/answers/trends.js';
import { chromiumPath } from './chromium.js';
import type { Demo } from './demo/open-demo.js';
import { openStoppedDemo, STOPPED_AT } from './demo/stopped-demo.js';

/** Makes the pictures of the guide of the dashboard from the demo, at a fixed time. */

const DAYS = 62;
const IMAGES = fileURLToPath(new URL('../../src/docs/images', import.meta.url));

interface Shot {
  name: string;
  width: number;
  height: number;
  isDark?: true;
  path: (build: string) => string;
  /** Element that is there when the page is complete. */
  ready: string;
}

const WEB = '/p/web-rspec';
const buildPage = (build: string) => `${WEB}/builds/${build}`;
const filePage = () => `${WEB}/files/file?path=spec%2Ffeatures%2Fcheckout_spec.rb`;
const shots: Shot[] = [
  { name: 'build', width: 1280, height: 860, path: buildPage, ready: '.timeline canvas' },
  { name: 'build-phone', width: 390, height: 844, path: buildPage, ready: '.timeline canvas' },
  { name: 'file-dark', width: 1280, height: 720, isDark: true, path: filePage, ready: '.plot canvas' },
  { name: 'what-if', width: 1280, height: 860, path: () => '/p/e2e-playwright/what-if', ready: '.what-if-chart svg' },
];

new Command('npm run screenshots --')
  .description('Make the pictures of the guide src/docs/faster/dashboard.md from the demo. Needs Chromium.')
  .action(screenshots)
  .parseAsync()
  .catch((error: unknown) => {
    process.stderr.write(`screenshots: ${(error as Error).message}\n`);
    process.exitCode = 1;
  });

async function screenshots(): Promise<void> {
  if (!chromiumPath) throw new Error('cannot make pictures: no Chromium is in PATH; "apt-get install chromium" installs it');
  const demo = await openStoppedDemo(DAYS);
  const browser = await chromium.launch({ executablePath: chromiumPath, chromiumSandbox: process.getuid!() !== 0 });
  try {
    mkdirSync(IMAGES, { recursive: true });
    await takeAll(browser, demo);
  } finally {
    await browser.close();
    await demo.close();
  }
}

async function takeAll(browser: Browser, { url, link, projects }: Demo): Promise<void> {
  const build = await worstBuild(url, projects.find(({ name }) => name === 'web-rspec')!.token);
  const context = await browser.newContext({ baseURL: url, timezoneId: 'UTC', locale: 'en-GB', reducedMotion: 'reduce' });
  const tab = await context.newPage();
  await tab.clock.setFixedTime(STOPPED_AT);
  await tab.goto(link);
  await tab.getByRole('navigation', { name: 'Ballast' }).waitFor();
  for (const { name, width, height, isDark, path, ready } of shots) {
    await tab.setViewportSize({ width, height });
    await tab.emulateMedia({ colorScheme: isDark ? 'dark' : 'light' });
    await tab.goto(path(build), { waitUntil: 'networkidle' });
    await tab.locator(ready).first().waitFor();
    const picture = await tab.screenshot();
    writeFileSync(join(IMAGES, `${name}.png`), picture);
    process.stdout.write(`${name}.png  ${Math.round(picture.length / 1000)} kB\n`);
  }
}

/** The build of the last 100 that lost most: a node of it died. */
async function worstBuild(url: string, token: string): Promise<string> {
  const response = await fetch(`${url}/v1/build_summaries?limit=100`, { headers: { 'SERVICE-TEST-SUITE-TOKEN': token } });
  const { builds } = (await response.json()) as BuildLines;
  const lost = ({ summary }: BuildLine) => (summary ? summary.wall - summary.floor : 0);
  return builds.reduce((worst, build) => (lost(build) > lost(worst) ? build : worst)).build_id!;
}
