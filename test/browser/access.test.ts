import type { Page } from 'playwright-core';
import { describe, expect, it } from 'vitest';
import { SharedServer } from '../harness/server.js';
import { emptyProject } from './demo-project.js';
import { openAsOperator } from './operator.js';

const server = new SharedServer();

/** Text of the element that has the focus. */
const focused = (tab: Page) =>
  tab.evaluate('document.activeElement.getAttribute("aria-label") ?? document.activeElement.textContent') as Promise<string>;

const projectOn = (tab: Page, name: string) => tab.getByRole('listitem').filter({ has: tab.getByRole('heading', { name, exact: true }) });

describe('the page of tokens, links and sessions', () => {
  it('revokes a token, by keys alone, after it was asked to', async () => {
    const { name, client } = await emptyProject(server);
    expect((await client.get('/v1/builds')).status).toBe(200);
    const tab = await openAsOperator(server, '/access');
    const project = projectOn(tab, name);
    await project.getByRole('button', { name: 'Revoke' }).focus();
    await tab.keyboard.press('Enter');
    await project.getByText('CI jobs that send it are refused at once.').waitFor();
    await tab.keyboard.press('Escape');
    await project.getByRole('button', { name: 'Keep' }).waitFor({ state: 'detached' });
    expect(await focused(tab)).toBe('Revoke');
    expect((await client.get('/v1/builds')).status).toBe(200);

    await project.getByRole('button', { name: 'Revoke' }).focus();
    await tab.keyboard.press('Enter');
    await project.getByRole('button', { name: 'Keep' }).waitFor();
    await tab.keyboard.press('Enter');
    await project.getByText('No token: no CI job can reach this project.').waitFor();
    // The line of the token, and its button, are gone.
    expect(await focused(tab)).toBe(`Tokens of ${name}`);
    expect((await client.get('/v1/builds')).status).toBe(403);
  });

  it('makes a public token, and says on the pages of the public side what it is', async () => {
    const { name } = await emptyProject(server);
    const tab = await openAsOperator(server, '/access');
    await projectOn(tab, name).getByRole('button', { name: 'New public token' }).click();
    await tab.keyboard.press('Enter');
    await tab.getByText('It may stand in the repository').waitFor();
    const side = projectOn(tab, `${name} (public)`);
    await side.getByRole('button', { name: 'New public token' }).waitFor();
    expect(await side.getByRole('button', { name: /Rename|Delete/ }).count()).toBe(0);
    await side.getByRole('link', { name: `${name} (public)` }).click();
    await tab.getByText('Anyone who reads the repository may have written this').waitFor();
    expect(await tab.getByRole('navigation', { name: 'Project' }).getByRole('link').allTextContents()).toEqual(['Builds']);
    await tab.getByRole('main').getByRole('link', { name, exact: true }).click();
    await tab.getByRole('link', { name: 'CI runs with a public token' }).waitFor();
  });

  it('names a token, renames a project, and deletes it when its name is typed', async () => {
    const { name, client } = await emptyProject(server);
    const tab = await openAsOperator(server, '/access');
    const project = projectOn(tab, name);
    await project.getByText('never used').waitFor();
    await project.getByRole('button', { name: 'New token' }).click();
    await project.getByLabel('What it is for').fill('GitHub');
    await tab.keyboard.press('Enter');
    await project.getByText('for GitHub').waitFor();
    expect(await focused(tab)).toBe('New token');

    await project.getByRole('button', { name: 'Rename' }).click();
    await tab.keyboard.press('Escape');
    expect(await focused(tab)).toBe('Rename');
    await project.getByRole('button', { name: 'Rename' }).click();
    await project.getByLabel(`New name of ${name}`).fill(`${name} renamed`);
    await tab.keyboard.press('Enter');
    const renamed = projectOn(tab, `${name} renamed`);
    await renamed.getByRole('button', { name: 'Delete' }).click();
    const field = renamed.getByLabel(`To delete it, type ${name} renamed`);
    await field.fill(name);
    await tab.keyboard.press('Enter');
    await tab.getByText(`nothing was deleted: "${name}" is not the name of the project "${name} renamed"`).waitFor();
    expect((await client.get('/v1/builds')).status).toBe(200);
    await field.fill(`${name} renamed`);
    await tab.keyboard.press('Enter');
    await renamed.waitFor({ state: 'detached' });
    expect((await client.get('/v1/builds')).status).toBe(403);
  });

  it('creates a project, and shows its token once', async () => {
    const tab = await openAsOperator(server, '/access');
    await tab.getByRole('button', { name: 'New project' }).click();
    await tab.getByLabel('Name of the new project').fill('a new project');
    await tab.keyboard.press('Enter');
    const secret = tab.getByRole('status').filter({ hasText: 'A token of a new project.' });
    const token = await secret.getByRole('code').innerText();
    expect((await fetch(`${server.url}/v1/builds`, { headers: { 'SERVICE-TEST-SUITE-TOKEN': token } })).status).toBe(200);
    await tab.reload();
    await tab.getByRole('heading', { name: 'a new project' }).waitFor();
    expect(await tab.getByText(token).count()).toBe(0);
  });

  it('says once why a project of a name that exists was not created', async () => {
    const { name } = await emptyProject(server);
    const tab = await openAsOperator(server, '/access');
    await tab.getByRole('button', { name: 'New project' }).click();
    await tab.getByLabel('Name of the new project').fill(name);
    await tab.keyboard.press('Enter');
    const [sentence] = (await tab.getByRole('alert').innerText()).split('\n');
    expect(sentence).toBe(`Cannot create the project "${name}": a project of that name exists.`);
  });

  it('makes a read-only link, which shows one project and no page of operators', async () => {
    const { name } = await emptyProject(server);
    await emptyProject(server);
    const tab = await openAsOperator(server, '/access');
    await tab.getByLabel('New link to').selectOption({ label: name });
    await tab.getByRole('button', { name: 'Make' }).click();
    const link = await tab.getByRole('status').getByRole('code').innerText();
    await tab.context().clearCookies();
    await tab.goto(link);
    await tab.getByRole('navigation', { name: 'Ballast' }).waitFor();
    expect(await tab.getByRole('link', { name: 'Access' }).count()).toBe(0);
    await expect.poll(() => tab.getByLabel('Project').getByRole('option').allInnerTexts()).toEqual(['All projects', name]);
  });
});
