import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { changeSettings } from '../../src/server/engine/access.js';
import { expectAccessible, loadAxe, tooNarrow } from './accessibility.js';
import { type BrowsedProject, demoProject, demoServer, emptyProject, endedBuild } from './demo-project.js';
import { openAsOperator, show } from './operator.js';

const server = demoServer();

describe('every page', () => {
  let project: BrowsedProject;
  let empty: BrowsedProject;
  let pages: string[];
  beforeAll(async () => {
    project = await demoProject(server);
    await changeSettings(server.store.access, project.id, { price: '0.008 USD', commit_url: 'https://git.example.com/{commit}' });
    empty = await emptyProject(server);
    const build = await endedBuild(project);
    const start = `/p/${project.name}`;
    pages = [
      '/',
      `${start}/builds`,
      ...['', '?tab=files&q=stock', '?tab=nodes', '?tab=compare', '?tab=why', '?file=e2e/admin/bulk-import.spec.ts'].map(
        query => `${start}/builds/${build}${query}`,
      ),
      `${start}/trends`,
      `${start}/files?q=stock`,
      `${start}/files/file?path=e2e/admin/bulk-import.spec.ts`,
      `${start}/flaky`,
      `${start}/nodes`,
      `${start}/what-if`,
      `${start}/set-up`,
      `${start}/settings`,
      `/p/${empty.name}/builds`,
      `/p/${empty.name}/flaky`,
      '/server',
      '/access',
      '/docs',
      '/docs/pieces',
      '/p/nowhere/builds',
      '/bogus',
      '/sign-in',
    ];
  });

  it('has no accessibility problem in light and dark colours, and fits windows from 320 pixels on', async () => {
    const tab = await openAsOperator(server, '/', { isOther: true });
    await loadAxe(tab);
    for (const page of pages) await expectAccessible(tab, page);
  }, 300_000);

  it('keeps the headings of a long table in the window', async () => {
    const tab = await openAsOperator(server, `/p/${project.name}/files`);
    await tab.locator('tbody tr').last().scrollIntoViewIfNeeded();
    await tab.mouse.wheel(0, 10_000);
    await expect.poll(() => tab.evaluate('scrollY')).toBeGreaterThan(0);
    await expect.poll(() => tab.evaluate('document.querySelector("th").getBoundingClientRect().top')).toBe(0);
  });

  it('has one stop of the Tab key for the last builds of a project, and arrow keys between them', async () => {
    const tab = await openAsOperator(server, '/');
    const bars = tab.getByRole('group', { name: 'Last builds' });
    const isInBars = () => tab.evaluate('document.activeElement.closest(".build-bars") !== null');
    await bars.getByRole('link').last().focus();
    await tab.keyboard.press('ArrowLeft');
    await tab.keyboard.press('ArrowLeft');
    await bars.locator('[tabindex="0"]:focus').waitFor();
    expect(await bars.locator('[tabindex="0"]').count()).toBe(1);
    await tab.keyboard.press('Tab');
    expect(await isInBars()).toBe(false);
    await tab.keyboard.press('Shift+Tab');
    expect(await isInBars()).toBe(true);
  });

  it('is printed light and without what is pressed, also from a dark screen', async () => {
    const tab = await openAsOperator(server, '/', { isOther: true, viewport: { width: 718, height: 900 } });
    for (const page of [pages[2]!, `${pages[2]!}?tab=files`, `/p/${project.name}/what-if`]) {
      await tab.emulateMedia({ colorScheme: 'dark', media: 'screen' });
      await show(tab, page);
      await tab.emulateMedia({ media: 'print' });
      expect.soft(await tab.evaluate('getComputedStyle(document.documentElement).backgroundColor'), page).toBe('rgb(255, 255, 255)');
      expect.soft(await tab.locator('nav, search, :not(th) > button').filter({ visible: true }).count(), page).toBe(0);
      await expect.poll(() => tab.evaluate(tooNarrow), { message: page, interval: 20 }).toEqual([]);
      if (await tab.locator('canvas').count()) await expect.poll(() => tab.evaluate(hasLightBars), { message: page }).toBe(true);
    }
  });

  it('is reached by keys alone', async () => {
    const tab = await openAsOperator(server, '/');
    await tab.getByRole('heading').first().waitFor();
    await tab.keyboard.press('Tab');
    expect(await focused(tab)).toBe('Skip to the content');
    for (const name of ['Server', 'Access', 'Docs', project.name, 'Trends', 'Files', 'Nodes', 'What-if', 'Set-up', 'Builds']) {
      await tabTo(tab, name);
      await tab.keyboard.press('Enter');
      const current = tab.locator('[aria-current=page]').first();
      await expect.poll(() => current.innerText()).toBe(name === project.name ? 'Builds' : name);
      if (name === 'Docs') {
        await tabTo(tab, 'Ballast');
        await tab.keyboard.press('Enter');
        await tab.getByRole('link', { name: project.name }).waitFor();
      }
    }
  });
});

/** Expression: the drawing has bars in the colour that --work has on paper. */
const hasLightBars = `(() => {
  const { width, height } = document.querySelector('canvas');
  const { data } = document.querySelector('canvas').getContext('2d').getImageData(0, 0, width, height);
  return data.some((red, i) => i % 4 === 0 && red === 0 && data[i + 1] === 114 && data[i + 2] === 178);
})()`;

function focused(tab: Page): Promise<string> {
  return tab.evaluate('document.activeElement.innerText.trim()');
}

/** Presses Tab until an element with this text has the focus. */
async function tabTo(tab: Page, text: string): Promise<void> {
  for (let presses = 0; presses < 60; presses++) {
    if ((await focused(tab)) === text) return;
    await tab.keyboard.press('Tab');
  }
  throw new Error(`the key Tab does not reach "${text}"`);
}
