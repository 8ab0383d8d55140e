import { describe, expect, it } from 'vitest';
import { record } from '../harness/messages.js';
import { SharedServer } from '../harness/server.js';
import { emptyProject } from './demo-project.js';
import { openAsOperator, show } from './operator.js';

const server = new SharedServer();
const PATH = `spec/${'a-long-directory/'.repeat(8)}checkout_spec.rb`;

describe('a path that is too long for its column', () => {
  it('shows its end, and is whole in a selection and in the name of its link', async () => {
    const { name, client } = await emptyProject(server);
    await record(client, { node_total: 1, test_files: [{ path: PATH, time_execution: 3 }] });
    const tab = await openAsOperator(server, `/p/${name}/files`, { viewport: { width: 390, height: 800 } });
    const link = tab.getByRole('link', { name: PATH, exact: true });
    await link.waitFor();
    const { selected, isCut, endIsShown } = await link.evaluate(element => {
      const { getSelection, document } = globalThis as any;
      const path = document.querySelector('a .path');
      getSelection().selectAllChildren(element);
      const range = document.createRange();
      const text = path.firstChild.lastChild;
      range.setStart(text, text.length - 1);
      range.setEnd(text, text.length);
      const [last, box] = [range.getBoundingClientRect(), path.getBoundingClientRect()];
      return {
        selected: getSelection().toString(),
        isCut: path.scrollWidth > path.clientWidth,
        endIsShown: last.right <= box.right + 1 && last.left >= box.left,
      };
    });
    expect({ selected, isCut, endIsShown }).toEqual({ selected: PATH, isCut: true, endIsShown: true });
  });
});

describe('a name that is too long for a phone', () => {
  const PHONE = { width: 360, height: 800 };

  it('of a project is whole in the choice of projects, and shows its end in the list', async () => {
    const { name, client } = await emptyProject(server, 'browser-tests-of-the-shop');
    const long = await emptyProject(server, 'browser-tests-of-the-shop-and-of-its-administration');
    for (const each of [client, long.client]) await record(each, { node_total: 1, test_files: [{ path: PATH, time_execution: 3 }] });
    const tab = await openAsOperator(server, `/p/${name}/builds`, { viewport: PHONE });
    const choice = tab.getByRole('combobox', { name: 'Project' });
    const isWhole = await choice.evaluate((select: any) => {
      const { offsetWidth } = select;
      select.style.maxWidth = 'none';
      return select.offsetWidth === offsetWidth;
    });
    expect([await choice.getAttribute('title'), isWhole]).toEqual([name, true]);
    await show(tab, '/');
    await tab.locator('.projects').waitFor();
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(PHONE.width);
  });

  it('of a branch shows its end in the choice of branches', async () => {
    const { name, client } = await emptyProject(server);
    const branch = 'feature/team-payments/make-the-checkout-faster';
    await record(client, { branch, node_total: 1, test_files: [{ path: PATH, time_execution: 3 }] });
    const tab = await openAsOperator(server, `/p/${name}/files?branch=${branch}`, { viewport: PHONE });
    const choice = tab.getByRole('textbox', { name: 'Branch' });
    const isAtEnd = await choice.evaluate(
      (input: any) => input.scrollLeft > 0 && input.scrollLeft + input.clientWidth >= input.scrollWidth - 1,
    );
    expect([isAtEnd, await choice.getAttribute('title')]).toEqual([true, branch]);
  });
});
