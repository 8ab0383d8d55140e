import { beforeAll, describe, expect, it } from 'vitest';
import { type BrowsedProject, demoProject, demoServer } from './demo-project.js';
import { openAsOperator } from './operator.js';

const server = demoServer();

describe('the search of the builds', () => {
  let project: BrowsedProject;
  beforeAll(async () => {
    project = await demoProject(server);
  });

  it('stands in the address, and finds the same from there', async () => {
    const tab = await openAsOperator(server, `/p/${project.name}/builds`);
    const search = tab.getByRole('searchbox', { name: 'Search the builds' });
    await search.waitFor();
    await tab.keyboard.press('/');
    await tab.keyboard.type('branch:main ');
    await tab.waitForURL(url => url.searchParams.get('q') === 'branch:main');
    // The pause did not take the space away.
    await tab.keyboard.type('nodes:8');
    await tab.waitForURL(url => url.searchParams.get('q') === 'branch:main nodes:8');
    const { json } = await project.client.get('/v1/builds?branch=main');
    await tab.getByRole('heading', { name: `${json.data.length} builds` }).waitFor();
    await tab.reload();
    await tab.getByRole('heading', { name: `${json.data.length} builds` }).waitFor();
    expect(await search.inputValue()).toBe('branch:main nodes:8');
  });

  it('says what it does not understand, and how to see all builds again', async () => {
    const tab = await openAsOperator(server, `/p/${project.name}/builds?q=${encodeURIComponent('colour:red branch:nowhere')}`);
    await tab.getByText('There is no colour: here.').waitFor();
    await tab.getByRole('heading', { name: 'No build matches colour:red branch:nowhere' }).waitFor();
    await tab.getByRole('button', { name: 'Show all builds' }).click();
    await tab.getByRole('heading', { name: /^\d+ builds$/ }).waitFor();
  });
});
