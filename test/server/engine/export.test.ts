import { expect, it } from 'vitest';
import { createProject } from '../../../src/server/engine/access.js';
import { exportLines } from '../../../src/server/engine/export.js';
import { memoryStore } from '../../harness/memory-store.js';
import { recordRun } from '../../harness/recording.js';

const NOW = Date.UTC(2026, 0, 1);
const HOUR = 3_600_000;
const node = { branch: 'main', node_total: 1, node_index: 0 };

it('has builds from when the clock was ahead, and no builds created during the export', async () => {
  const store = memoryStore();
  const project = await createProject(store.access, 'a project', NOW);
  const record = (commit_hash: string, at: number) =>
    recordRun(store, project.id, { ...node, commit_hash }, [{ path: 'a_spec.rb', time_execution: 1 }], at);
  await record('early', NOW + HOUR);
  const commits: unknown[] = [];
  const choice = { projects: await store.access.projects(), builds: true, timings: false };
  for await (const text of exportLines(store, choice, NOW, () => {})) {
    const commit = /^\{"type":"build".*"commit_hash":"(\w+)"/.exec(text)?.[1];
    if (commit === undefined) continue;
    commits.push(commit);
    await record('late', NOW);
  }
  expect(commits).toEqual(['early']);
});
