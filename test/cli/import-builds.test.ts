import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createProject } from '../../src/server/engine/access.js';
import { record, timedTestFiles } from '../harness/messages.js';
import { printed, said } from '../harness/process.js';
import { startProxy } from '../harness/proxy.js';
import { runInProcess } from '../harness/run-in-process.js';
import { SharedServer, startServerOnDisk } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { fetchBuilds, fetchEstimates, runImport, writeReport } from './run-import.js';

const shared = new SharedServer();

describe('ballast import over the network', () => {
  it('from another server imports all builds in their order, each once, and continues after an interruption', async () => {
    const [there, here, fresh] = [await shared.project(), await shared.project(), await shared.project()];
    // More builds than one page lists.
    for (let i = 0; i < 103; i++)
      await record(there, { commit_hash: `c${i}`, test_files: timedTestFiles({ 'a_spec.rb': i + 1, 'b_spec.rb': 0 }) });
    const feature = { commit_hash: 'c0', branch: 'feature', node_total: 3 };
    await record(there, { ...feature, node_index: 2, tells_outcomes: true });
    await record(there, { ...feature, node_index: 2, test_files: timedTestFiles({ 'a_spec.rb': 9 }) });
    // A node that had nothing to run.
    await record(there, { ...feature, node_index: 1, test_files: [] });
    const flags = ['--from', `${there.url}/v1/`, '--from-token', there.token];
    const importNewest = async (builds: string) =>
      JSON.parse((await runImport(here, ...flags, '--json', '--builds', builds)).stdout) as object;
    expect(await importNewest('2')).toMatchObject({ builds: 2, runs: 4, known_runs: 0 });
    expect(await importNewest('5')).toMatchObject({ builds: 3, runs: 3, known_runs: 4, skipped: [] });
    expect(await importNewest('5')).toMatchObject({ builds: 0, runs: 0, known_runs: 7 });
    expect(await runImport(fresh, ...flags)).toEqual(
      printed(
        'imported 104 builds, 106 runs, 209 times, 5366.8 s\nthe builds keep their order, but count as recorded now: the protocol has no field for the time of a recording\n',
      ),
    );
    expect(await fetchBuilds(fresh)).toEqual(await fetchBuilds(there));
    const paths = ['a_spec.rb', 'b_spec.rb'];
    const [old, now] = [await fetchEstimates(there, paths), await fetchEstimates(fresh, paths)];
    expect(now['a_spec.rb']! / old['a_spec.rb']!).toBeCloseTo(1, 1);
  });

  it('records a run once if its answer is lost', async () => {
    const server = await shared.project();
    let posts = 0;
    const url = await startProxy(({ method }) => ({ url: server.url, loseAnswer: method === 'POST' && ++posts === 1 }));
    const { code, stdout } = await runImport({ url, token: server.token }, writeReport({ 'a_spec.rb': 3 }));
    expect({ code, posts, stdout }).toEqual({
      code: 0,
      posts: 2,
      stdout: expect.stringContaining('imported 1 test file, 3.0 s (longest 3.0 s: a_spec.rb), ') as string,
    });
    expect((await fetchBuilds(server)).map(({ runs }) => runs.length)).toEqual([1]);
  });

  it('reports an address without such a server, and which token is wrong', async () => {
    const server = await shared.project();
    expect(await runImport(server, '--from', server.url, '--from-token', 'wrong')).toMatchObject(
      said(
        3,
        `GET ${server.url}/v1/builds?page=1 was refused with 403: invalid test suite token; check the token: it may be revoked, or belong to another server`,
      ),
    );
  });
});

/** Exports the store of a closed server to a file. */
async function exportOf(dataDir: string, ...flags: string[]): Promise<string> {
  const file = join(temporaryFolder(), 'export.ndjson');
  expect((await runInProcess(['export', '--data-dir', dataDir, '--output', file, ...flags])).code).toBe(0);
  return file;
}

