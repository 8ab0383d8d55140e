import type { TestProject } from 'vitest/node';
import { chromiumPath } from '../../scripts/chromium.js';

export const MISSING =
  'the tests in a browser do not run: no chromium, chromium-browser or google-chrome is in PATH; "apt-get install chromium" installs it';

declare module 'vitest' {
  interface ProvidedContext {
    /** Where the tests connect to the browser. */
    browser: string;
  }
}

/** Starts one browser for all tests of the tier, with an empty profile. Says on stderr when there is none. */
export default async function launch(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  if (!chromiumPath) {
    process.stderr.write(`\n  ${MISSING}\n\n`);
    return;
  }
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launchServer({
    executablePath: chromiumPath,
    host: '127.0.0.1',
    // The sandbox of Chromium does not work for root.
    chromiumSandbox: process.getuid!() !== 0,
    // Beyond a limit, Chromium starts no spare renderer for each tab in advance.
    args: ['--disable-gpu', '--disable-quic', '--disable-sync', '--renderer-process-limit=1'],
  });
  project.provide('browser', browser.wsEndpoint());
  return () => browser.close();
}
