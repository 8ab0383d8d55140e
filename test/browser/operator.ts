import type { BrowserContextOptions, Page } from 'playwright-core';
import type { Store } from '../../src/engine/ports/store.js';
import { createOperatorLink } from '../../src/engine/sign-in/sign-in.js';
import { type Closing, openTab } from './tab.js';

/** A server of the test. */
export interface Served {
  url: string;
  store: Store;
  /** Its time, and that of the pages, if its clock stands still. */
  now?: number;
}

/** A link that signs an operator in, as the first start of a server prints it. */
export async function operatorLink({ url, store }: Served): Promise<string> {
  const { secret } = await createOperatorLink(store.signIns, Date.now());
  return `${url}/sign-in#${secret}`;
}

/** Opens a page of the dashboard, signed in as an operator. */
export async function openAsOperator(server: Served, path: string, options: BrowserContextOptions = {}, closing?: Closing): Promise<Page> {
  const tab = await openTab({ baseURL: server.url, ...options }, closing);
  if (server.now !== undefined) await tab.clock.setFixedTime(server.now);
  const { secret } = await createOperatorLink(server.store.signIns, server.now ?? Date.now());
  const answer = await tab.request.post('/dashboard/sign_in', {
    data: { link: secret },
    headers: { Origin: server.url, 'Ballast-Dashboard': '1' },
  });
  if (!answer.ok()) throw new Error(`could not sign in: ${answer.status()} ${await answer.text()}`);
  await tab.goto(path);
  return tab;
}

/** Goes to a page, and waits until it shows what it loads. */
export async function show(tab: Page, path: string): Promise<void> {
  await tab.goto(path);
  await tab.locator('main h1').first().waitFor();
  await tab.getByRole('progressbar').waitFor({ state: 'detached' });
}
