import { beforeAll, describe, expect, it } from 'vitest';
import { type BrowsedProject, demoProject, demoServer, endedBuild } from './demo-project.js';
import { openAsOperator } from './operator.js';

const server = demoServer();

describe('what-if and why', () => {
  let project: BrowsedProject;
  let build: string;
  beforeAll(async () => {
    project = await demoProject(server);
    build = await endedBuild(project);
  });

  const open = async () => {
    const tab = await openAsOperator(server, `/p/${project.name}/what-if?build=${build}`);
    const handle = tab.getByRole('slider', { name: 'Number of nodes' });
    await handle.waitFor();
    return { tab, handle };
  };

  it('moves the handle by keys to other numbers of nodes', async () => {
    const { tab, handle } = await open();
    expect(await handle.getAttribute('aria-valuenow')).toBe('8');
    await handle.focus();
    await tab.keyboard.press('ArrowRight');
    await tab.waitForURL(url => url.searchParams.get('nodes') !== null);
    expect(Number(await handle.getAttribute('aria-valuenow'))).toBeGreaterThan(8);
    await tab.keyboard.press('Home');
    await tab.waitForURL(url => url.searchParams.get('nodes') === '1');
    expect(await handle.getAttribute('aria-valuetext')).toMatch(/^1 node: \d+ h/);
  });

  it('moves the handle with the mouse', async () => {
    const { tab, handle } = await open();
    const { x, y, width, height } = (await handle.locator('.grip').boundingBox())!;
    await tab.mouse.move(x + width / 2, y + height / 2);
    await tab.mouse.down();
    await tab.mouse.move(x - 60, y, { steps: 3 });
    await tab.mouse.up();
    await tab.waitForURL(url => url.searchParams.has('nodes'));
    expect(Number(await handle.getAttribute('aria-valuenow'))).toBeLessThan(8);
  });

  it('plays the build with whole files, and in pieces again', async () => {
    const { tab } = await open();
    const pieces = tab.getByRole('checkbox', { name: /^Long files in pieces With 1 file in pieces, 8 nodes end/ });
    const cuts = tab.getByRole('heading', { name: 'Files worth cutting' });
    await pieces.waitFor();
    expect(await pieces.isChecked()).toBe(true);
    expect(await cuts.count()).toBe(0);
    await pieces.press('Space');
    await cuts.waitFor();
    expect(await pieces.isChecked()).toBe(false);
    await pieces.press('Space');
    await cuts.waitFor({ state: 'detached' });
  });

  it('says first how many nodes are enough, which the chart marks', async () => {
    const { tab } = await open();
    const first = await tab.getByRole('heading', { level: 1 }).innerText();
    expect(first).toMatch(/^(The usual )?\d+ nodes: (\d+ of \d+ builds would end within) |^The median build would end in /);
    const [marked] = /^\d+/.exec(await tab.locator('.what-if-chart .useful text').innerHTML())!;
    expect(first).toMatch(new RegExp(`\\b${marked} nodes?\\b`));
    await tab.getByText('What this assumes').click();
    await tab.getByText('The planner of the server hands out batches from a queue.').waitFor();
  });

  it('explains each batch, with the estimates of then', async () => {
    const tab = await openAsOperator(server, `/p/${project.name}/builds/${build}?tab=why`);
    const first = tab.getByRole('listitem').filter({ hasText: 'batch 0' }).first();
    await first.locator('summary').click();
    await first.getByText('Left in the queue').waitFor();
    await first.getByRole('row').nth(1).waitFor();
  });
});
