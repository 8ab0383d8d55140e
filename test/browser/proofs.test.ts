import { expect, it } from 'vitest';
import { digestOfList } from '../../src/protocol/list-digest.js';
import { buildKey, manyPaths, newestBuild, record } from '../harness/messages.js';
import { QueueNode } from '../harness/queue-node.js';
import { SharedServer } from '../harness/server.js';
import { type BrowsedProject, emptyProject } from './demo-project.js';
import { openAsOperator, show } from './operator.js';

const server = new SharedServer();
const SUITE = manyPaths(6);
const TREE = 'a'.repeat(40);

/** A CI run whose only node takes half an hour for all files, which pass. */
async function played({ client }: BrowsedProject): Promise<void> {
  const node = new QueueNode(client, 0, { tree: TREE, proof_keys: [], test_queue_id: '100' });
  const paths = [...(await node.start(SUITE)), ...(await node.pullAll())];
  const test_files = paths.map(path => ({ path, time_execution: 300 }));
  await record(client, { ci_build_id: '100', tells_outcomes: true, test_files });
  await server.service.nodesNoted();
  await server.service.summarize();
}

/** CI runs that ask whether the tree is proved. */
async function asked({ client }: BrowsedProject, ciRuns: readonly number[]): Promise<void> {
  for (const ci_run of ciRuns) {
    const asking = { commit_hash: `beef${ci_run}`, branch: buildKey.branch, ci_run: String(ci_run) };
    const query = new URLSearchParams({ tree: TREE, test_files_digest: digestOfList(SUITE), max_age: '9999', ...asking });
    expect((await client.get(`/v1/proofs?${query.toString()}`)).json).toMatchObject({ is_proved: true });
  }
}

it('what a CI run proves is on its page and in Trends', async () => {
  const project = await emptyProject(server);
  await played(project);
  const build = `/p/${project.name}/builds/${await newestBuild(project.client)}`;
  const tab = await openAsOperator(server, '/');
  const spared = async () => {
    await show(tab, build);
    const section = tab.locator('section', { has: tab.getByRole('heading', { name: /^Proves / }) });
    return (await section.count()) === 0 ? null : (await section.innerText()).split(/\n+/);
  };
  const trends = async () => {
    await show(tab, `/p/${project.name}/trends`);
    await tab.getByText('median build').first().waitFor();
    return /Proofs saved .+?\./.exec((await tab.locator('.first-line').innerText()).replaceAll('\u00a0', ' '))?.[0] ?? null;
  };
  expect([await spared(), await trends()]).toEqual([null, null]);
  await asked(project, [7, 7]);
  expect(await spared()).toEqual([
    'Proves 1 other CI run',
    'Tests passed here. Other CI runs of the same tree did not run them again: 30 node-minutes saved.',
    '7 of main, commit beef7 just now',
  ]);
  expect(await trends()).toBe('Proofs saved 30 node-minutes of tests in 1 CI run of the last 30 days.');
  await asked(project, [...Array(23).keys()]);
  const listed = (await spared())!;
  expect(listed.slice(0, 3)).toEqual([
    'Proves 23 other CI runs',
    expect.stringMatching(/12 node-hours saved/),
    expect.stringMatching(/^22 of /),
  ]);
  expect([listed.length, listed.at(-1)]).toEqual([23, 'and 3 more']);
  expect(await trends()).toBe('Proofs saved 12 node-hours of tests in 23 CI runs of the last 30 days.');
}, 60_000);
