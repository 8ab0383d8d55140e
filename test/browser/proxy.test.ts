import { describe, expect, it } from 'vitest';
import { record } from '../harness/messages.js';
import { SharedServer } from '../harness/server.js';
import { emptyProject } from './demo-project.js';
import { openAsOperator, visit } from './operator.js';

const server = new SharedServer();

describe('a proxy that ended its session', () => {
  it('and answers with its own pages is told of, and what was loaded stays', async () => {
    const { name, client } = await emptyProject(server);
    await record(client, { branch: 'fix/cart', node_total: 1, test_files: [{ path: 'spec/cart_spec.rb', time_execution: 41.5 }] });
    const tab = await openAsOperator(server, '/docs', { isOther: true });
    await tab.clock.install();
    await visit(tab, `/p/${name}/builds`);
    const row = tab.getByTitle('fix/cart');
    await row.waitFor();
    await tab.route('**/v1/**', route => route.fulfill({ contentType: 'text/html', body: '<!doctype html><title>Sign in</title>' }));
    await tab.clock.fastForward(11_000);
    const alert = tab.getByRole('alert');
    await alert.getByText(/answered with a web page instead of data: .* Reload the page\.$/).waitFor();
    expect(await row.isVisible()).toBe(true);
    // A page that was never loaded says the same, alone.
    await tab.getByRole('link', { name: 'Nodes', exact: true }).click();
    await alert.getByText(/^Could not load the nodes: .* a web page instead of data/).waitFor();
    await tab.unroute('**/v1/**');
    await tab.getByRole('button', { name: 'Try again' }).click();
    await alert.waitFor({ state: 'detached' });
  });
});
