import { describe, expect, it } from 'vitest';
import { initialise, pull, record } from '../harness/messages.js';
import { SharedServer } from '../harness/server.js';
import { emptyProject } from './demo-project.js';
import { openAsOperator, visit } from './operator.js';

const server = new SharedServer();
const KEY = { commit_hash: '4d5e6f', branch: 'fix/cart', node_total: 1, node_index: 0 };

describe('the first build', () => {
  it('appears on the page that waits for it', async () => {
    const { name, client } = await emptyProject(server);
    const tab = await openAsOperator(server, `/p/${name}/set-up`);
    await tab.getByText('Waiting for the first build').waitFor();
    await record(client, { ...KEY, test_files: [{ path: 'spec/cart_spec.rb', time_execution: 41.5 }] });
    await tab.getByTitle('fix/cart').click();
    await tab.getByRole('heading', { name: /^42 s/ }).waitFor();
    expect(new URL(tab.url()).pathname).toMatch(/^\/p\/.+\/builds\/[0-9a-f-]{36}$/);
  });

  it('appears in the list while its first node has only asked for files', async () => {
    const { name, client } = await emptyProject(server);
    const tab = await openAsOperator(server, '/docs', { isOther: true });
    await tab.clock.install();
    await visit(tab, `/p/${name}/builds`);
    await tab.getByText('No build has come yet.').waitFor();
    await initialise(client, ['spec/cart_spec.rb'], KEY);
    await tab.clock.fastForward(11_000);
    await tab.getByTitle('fix/cart').waitFor();
  });

  it('is loaded again while it runs only when something happened', async () => {
    const { name, client } = await emptyProject(server);
    await initialise(client, ['spec/cart_spec.rb', 'spec/user_spec.rb'], { ...KEY, node_total: 2 });
    const tab = await openAsOperator(server, '/docs', { isOther: true });
    await tab.clock.install();
    const [line] = (await client.get('/v1/build_summaries')).json.builds;
    await visit(tab, `/p/${name}/builds/${line.ci_run_id}`);
    await tab.getByText('1 of at most 2 nodes is at work').waitFor();
    const answer = (path: string) => tab.waitForResponse(response => response.url().endsWith(path));
    for (const path of ['/minutes', '/timeline']) {
      const same = answer(path);
      await tab.clock.fastForward(7_000);
      expect((await same).status()).toBe(304);
    }
    await pull(client, { ...KEY, node_total: 2, node_index: 1 });
    const isSeen = async () => {
      await tab.clock.fastForward(7_000);
      return tab.getByText('2 of 2 nodes are at work').isVisible();
    };
    await expect.poll(isSeen, { timeout: 10_000 }).toBe(true);
  });
});
