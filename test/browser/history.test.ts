import type { Page } from 'playwright-core';
import { beforeAll, describe, expect, it } from 'vitest';
import { record } from '../harness/messages.js';
import { SharedServer } from '../harness/server.js';
import { type BrowsedProject, emptyProject } from './demo-project.js';
import { openAsOperator } from './operator.js';

const server = new SharedServer();
/** More than two pages of builds. */
const BUILDS = 130;
const FILES = 700;

const scrolled = (tab: Page) => tab.evaluate<number>('Math.round(scrollY)');
const builds = (tab: Page) => tab.locator('a.row').count();

describe('back and forward', () => {
  let project: BrowsedProject;
  beforeAll(async () => {
    project = await emptyProject(server);
    const test_files = Array.from({ length: FILES }, (_, i) => ({ path: `spec/${i}_spec.rb`, time_execution: 1 + (FILES - i) / 100 }));
    for (let i = 0; i < BUILDS; i++) {
      const commit_hash = i.toString(16).padStart(8, '0');
      await record(project.client, {
        commit_hash,
        branch: 'main',
        node_total: 1,
        test_files: i === BUILDS - 1 ? test_files : test_files.slice(0, 1),
      });
    }
    await server.summarize();
  });

  it('show the older builds that were loaded, where they were, and the link that was followed; a link starts at the top', async () => {
    const tab = await openAsOperator(server, `/p/${project.name}/builds`);
    const older = tab.getByRole('button', { name: 'Show older builds' });
    await older.click();
    await expect.poll(() => builds(tab)).toBe(100);
    await older.click();
    await older.waitFor({ state: 'detached' });
    const build = tab.locator('a.row').nth(115);
    await build.focus();
    const [href, position] = [await build.getAttribute('href'), await scrolled(tab)];
    expect(position).toBeGreaterThan(2000);
    await tab.keyboard.press('Enter');
    await expect.poll(() => tab.title()).toBe(`? main 0000000e · ${project.name} · Ballast`);
    expect(await scrolled(tab)).toBe(0);
    await tab.goBack();
    await expect.poll(() => scrolled(tab)).toBe(position);
    expect(await tab.title()).toBe(`Builds · ${project.name} · Ballast`);
    expect(await builds(tab)).toBe(BUILDS);
    await expect.poll(() => tab.evaluate('document.activeElement.getAttribute("href")')).toBe(href);
    await tab.goForward();
    await expect.poll(() => scrolled(tab)).toBe(0);
    await tab.goBack();
    await expect.poll(() => scrolled(tab)).toBe(position);
    // From elsewhere, the list is short again.
    await tab.getByRole('link', { name: 'Files', exact: true }).click();
    await tab.getByRole('link', { name: 'Builds', exact: true }).click();
    await older.waitFor();
    expect([await scrolled(tab), await builds(tab)]).toEqual([0, 50]);
  });

  it('show the files that came into view, and a reload the position', async () => {
    const tab = await openAsOperator(server, `/p/${project.name}/files`);
    await tab.getByRole('link', { name: 'spec/3_spec.rb' }).waitFor();
    await tab.evaluate('scrollTo(0, document.body.scrollHeight)');
    const last = tab.getByRole('link', { name: 'spec/699_spec.rb' });
    await last.waitFor();
    const position = await scrolled(tab);
    await last.click();
    await tab.getByRole('heading', { name: /699_spec\.rb/ }).waitFor();
    await tab.goBack();
    await last.waitFor();
    expect(await scrolled(tab)).toBe(position);
    await tab.reload();
    await last.waitFor();
    expect(await scrolled(tab)).toBe(position);
  });
});
