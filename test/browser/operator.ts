import type { Page } from 'playwright-core';
import type { Store } from '../../src/server/engine/ports/store.js';
import { createOperatorLink } from '../../src/server/engine/sign-in/sign-in.js';
import { type Closing, openTab, type TabOptions } from './tab.js';

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
export async function openAsOperator(
  { url, store, now }: Served,
  path: string,
  options: TabOptions = {},
  closing?: Closing,
): Promise<Page> {
  const tab = await openTab({ now, ...options }, closing);
  const { secret } = await createOperatorLink(store.signIns, now ?? Date.now());
  const answer = await tab.request.post(`${url}/dashboard/sign_in`, {
    data: { link: secret },
    headers: { Origin: url, 'Ballast-Dashboard': '1' },
  });
  if (!answer.ok()) throw new Error(`could not sign in: ${answer.status()} ${await answer.text()}`);
  await tab.goto(url + path);
  return tab;
}

/** Goes to a page of the same server. */
export async function visit(tab: Page, path: string): Promise<void> {
  await tab.goto(new URL(tab.url()).origin + path);
}

/** Goes to a page, and waits until it shows what it loads. */
export async function show(tab: Page, path: string): Promise<void> {
  await visit(tab, path);
  await tab.locator('main h1').first().waitFor();
  await tab.getByRole('progressbar').waitFor({ state: 'detached' });
}
