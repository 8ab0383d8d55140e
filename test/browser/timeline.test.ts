import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type BrowsedProject, demoProject, demoServer, endedBuild } from './demo-project.js';
import { openAsOperator, visit } from './operator.js';

const server = demoServer();

/** Expression: the canvas has the colour of the files of a batch, in light colours. */
const HAS_WORK = `(() => {
  const canvas = document.querySelector('.timeline canvas');
  const { data } = canvas?.width ? canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height) : { data: [] };
  for (let i = 0; i < data.length; i += 4) if (data[i] === 0 && data[i + 1] === 114 && data[i + 2] === 178) return true;
  return false;
})()`;

describe('the timeline of a build', () => {
  let project: BrowsedProject;
  let build: string;
  /** One tab for all tests, as opening one takes longer than most of them. Each test loads the page again. */
  let tab: Page;
  let close = async () => {};
  beforeAll(async () => {
    project = await demoProject(server);
    build = await endedBuild(project);
    tab = await openAsOperator(server, '/', {}, end => (close = end));
  });
  afterAll(() => close());

  const open = async () => {
    await visit(tab, `/p/${project.name}/builds/${build}`);
    const timeline = tab.getByRole('application', { name: 'Timeline of the nodes' });
    await timeline.waitFor();
    return { timeline, box: (await timeline.boundingBox())! };
  };
  const inAddress = (name: string) => new URL(tab.url()).searchParams.get(name);
  const untilAddressHas = (name: string, isThere = true) => tab.waitForURL(url => url.searchParams.has(name) === isThere);

  it('draws the files that ran, with motion and without', async () => {
    for (const reducedMotion of ['no-preference', 'reduce'] as const) {
      await tab.emulateMedia({ reducedMotion });
      await open();
      await expect.poll(() => tab.evaluate(HAS_WORK)).toBe(true);
    }
  });

  it('zooms and pans by keys, and Escape shows the whole build again', async () => {
    const { timeline } = await open();
    await timeline.focus();
    await tab.keyboard.press('w');
    await untilAddressHas('view');
    const zoomed = inAddress('view');
    await tab.keyboard.press('d');
    await tab.waitForURL(url => url.searchParams.get('view') !== zoomed);
    await tab.keyboard.press('Escape');
    await untilAddressHas('view', false);
  });

  it('zooms with Ctrl and the wheel where the mouse is, and with the buttons; without Ctrl the wheel scrolls the page', async () => {
    const { box } = await open();
    await tab.mouse.move(box.x + box.width / 2, box.y + 40);
    await tab.mouse.wheel(0, 300);
    await expect.poll(() => tab.evaluate('scrollY')).toBeGreaterThan(0);
    await tab.getByText('Ctrl and wheel zoom', { exact: true }).waitFor();
    expect(inAddress('view')).toBe(null);
    await tab.evaluate('scrollTo(0, 0)');
    await tab.keyboard.down('Control');
    await tab.mouse.wheel(0, -400);
    await tab.keyboard.up('Control');
    await untilAddressHas('view');
    await tab.getByRole('button', { name: 'Whole build' }).click();
    await untilAddressHas('view', false);
    await tab.getByRole('button', { name: 'Zoom in' }).click();
    await untilAddressHas('view');
  });

  it('sums up the span that the mouse drags, by directory, file and node', async () => {
    const { box } = await open();
    await tab.mouse.move(box.x + 0.3 * box.width, box.y + 60);
    await tab.mouse.down();
    await tab.mouse.move(box.x + 0.6 * box.width, box.y + 90, { steps: 4 });
    await tab.mouse.up();
    const table = tab.getByRole('region', { name: 'The selected span', exact: true });
    await table.getByText(/\d+ files?, .* of node time/).waitFor();
    await table.getByRole('cell', { name: /e2e\// }).first().waitFor();
    await table.getByRole('button', { name: 'by node' }).click();
    await table.getByRole('cell', { name: 'node 0' }).waitFor();
    await table.getByRole('button', { name: 'Close' }).click();
    await table.waitFor({ state: 'detached' });
  });

  it('goes from file to file by arrow keys, and opens one with Enter', async () => {
    const { timeline } = await open();
    await timeline.focus();
    await tab.keyboard.press('ArrowRight');
    await tab.keyboard.press('ArrowDown');
    // The lane below may have a single run, so only the way back is always there.
    await tab.keyboard.press('Shift+ArrowUp');
    await untilAddressHas('span');
    await tab.keyboard.press('Enter');
    const drawer = tab.getByRole('dialog');
    await drawer.getByRole('heading').first().waitFor();
    expect(await drawer.innerText()).toContain('e2e/');
    await tab.keyboard.press('Escape');
    await drawer.waitFor({ state: 'detached' });
  });

  it('shows the same span to a colleague who opens the address', async () => {
    await open();
    await tab.getByRole('button', { name: 'Zoom in' }).click();
    await untilAddressHas('view');
    const { pathname, search } = new URL(tab.url());
    const other = await openAsOperator(server, pathname + search, { isOther: true });
    await other.getByRole('button', { name: 'Whole build' }).waitFor();
    expect(await other.getByRole('button', { name: 'Whole build' }).isEnabled()).toBe(true);
  });

  it('is there as a table, too', async () => {
    await open();
    await tab.getByText('The timeline as a table').click();
    const table = tab.getByRole('region', { name: 'The timeline as a table' });
    await table.getByRole('row').nth(1).waitFor();
    expect(await table.getByRole('table').getAttribute('aria-rowcount')).toMatch(/^7\d$/);
  });
});
