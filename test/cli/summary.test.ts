import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { summaryLines } from '../../src/cli/node/text/summary-text.js';
import type { BuildMinutes, ReceivedCompleteness } from '../../src/node/client/answers.js';
import { changeSettings } from '../../src/server/engine/access.js';
import { Clock } from '../harness/clock.js';
import { nothingMissing } from '../harness/completeness.js';
import { connect, initialise, pathsIn, pull, record, startSplit, timedTestFiles } from '../harness/messages.js';
import { ended } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { startServer, type TestServer } from '../harness/server.js';
import { stubServer } from '../harness/stub-server.js';

const BUILD = { commit_hash: 'abc', branch: 'main', node_total: 2 };
const FLAGS = ['--commit-hash', 'abc', '--branch', 'main', '--node-total', '2'];

const run = ({ url, token }: Pick<TestServer, 'url' | 'token'>, ...args: string[]) =>
  runInProcess(['summary', ...args], { BALLAST_URL: url, BALLAST_TOKEN: token });
const summary = (server: TestServer, ...more: string[]) => run(server, ...FLAGS, ...more);

/** Two nodes take a file each. The one on node 1 takes 30 s longer, and is recorded only if it `ends`. */
async function ranBuild(paths = ['a_spec.rb', 'b_spec.rb'], ends = true): Promise<{ server: TestServer; clock: Clock }> {
  const clock = new Clock();
  const server = await startServer({}, clock.now);
  const own = { ...BUILD, node_build_id: '7' };
  const first = pathsIn(await initialise(server, paths, own));
  const second = pathsIn(await connect(server, { ...own, node_index: 1 }));
  for (const [node_index, files] of [first, second].entries()) {
    clock.advance({ seconds: node_index === 0 ? 10 : 30 });
    if (node_index === 1 && !ends) break;
    await pull(server, { ...own, node_index });
    const test_files = timedTestFiles(Object.fromEntries(files.map(path => [path, node_index === 0 ? 10 : 40])));
    await record(server, { ...BUILD, node_index, ci_build_id: '7', test_files });
  }
  return { server, clock };
}

