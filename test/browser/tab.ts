import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core';
import { expect, inject, onTestFinished } from 'vitest';

let browser: Promise<Browser> | null = null;

/** Is given a function that closes a tab, and calls it at the end of the test or of all tests that use the tab. */
export type Closing = (close: () => Promise<void>) => void;

/**
 * Opens an empty tab with a profile of its own, by default until the end of the test. The test fails if a page violates its
 * Content-Security-Policy, logs an error, or throws one.
 */
export async function openTab(options: BrowserContextOptions = {}, closing: Closing = onTestFinished): Promise<Page> {
  browser ??= chromium.connect(inject('browser'));
  const context = await (await browser).newContext({ viewport: { width: 1280, height: 800 }, reducedMotion: 'reduce', ...options });
  context.setDefaultTimeout(15_000);
  const problems: string[] = [];
  context.on('console', message => {
    // A refused request is told on the page.
    if (message.type() === 'error' && !message.text().startsWith('Failed to load resource')) problems.push(message.text());
  });
  context.on('weberror', error => problems.push(String(error.error())));
  closing(async () => {
    await context.close();
    expect(problems).toEqual([]);
  });
  return context.newPage();
}
