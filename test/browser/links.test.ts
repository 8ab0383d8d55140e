import { describe, expect, it } from 'vitest';
import { changeSettings } from '../../src/server/engine/access.js';
import { initialise, newestBuild, pathsIn, record, timedTestFiles } from '../harness/messages.js';
import { SharedServer } from '../harness/server.js';
import { emptyProject } from './demo-project.js';
import { openAsOperator, show } from './operator.js';

const server = new SharedServer();
const BRANCH = 'fix/"onmouseover=alert(1) x="';

describe('the pages about a build', () => {
  it('link its commit, what changed since the build before, and the CI job of each node', async () => {
    const project = await emptyProject(server);
    const { client } = project;
    for (const commit_hash of ['c0', 'c1']) {
      const node = { commit_hash, branch: BRANCH, node_total: 1, node_index: 0 };
      const paths = pathsIn(await initialise(client, ['a_spec.rb', 'b_spec.rb'], { ...node, node_build_id: commit_hash }));
      await record(client, {
        ...node,
        ci_build_id: commit_hash,
        test_files: timedTestFiles(Object.fromEntries(paths.map(path => [path, 5]))),
      });
    }
    const build = `/p/${project.name}/builds/${await newestBuild(client)}`;
    const tab = await openAsOperator(server, '/');
    const outerLinks = () =>
      tab
        .locator('main a[rel="noreferrer noopener"]')
        .evaluateAll(links => links.map(link => [link.textContent, link.getAttribute('href')]));
    await show(tab, build);
    expect(await outerLinks()).toEqual([]);
    await changeSettings(server.store.access, project.id, {
      job_url: 'https://ci.example.com/{branch}/{ci_run}/{node_index}',
      commit_url: 'https://git.example.com/{commit}',
      diff_url: 'https://git.example.com/{before}...{commit}',
    });
    const head = [
      ['c1', 'https://git.example.com/c1'],
      ['diff', 'https://git.example.com/c0...c1'],
    ];
    const job = `https://ci.example.com/${encodeURIComponent(BRANCH)}/c1/0`;
    await show(tab, build);
    expect(await outerLinks()).toEqual(head);
    await tab.getByText('The timeline as a table').click();
    await tab.getByRole('cell', { name: 'a_spec.rb' }).waitFor();
    expect(await outerLinks()).toEqual([...head, ['0', job], ['0', job]]);
    await show(tab, `${build}?tab=nodes`);
    expect(await outerLinks()).toEqual([...head, ['job', job]]);
    await show(tab, `/p/${project.name}/builds`);
    expect(await outerLinks()).toEqual(['c1', 'c0'].map(hash => [hash, `https://git.example.com/${hash}`]));
  }, 60_000);
});