describe('ballast summary', () => {
  it('prints where the time of the CI run went, and that it is complete', async () => {
    const { server } = await ranBuild();
    const { code: exitCode, stdout, stderr } = await summary(server, '--build-id', '7');
    expect([exitCode, stderr]).toEqual([0, '']);
    expect(stdout.split('\n')).toEqual([
      '### Tests: 40 s',
      '',
      '`b_spec.rb` decides this build: it took 40 s on node 1, longer than an even share of 25 s.',
      '',
      '| where the time went | time | part | nodes |',
      '| --- | --: | --: | --- |',
      '| even share | 25 s | 63 % |  |',
      '| longest file | 15 s | 38 % |  |',
      '',
      '**Complete**: 2 of 2 test files of the queue were recorded.',
      '',
      '| slowest files | time | estimate | node |',
      '| --- | --: | --: | --: |',
      '| `b_spec.rb` | 40 s | 1.0 s (a guess) | 1 |',
      '| `a_spec.rb` | 10 s | 1.0 s (a guess) | 0 |',
      '',
    ]);
  });

  it('becomes a comment, and what goes wrong there is a warning', async () => {
    const { server } = await ranBuild();
    const flags = ['summary', ...FLAGS, '--build-id', '7', '--comment'];
    const environment = { BALLAST_URL: server.url, BALLAST_TOKEN: server.token };
    const plainSummary = await summary(server, '--build-id', '7');
    const none = await runInProcess(flags, environment);
    expect(none).toEqual({
      ...plainSummary,
      stderr: 'ballast: this CI job is of no pull request and no merge request, so there is no comment\n',
    });
    const bodies: string[] = [];
    const url = await stubServer(async (request, response) => {
      if (request.method === 'POST') bodies.push(JSON.parse(await text(request)).body);
      response.end('[]');
    });
    const job = { GITHUB_ACTIONS: 'true', GITHUB_API_URL: url, GITHUB_REPOSITORY: 'o/r', GITHUB_REF: 'refs/pull/12/merge' };
    const written = await runInProcess(flags, { ...environment, ...job, GITHUB_TOKEN: 'a-token' });
    expect(written).toEqual({ ...plainSummary, stderr: 'ballast: wrote a comment of pull request 12\n' });
    expect(bodies).toEqual([`<!-- ballast   -->\n${plainSummary.stdout.trimEnd()}`]);
    const unnamed = await runInProcess(flags, { ...environment, GITLAB_CI: 'true', CI_MERGE_REQUEST_IID: '12' });
    expect(unnamed.stderr).toMatch(
      /^ballast: WARNING: cannot comment on merge request 12: BALLAST_GITLAB_TOKEN or GITLAB_TOKEN is not set/,
    );
    const warned = await runInProcess(flags, { ...environment, ...job });
    const warning =
      '::warning title=Ballast::cannot comment on pull request 12: GITHUB_TOKEN is not set; set it to that of the job, github.token\n';
    expect(warned).toEqual({ ...plainSummary, stderr: warning });
  });

  it('names what is missing, and ends with 0', async () => {
    const { server, clock } = await ranBuild(['a_spec.rb', '<b>_spec.rb'], false);
    clock.advance({ seconds: 7200 });
    const { code: exitCode, stdout } = await summary(server, '--newest');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(
      /^\*\*Incomplete\*\*: 1 of 2 test files of the queue was recorded\.\n- 1 of 2 test files was handed out and not recorded, to node \d/m,
    );
    expect(stdout).toMatch(/^\*\*Missing\*\*: 1 test file\n\n- `(a|<b>)_spec\.rb`$/m);
  });

  it.each<[string, Partial<ReceivedCompleteness>, string[]]>([
    [
      'of a complete build in which others ran',
      { is_complete: true, recorded: 2 },
      ['**Complete**: 2 of 3 test files of the queue were recorded, 1 ran and was not recorded.'],
    ],
    [
      'of a build with a flaky file whose name is markup',
      { is_complete: true, recorded: 3, flaky: [{ path: '`<b>`@team.js', node_indexes: [0], is_new: false }] },
      ['**Complete**: 3 of 3 test files of the queue were recorded, 1 failed and passed when retried (`` `<b>`@team.js ``).'],
    ],
    [
      'of an incomplete build that recorded every file',
      { is_complete: false, recorded: 3, errors: ['node 1 ran nothing when run again'] },
      ['**Incomplete**, although 3 of 3 test files of the queue were recorded.', '- node 1 ran nothing when run again'],
    ],
    [
      'of a build whose last file may be empty',
      { is_complete: false, recorded: 2, errors: ['1 of 3 test files was handed out'], may_be_empty: true },
      [
        '**Incomplete**: 2 of 3 test files of the queue were recorded.',
        '- 1 of 3 test files was handed out',
        '- `ballast verify --may-be-empty GLOB` passes if the files below had nothing to run',
      ],
    ],
  ])('gives the count that explains the verdict %s', (_, answer, expected) => {
    const gate = { ...nothingMissing, kind: 'queue', test_files: 3, ...answer } as unknown as ReceivedCompleteness;
    const minutes = { wall: 1, floor: 1, is_running: false, missing_count: 0, verdict: '', files: 3 };
    const none = { slowest: [], missing: [], failed: [], assumptions: [], parts: [], nodes: [] };
    const lines = summaryLines({ ...minutes, ...none } as unknown as BuildMinutes, gate, null);
    expect(lines).toEqual(expect.arrayContaining(expected));
    // A table needs rows.
    expect(lines.join('\n')).not.toContain('where the time went');
  });

  it('names the first ten files that were flaky', () => {
    const flaky = Array.from({ length: 12 }, (_, i) => ({ path: `${i}.js`, node_indexes: [0] }));
    const gate = {
      ...nothingMissing,
      kind: 'queue',
      is_complete: true,
      test_files: 12,
      recorded: 12,
      flaky,
    } as unknown as ReceivedCompleteness;
    const minutes = { wall: 1, floor: 1, is_running: false, missing_count: 0, verdict: '', files: 12 };
    const none = { slowest: [], missing: [], failed: [], assumptions: [], parts: [], nodes: [] };
    const lines = summaryLines({ ...minutes, ...none } as unknown as BuildMinutes, gate, null);
    const at = lines.indexOf('**Flaky**: 12 test files');
    expect(lines.slice(at + 2)).toEqual([...flaky.slice(0, 10).map(({ path }) => `- \`${path}\``), '- and 2 more']);
  });

  it('says of a build of which only recordings are known that nothing else is', async () => {
    const server = await startServer();
    await record(server, { ...BUILD });
    const { code: exitCode, stdout } = await summary(server, '--build-id', 'any');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('2 test files were recorded. It is not known whether others were planned.');
    expect(stdout).toMatch(/^<sub>.*<\/sub>$/m);
  });

  it('says what differs from what is usual, what it cost, and where the comparison is', async () => {
    const server = await startServer();
    await changeSettings(server.store.access, 1, { price: '0.6 USD' });
    // A build of two nodes, each of which records its file at its end.
    const times = [10, 10, 10, 90];
    for (const [i, seconds] of times.entries()) {
      for (const [node_index, path] of ['a_spec.rb', 'b_spec.rb'].entries()) {
        const test_files = timedTestFiles({ [path]: node_index === 0 ? 10 : seconds });
        await record(server, { ...BUILD, commit_hash: `c${i}`, node_index, test_files });
      }
      await server.service.summarize();
    }
    const { stdout } = await run(server, '--commit-hash', 'c3', '--branch', 'main', '--newest');
    const [title, , , , usual] = stdout.split('\n');
    expect(title).toBe('### Tests: 90 s (\\$1.00)');
    expect(usual).toMatch(
      /^8\d s longer than usual: `b_spec\.rb` \+8\d s.*\. The median of 3 builds of main is 10 s, and all took less\. \[Compare\]\(<http/,
    );
    expect(usual).toContain(`${server.url}/p/default/builds/`);
  });

  it('links the CI job of the node that ended last', async () => {
    const { server } = await ranBuild();
    const project = (await server.store.access.projects())[0]!.id;
    await changeSettings(server.store.access, project, { job_url: 'https://ci.example.com/{branch}/(a)[b]/*{node_index}*?run={ci_run}' });
    const { stdout } = await summary(server, '--build-id', '7');
    expect(stdout).toContain('\n\n[Job of node 1](<https://ci.example.com/main/(a)[b]/*1*?run=7>), which ended last\n\n');
  });

  it('links no page that an answer has no address of', () => {
    const minutes = { wall: 1, floor: 1, is_running: false, missing_count: 0, verdict: '', files: 3 };
    const none = { slowest: [], missing: [], failed: [], assumptions: [], parts: [] };
    const linesOf = (nodes?: object[]) => summaryLines({ ...minutes, ...none, nodes } as unknown as BuildMinutes, null, null).join('\n');
    for (const job_url of [null, undefined, '', 'javascript:alert(1)', 'https://'])
      expect(linesOf([{ node_index: 0, end: 1, job_url }])).not.toContain('Job of');
    expect(linesOf()).not.toContain('Job of');
    expect(
      linesOf([
        { node_index: 0, end: null, job_url: 'https://ci/0' },
        { node_index: 1, end: 1, job_url: 'https://ci/?<a>|#>\\' },
      ]),
    ).toContain('[Job of node 1](<https://ci/?%3Ca%3E%7C#%3E%5C>), which ended last');
  });

  it('prints one JSON object', async () => {
    const { server } = await ranBuild();
    const { stdout } = await summary(server, '--build-id', '7', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ wall: 40, floor: 40, nodes: [{}, {}], completeness: { is_complete: true } });
  });

  it('finds an earlier CI run of the build by its id, and a build by the id that the server gave it', async () => {
    const { server } = await ranBuild();
    await startSplit(server, ['a_spec.rb'], { ...BUILD, ci_build_id: '8', fixed_test_suite_split: false });
    expect((await summary(server, '--build-id', '7')).stdout).toContain('### Tests: 40 s\n');
    const [{ id }] = (await server.get('/v1/builds')).json.data;
    const { stdout } = await run(server, id);
    expect(stdout).toContain('so far');
    expect(stdout).toMatch(/^\*\*Running\*\*: 0 of 1 test file were recorded so far\.$/m);
    // Nothing of a node that is at work is missing, and no part of a build that goes on is known.
    expect(stdout).not.toMatch(/retry|Missing|where the time went/);
    const earlier = (await server.get(`/v1/builds/${id}/minutes`)).json.other_ci_runs[0].ci_run_id;
    expect((await run(server, earlier)).stdout).toContain('### Tests: 40 s\n');
  });

  it('finds the CI run in a job that is no node, where the number of nodes is unknown or another one', async () => {
    const { server } = await ranBuild();
    await record(server, { ...BUILD, node_total: 5 });
    const job = { BALLAST_URL: server.url, BALLAST_TOKEN: server.token, GITLAB_CI: 'true', CI_NODE_TOTAL: '1', CI_PIPELINE_ID: '7' };
    const { code: exitCode, stdout } = await runInProcess(['summary', '--commit-hash', 'abc', '--branch', 'main'], job);
    expect([exitCode, stdout.split('\n')[0]]).toEqual([0, '### Tests: 40 s']);
  });

  it('ends with 1 if the server does not know the build or its CI run', async () => {
    expect(await summary(await startServer(), '--newest')).toMatchObject(ended(1, 'nothing of it is recorded yet', ''));
    const { server } = await ranBuild();
    expect(await summary(server, '--build-id', '9')).toMatchObject(ended(1, 'the server knows no queue and no split of the CI run 9'));
    expect(await run(server, '5f0c1d52-7f0b-4a7e-9d3c-2f1f0a6b8c11')).toMatchObject(
      ended(1, 'no build and no CI run with the id 5f0c1d52'),
    );
  });

  it('ends with 2 for wrong usage, and with 3 if the server refuses', async () => {
    const server = await startServer();
    expect(await summary(server, '--newest', '--build-id', '7')).toMatchObject({ code: 2 });
    expect(await run(server, 'x', '--newest')).toMatchObject({ code: 2 });
    expect(await summary(server)).toMatchObject({ code: 2, stderr: expect.stringContaining('--newest') as string });
    expect(await run({ url: server.url, token: 'x'.repeat(40) }, ...FLAGS, '--newest')).toMatchObject({ code: 3 });
  });
});
