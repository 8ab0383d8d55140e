import { type ConsoleMessage, chromium, type Page } from 'playwright-core';
import { expect, onTestFinished } from 'vitest';
import { chromiumPath } from '../../scripts/chromium.js';

/** Is given a function that closes a tab, and calls it at the end of the test or of all tests that use the tab. */
export type Closing = (close: () => Promise<void>) => void;

export interface TabOptions {
  viewport?: { width: number; height: number };
  /** The time of its pages, which stands still; undefined: they have the real time. */
  now?: number | undefined;
  /** A tab of its own: of another person, or one whose clock or scripts the test changes. */
  isOther?: boolean;
}

const DESK = { width: 1280, height: 800 };

/** One tab for all tests, by the time of its pages: Chromium takes longer to open one than for most tests. */
const tabs = new Map<number | undefined, Promise<Page>>();
const browser = chromiumPath === null ? null : launch(chromiumPath);

function launch(executablePath: string) {
  return chromium.launch({
    executablePath,
    // The sandbox of Chromium does not work for root.
    chromiumSandbox: process.getuid!() !== 0,
    // Beyond a limit, Chromium starts no spare renderer for each tab in advance.
    args: ['--disable-gpu', '--disable-quic', '--disable-sync', '--renderer-process-limit=1'],
  });
}

async function newTab(now: number | undefined): Promise<Page> {
  const context = await (await browser!).newContext({ viewport: DESK, reducedMotion: 'reduce' });
  context.setDefaultTimeout(15_000);
  if (now !== undefined) await context.clock.setFixedTime(now);
  return context.newPage();
}

/**
 * Returns an empty tab without cookies, by default until the end of the test. The test fails if a page violates its
 * Content-Security-Policy, logs an error, or throws one.
 */
export async function openTab(
  { viewport = DESK, now, isOther = false }: TabOptions = {},
  closing: Closing = onTestFinished,
): Promise<Page> {
  const opened = (isOther ? undefined : tabs.get(now)) ?? newTab(now);
  if (!isOther) tabs.set(now, opened);
  const tab = await opened;
  await tab.setViewportSize(viewport);
  const problems: string[] = [];
  const onConsole = (message: ConsoleMessage) => {
    // A refused request is told on the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) problems.push(message.text());
  };
  const onError = (error: Error) => problems.push(String(error));
  tab.on('console', onConsole).on('pageerror', onError);
  closing(async () => {
    if (isOther) await tab.context().close();
    else await empty(tab);
    tab.off('console', onConsole).off('pageerror', onError);
    expect(problems).toEqual([]);
  });
  return tab;
}

async function empty(tab: Page): Promise<void> {
  await tab.goto('about:blank');
  await tab.context().clearCookies();
}
