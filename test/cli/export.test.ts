import { lstatSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProject } from '../../src/server/engine/access.js';
import { Client } from '../harness/client.js';
import { record, subsetMessage, timedTestFiles } from '../harness/messages.js';
import { ended, runBallast } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { startServer, startServerOnDisk } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { folderWithStore } from './failing-calls.js';

/** Exports in the process of the test, where no server may have the folder open. */
const exportOf = (dataDir: string, ...flags: string[]) => runInProcess(['export', '--data-dir', dataDir, ...flags]);

const parseLines = (text: string) =>
  text
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as Record<string, unknown>);

describe('ballast export', () => {
  it('has a header, the projects, the builds as in the API, and the timing of each path', async () => {
    const server = await startServerOnDisk();
    await record(server, { commit_hash: 'c1', test_files: timedTestFiles({ 'a_spec.rb': 4, 'b_spec.rb': 0 }) });
    await record(server, { commit_hash: 'c2', node_index: 1, tells_outcomes: true, test_files: timedTestFiles({ 'c_spec.rb': 1.5 }) });
    await record(server, { commit_hash: 'c1', node_index: 1, test_files: timedTestFiles({ 'a_spec.rb': 6 }) });
    await server.close();
    const { code, stdout, stderr } = await exportOf(server.dataDir);
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    const [head, project, ...rest] = parseLines(stdout);
    expect(head).toEqual({ type: 'export', v: 1, exported_at: expect.stringMatching(/Z$/) as string, projects: ['default'] });
    expect(project).toMatchObject({ type: 'project', name: 'default', default_branch: 'main' });
    const restored = await startServer({ dataDir: server.dataDir });
    const builds = [];
    for (const { id } of [...(await restored.get('/v1/builds')).json.data].reverse() as { id: string }[])
      builds.push((await restored.get(`/v1/builds/${id}`)).json);
    const exported = rest.filter(({ type }) => type === 'build') as { build_subsets: { id: string }[] }[];
    expect(exported.map(({ build_subsets }) => build_subsets.length)).toEqual([2, 1]);
    const sorted = (subsets: { id: string }[]) => [...subsets].sort((a, b) => (a.id < b.id ? -1 : 1));
    for (const [i, build] of builds.entries()) {
      const { build_subsets, ci_runs: _, ...fields } = build as { build_subsets: { id: string; updated_at: string }[]; ci_runs: object[] };
      expect(exported[i]).toEqual({ type: 'build', project: 'default', ...fields, build_subsets: expect.any(Array) as unknown[] });
      expect(sorted(exported[i]!.build_subsets)).toEqual(sorted(build_subsets.map(({ updated_at: _, ...subset }) => subset)));
    }
    const timings = rest.filter(({ type }) => type === 'timing');
    expect(timings.map(({ path, time_execution }) => [path, time_execution])).toEqual([
      ['a_spec.rb', 5],
      ['b_spec.rb', null],
      ['c_spec.rb', 1.5],
    ]);
    expect(timings[1]).toEqual({
      type: 'timing',
      project: 'default',
      path: 'b_spec.rb',
      time_execution: null,
      measured_at: null,
      seen_at: expect.stringMatching(/Z$/) as string,
    });
    expect(rest).toHaveLength(5);
  });

  it('has complete lines and all acknowledged data while the server records', async () => {
    const server = await startServerOnDisk();
    for (let i = 0; i < 250; i++) await record(server, { commit_hash: `before-${i}` });
    let over = false;
    const recording = (async () => {
      for (let i = 0; !over; i++) await record(server, { commit_hash: `while-${i}` });
    })();
    const { code, stdout } = await runBallast(['export', '--data-dir', server.dataDir, '--no-timings']);
    over = true;
    await recording;
    expect(code).toBe(0);
    const commits = parseLines(stdout).flatMap(({ type, commit_hash }) => (type === 'build' ? [commit_hash as string] : []));
    expect(commits.slice(0, 250)).toEqual(Array.from({ length: 250 }, (_, i) => `before-${i}`));
  });

  it('exports one project or only timings, and prints JSON with --json', async () => {
    const server = await startServerOnDisk();
    await record(server);
    const { token } = await createProject(server.store.access, 'web', Date.now());
    await new Client(server.url, token).post('/v1/build_subsets', subsetMessage({ test_files: timedTestFiles({ 'web_spec.rb': 3 }) }));
    await server.close();
    const file = join(temporaryFolder(), 'web.ndjson');
    const { stdout } = await exportOf(server.dataDir, '--project', 'web', '--output', file, '--json');
    expect(JSON.parse(stdout)).toEqual({ file, bytes: statSync(file).size, projects: ['web'], builds: 1, timings: 1 });
    expect(parseLines(readFileSync(file, 'utf8')).map(({ type }) => type)).toEqual(['export', 'project', 'build', 'timing']);
    // A link is not replaced, but its target.
    const link = join(temporaryFolder(), 'latest.ndjson');
    symlinkSync(file, link);
    await exportOf(server.dataDir, '--project', 'default', '--output', link);
    expect([lstatSync(link).isSymbolicLink(), parseLines(readFileSync(file, 'utf8'))[0]]).toMatchObject([true, { projects: ['default'] }]);
    expect((await exportOf(server.dataDir, '--no-builds', '--output', file)).stdout).toBe(
      `${file}: 0 builds and 3 timings of 2 projects, ${statSync(file).size} bytes\n`,
    );
  });

  it('leaves an existing file unchanged if it fails, and reports why', async () => {
    const dataDir = await folderWithStore();
    const folder = temporaryFolder();
    const file = join(folder, 'missing', 'x.ndjson');
    for (const [flags, code, message] of [
      [['--output', file], 1, `ballast: cannot export to ${file}: ENOENT`],
      [
        ['--project', 'nope', '--output', join(folder, 'x')],
        1,
        'cannot export the project "nope": there is no such project; "project list" ',
      ],
      [['--output', '/dev/null'], 1, 'cannot export to /dev/null: it is not a regular file: omit --output, and redirect stdout\n'],
      [['--output', folder], 1, `ballast: cannot export to ${folder}: it is a folder: name a file in it\n`],
      [['--json', '--output', '-'], 2, '--json needs --output, because it describes that file'],
    ] as const)
      expect(await exportOf(dataDir, ...flags)).toEqual(ended(code, message, ''));
    expect(readdirSync(folder)).toEqual([]);
  });
});
