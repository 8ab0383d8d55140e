import { describe, expect, it } from 'vitest';
import { initialise, record } from '../harness/messages.js';
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
});