describe('ballast import of an export', () => {
  it('creates the same builds and timings on another server', async () => {
    const [there, here, third] = [await startServerOnDisk(), await shared.project(), await shared.project()];
    for (const [i, seconds] of [8, 9, 10].entries())
      await record(there, {
        commit_hash: `c${i}`,
        node_index: i % 2,
        test_files: timedTestFiles({ 'a_spec.rb': seconds, 'b_spec.rb': 0, 'c\u2028_spec.rb': 1 }),
      });
    const paths = ['a_spec.rb', 'c\u2028_spec.rb'];
    const known = { builds: await fetchBuilds(there), estimates: await fetchEstimates(there, paths) };
    await there.close();
    const file = await exportOf(there.dataDir);
    expect(JSON.parse((await runImport(here, file, '--json')).stdout)).toMatchObject({
      files: [{ file, format: 'ballast' }],
      builds: 3,
      runs: 3,
      test_files: 9,
    });
    expect(await fetchBuilds(here)).toEqual(known.builds);
    expect((await runImport(third, await exportOf(there.dataDir, '--no-builds'))).stdout).toMatch(
      /\nimported 2 test files, 10\.\d s \(longest 9\.\d s: a_spec\.rb\), as commit import-\w+ of branch main\nleft out 1: it has no time \(b_spec\.rb\)\n$/,
    );
    expect(await fetchEstimates(third, paths)).toEqual(known.estimates);
  });

  it('that is damaged keeps the builds before the damage, and continues when it is imported again', async () => {
    const server = await shared.project();
    const build = (commit_hash: string) => ({
      commit_hash,
      branch: 'main',
      node_total: 1,
      build_subsets: [{ node_index: 0, test_files: timedTestFiles({ 'a_spec.rb': 1 }) }],
    });
    const lines = ['c1', 'c2', 'c3'].map(commit => JSON.stringify(build(commit)));
    const file = writeReport(`${lines.slice(0, 2).join('\n')}\n${' '.repeat(70_000)}\n${lines[2]!.slice(0, -9)}`);
    expect(await runImport(server, file)).toEqual(
      said(
        1,
        `cannot import ${file}: line 4: unexpected end of file; 2 runs were recorded before that: import again, which records no run twice`,
      ),
    );
    writeFileSync(file, lines.join('\n'));
    expect((await runImport(server, file)).stdout).toContain(
      'imported 1 build, 1 run, 1 time, 1.0 s\n2 runs were there already, and stay as they are\n',
    );
  });

  it('with several projects requires --project', async () => {
    const [there, server] = [await startServerOnDisk(), await shared.project()];
    await record(there);
    await createProject(there.store.access, 'web', Date.now());
    await there.close();
    const file = await exportOf(there.dataDir);
    expect((await runImport(server, file)).stderr).toContain(
      'it has several projects ("default", "web"): name the one to read with --project',
    );
    expect((await runImport(server, file, '--project', 'other')).stderr).toContain(
      'it has no project "other"; its projects are "default", "web"',
    );
    expect((await runImport(server, file, '--project', 'default')).stdout).toContain('imported 1 build, 1 run, ');
  });

  it('names an invalid entry, and leaves out what the server would refuse', async () => {
    const server = await shared.project();
    const build = {
      commit_hash: 'c',
      branch: 'main',
      node_total: 1,
      build_subsets: [{ node_index: 0, test_files: [{ path: 'a_spec.rb', time_execution: '1' }] }],
    };
    expect((await runImport(server, writeReport(build))).stderr).toContain(
      'document 1: the build.build_subsets[0].test_files[0].time_execution is "1", expected a number or null',
    );
    const files = [
      { path: 'x', time_execution: 1 },
      { path: 'a_spec.rb', time_execution: null },
      { path: 'b_spec.rb', time_execution: -1 },
      { path: 'c_spec.rb', time_execution: 0 },
    ];
    const { stdout } = await runImport(
      server,
      writeReport({
        ...build,
        build_subsets: [
          { node_index: 0, test_files: files },
          { node_index: 1, test_files: files },
        ],
      }),
    );
    expect(stdout.split('\n').slice(1)).toEqual([
      'imported 1 build, 1 run, 1 time, 0.0 s',
      'the builds keep their order, but count as recorded now: the protocol has no field for the time of a recording',
      'left out 1: the path does not have 3 to 4096 characters (x)',
      'left out 1: it has no time (a_spec.rb)',
      'left out 1: its time is negative (b_spec.rb)',
      'left out 1: the index of the node is not below the number of nodes of its build (node 1 of 1 of commit c)',
      '',
    ]);
  });
});
