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

  it('finds a commit by its beginning, and leads to branches by a part of their names', async () => {
    const { json } = await project.client.get('/v1/builds?branch=main');
    const { commit_hash } = json.data[0];
    const tab = await openAsOperator(server, `/p/${project.name}/builds?q=commit:${commit_hash.slice(0, 8)}`);
    await tab.getByTitle(commit_hash).first().waitFor();
    await tab.getByRole('searchbox').fill('branch:mai failed:');
    await tab.getByText('The newest branches with “mai” in their name:').waitFor();
    await tab.getByRole('link', { name: 'main', exact: true }).press('Enter');
    await tab.waitForURL(url => url.searchParams.get('q') === 'branch:main failed:');
    await tab.getByRole('searchbox').fill('feedface');
    await tab.getByText(/^No branch of the newest \d+ builds has “feedface” in its name\.$/).waitFor();
    await tab.getByRole('link', { name: 'Look for a commit that begins with it' }).press('Enter');
    await tab.getByText(/^No commit of the newest \d+ builds begins with “feedface”\. An older one/).waitFor();
  });

  it('says what it does not understand, and how to see all builds again', async () => {
    const tab = await openAsOperator(server, `/p/${project.name}/builds?q=${encodeURIComponent('colour:red branch:nowhere')}`);
    await tab.getByText('There is no colour: here.').waitFor();
    await tab.getByRole('heading', { name: 'No build matches colour:red branch:nowhere' }).waitFor();
    await tab.getByRole('button', { name: 'Show all builds' }).click();
    await tab.getByRole('heading', { name: /^The last build of main / }).waitFor();
  });
});
