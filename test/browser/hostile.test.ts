import { describe, expect, it } from 'vitest';
import { changeSettings } from '../../src/server/engine/access.js';
import { initialise, pathsIn, record } from '../harness/messages.js';
import { SharedServer } from '../harness/server.js';
import { emptyProject } from './demo-project.js';
import { openAsOperator, show } from './operator.js';

const server = new SharedServer();

const ATTACK = '<img src=x onerror="document.title=\'attacked\'">';
const PATHS = [
  `spec/${ATTACK}_spec.rb`,
  'spec/"onmouseover=alert(1) x="_spec.rb',
  'spec/\u202egnp.bur_ceps',
  "spec/a'; drop table builds; --_spec.rb",
  `spec/${'long/'.repeat(799)}x.rb`,
  'spec/\u0001soh_spec.rb',
  'javascript:alert(1)//_spec.rb',
];
/** Files that fail together beyond four tell nothing about themselves. */
const FLAKY = PATHS.slice(0, 4);
const BRANCH = `${ATTACK}\u202e`;

/** Records two builds of hostile paths on a hostile branch. Returns the id of the newest. */
async function recordHostile(project: Awaited<ReturnType<typeof emptyProject>>): Promise<string> {
  for (const commit_hash of [`${ATTACK}1`, `${ATTACK}2`]) {
    const node = { commit_hash, branch: BRANCH, node_total: 1, node_index: 0 };
    const paths = pathsIn(await initialise(project.client, PATHS, { ...node, node_build_id: ATTACK }));
    const test_files = paths.map((path, i) => ({ path, time_execution: 10 + i, ...(FLAKY.includes(path) && { outcome: 'flaky' }) }));
    await record(project.client, { ...node, ci_build_id: ATTACK, tells_outcomes: true, test_files });
  }
  return (await project.client.get('/v1/builds')).json.data[0].id as string;
}

describe('hostile names of files, branches and commits', () => {
  it('are shown as text on every page', async () => {
    const project = await emptyProject(server);
    const id = await recordHostile(project);
    await server.summarize();
    expect((await project.client.get('/v1/flaky')).json.files.map(({ path }: { path: string }) => path).sort()).toEqual(FLAKY.toSorted());
    await changeSettings(server.store.access, project.id, {
      job_url: 'https://ci.example.com/{branch}/{ci_run}/{node_index}',
      commit_url: 'https://git.example.com/{commit}',
      diff_url: 'https://git.example.com/{before}/{commit}',
    });
    const start = `/p/${project.name}`;
    const tab = await openAsOperator(server, '/', { viewport: { width: 390, height: 800 } });
    const pages = [
      '',
      `${start}/builds`,
      `${start}/builds?q=${encodeURIComponent(BRANCH)}`,
      ...['', 'files', 'nodes', 'why'].map(name => `${start}/builds/${id}?tab=${name}`),
      ...PATHS.slice(0, 5).map(path => `${start}/builds/${id}?file=${encodeURIComponent(path)}`),
      `${start}/files`,
      ...PATHS.map(path => `${start}/files/file?path=${encodeURIComponent(path)}`),
      `${start}/flaky`,
      `${start}/nodes`,
      `${start}/what-if?build=${id}`,
      `${start}/set-up`,
      `${start}/settings`,
      '/server',
      '/access',
      `/p/${encodeURIComponent(ATTACK)}/builds`,
      `/docs/${encodeURIComponent(ATTACK)}`,
      `/sign-in?to=${encodeURIComponent('javascript:alert(1)')}`,
    ];
    tab.on('dialog', dialog => {
      throw new Error(`a page opened a dialog: ${dialog.message()}`);
    });
    for (const page of pages) {
      await show(tab, page || '/');
      expect(await tab.locator('img').count(), page).toBe(0);
      expect(await tab.title(), page).not.toBe('attacked');
      expect.soft(await tab.evaluate('document.documentElement.scrollWidth'), page.slice(0, 99)).toBeLessThanOrEqual(390);
    }
  }, 120_000);
});
