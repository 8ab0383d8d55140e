import { copyFileSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { manyPaths, pathsIn, startSplit } from '../harness/messages.js';
import { ended, printed } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { SharedServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { fixturePath } from '../node/reports/fixture.js';
import { fetchBuilds, fetchEstimates, runImport, writeReport } from './run-import.js';

const shared = new SharedServer();

describe('ballast import of reports', () => {
  it('balances the first split of any branch', async () => {
    const server = await shared.project();
    const seconds = Object.fromEntries(manyPaths(60).map((path, i) => [path, 1 + ((i * 37) % 60) ** 2 / 10]));
    const outcome =
      /: knapsack\nimported 60 test files, 7081\.0 s \(longest 349\.1 s: \S+\), as commit import-[0-9a-f]{12} of branch main\n$/;
    expect(await runImport(server, writeReport(seconds))).toEqual(printed(expect.stringMatching(outcome)));
    const nodes = await Promise.all(
      [0, 1, 2, 3].map(node_index => startSplit(server, Object.keys(seconds), { branch: 'feature', node_total: 4, node_index })),
    );
    const spans = nodes.map(answer => pathsIn(answer).reduce((sum, path) => sum + seconds[path]!, 0));
    expect(Math.max(...spans) / (7081 / 4)).toBeLessThan(1.001);
  });

  it('takes files of several formats at once, and adds up the times of each file', async () => {
    const server = await shared.project();
    const formats = { 'test_durations.json': 'pytest-split', 'knapsack_rspec_report.json': 'knapsack', 'rspec.xml': 'junit' };
    const names = Object.keys(formats);
    const { code, stdout } = await runImport(server, ...names.map(fixturePath), '--root', '/home/ci/app', '--json');
    expect(code).toBe(0);
    const outcome = JSON.parse(stdout) as { files: { format: string }[]; test_files: number; skipped: { count: number }[] };
    expect(outcome).toMatchObject({ builds: 1, runs: 1, known_runs: 0, test_files: 6, dry_run: false });
    expect(outcome.skipped).toMatchObject([{ reason: 'it took 0 s: it was not run', count: 1 }]);
    expect(outcome.files.map(({ format }) => format)).toEqual(Object.values(formats));
    // 41.53127861022949 s from knapsack and 0.170151 s from JUnit.
    const estimates = await fetchEstimates(server, ['spec/models/cart_spec.rb', 'tests/test_cart.py']);
    expect(estimates['spec/models/cart_spec.rb']).toBeCloseTo(41.7014, 3);
    expect(estimates['tests/test_cart.py']).toBeCloseTo(1.7515, 4);
  });

  it('reads decimal commas, and names times that it cannot read', async () => {
    const server = await shared.project();
    const xml = writeReport('<testsuite><testcase file="a.py" time="0,160"/><testcase file="b.py" time="soon"/></testsuite>', 'x.xml');
    const { code, stdout, stderr } = await runImport(server, xml, '--json');
    expect(code).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ test_files: 1, skipped: [{ reason: 'its time cannot be read', examples: ['b.py'] }] });
    expect(stderr).toContain(`WARNING: ${xml}: 1 time in it cannot be read, such as "soon": `);
    expect(await fetchEstimates(server, ['a.py'])).toEqual({ 'a.py': 0.16 });
  });

  it('takes a token and an address with a line break at their ends', async () => {
    const server = await shared.project();
    const { url, token } = server;
    expect(await runImport({ url: `${url}\n`, token: `${token}\n` }, writeReport({ 'a_spec.rb': 10 }))).toMatchObject({ code: 0 });
    expect(await fetchEstimates(server, ['a_spec.rb'])).toEqual({ 'a_spec.rb': 10 });
  });

  it('changes nothing if it is repeated, and follows newer timings', async () => {
    const server = await shared.project();
    const first = writeReport({ 'a_spec.rb': 10, 'b_spec.rb': 5 });
    await runImport(server, first);
    expect((await runImport(server, first)).stdout).toMatch(/: knapsack\n1 run was there already, and stays as it is\n$/);
    expect((await fetchBuilds(server)).map(({ runs }) => runs.length)).toEqual([1]);
    await runImport(server, writeReport({ 'a_spec.rb': 14, 'b_spec.rb': 5 }));
    const { 'a_spec.rb': a } = await fetchEstimates(server, ['a_spec.rb']);
    expect(a).toBeGreaterThan(12);
    expect(a).toBeLessThanOrEqual(14);
  });

  it('keeps test cases with --cases, and adds them up for the file', async () => {
    const server = await shared.project();
    const { stdout } = await runImport(
      server,
      fixturePath('test_durations.json'),
      '--cases',
      '--commit-hash',
      'abc',
      '--branch',
      'develop',
    );
    expect(stdout).toMatch(
      /\nimported 4 test cases, 4\.5 s \(longest 2\.8 s: \S+\), as commit abc of branch develop\nleft out 1: it took 0 s: it was not run \(tests\/web\/test_skipped\.py::test_never\)\n$/,
    );
    expect(await fetchEstimates(server, ['tests/test_cart.py'])).toEqual({ 'tests/test_cart.py': 1.7515 });
  });

  it('divides what does not fit into one request among nodes of one build', async () => {
    const server = await shared.project();
    // More than 8 MiB of paths, as the bound of a request counts them.
    const cases = Object.fromEntries(Array.from({ length: 750 }, (_, i) => [`test/a.py::test_${i}_${'x'.repeat(4000)}`, 1]));
    const { stdout } = await runImport(server, writeReport(cases), '--cases', '--json');
    expect(JSON.parse(stdout)).toMatchObject({ builds: 1, runs: 2, test_files: 750 });
    expect((await server.get('/v1/builds')).json.data).toMatchObject([{ node_total: 2 }]);
    expect(JSON.parse((await runImport(server, writeReport(cases), '--cases', '--json')).stdout)).toMatchObject({ runs: 0, known_runs: 2 });
  });

  it('records nothing in a dry run, which needs no server; takes the paths from a list of test files', async () => {
    const list = writeReport('app/spec/models/cart_spec.rb\napp/spec/user_spec.rb\n');
    const none = { BALLAST_URL: '', BALLAST_TOKEN: '' };
    const outcome = 'would import 2 test files, 0.2 s (longest 0.2 s: app/spec/models/cart_spec.rb), ';
    expect(await runInProcess(['import', '--dry-run', fixturePath('rspec.xml'), '--files-from', list], none)).toEqual(
      printed(expect.stringContaining(outcome)),
    );
  });

  it('imports nothing if a file cannot be read, and reports where it fails', async () => {
    const server = await shared.project();
    const good = fixturePath('rspec.xml');
    const missing = join(temporaryFolder(), 'nothing.xml');
    const cut = writeReport('{\n"a_spec.rb": 1,\n"b_spec.rb"');
    const zip = writeReport('PK\x03\x04...');
    const xml = writeReport('<testsuites>\n<testsuite>\n</testsuites>');
    const utf16 = writeReport('');
    writeFileSync(utf16, Buffer.from('\uFEFF{"a_spec.rb": 1}', 'utf16le'));
    for (const [file, message] of [
      [missing, `cannot read ${missing}: there is no such file`],
      [cut, `cannot read ${cut} as knapsack: line 3: unexpected end of file; nothing was imported`],
      [zip, `${zip} is a zip archive: unpack it first`],
      [xml, `cannot read ${xml} as junit: it is not well-formed XML: line 3: `],
      [utf16, `${utf16} is UTF-16: save it as UTF-8`],
      [writeReport('hello', 'x.txt'), 'begins with "hello": name it with --format (junit, trx, pytest-split, '],
      [writeReport(' ', 'x.txt'), 'cannot detect the format of '],
      [writeReport('', 'x.txt'), ' is empty: there are no timings in it'],
      [temporaryFolder(), ' is a folder: name the files in it ('],
    ] as const)
      expect(await runImport(server, good, file)).toEqual(ended(1, message, ''));
    expect(await runImport(server, fixturePath('jest.json'))).toMatchObject(
      ended(1, /: name the folder .* with --root \(all of them are below \/home\/ci\/app\/src\); nothing was imported\n$/),
    );
    expect(await runImport(server, writeReport({ 'a_spec.rb': 0 }))).toMatchObject(
      ended(1, /there are no timings of test files in .* \(knapsack\); left out 1: it took 0 s: it was not run \(a_spec\.rb\)\n$/),
    );
    expect((await server.get('/v1/builds')).json.data).toEqual([]);
  });

  it('reports flags that cannot be combined', async () => {
    const none = { BALLAST_URL: '', BALLAST_TOKEN: '', BALLAST_FROM_TOKEN: '' };
    for (const [args, message] of [
      [[], 'ballast: name the files to import, or another server with --from\n'],
      [['a.xml'], '--dry-run only reads\n'],
      [['a.xml', '--from', 'http://x', '--dry-run'], '--from needs --from-token'],
      [['--from', 'http://me:secret@x', '--from-token', 'y', '--dry-run'], '--from http://***@x is not an address'],
      [['--from', 'nonsense', '--from-token', 'x', '--dry-run'], '--from nonsense is not an address such as https://ballast.example.com'],
      [
        ['--from', 'http://127.0.0.1', '--from-token', '3f0c…', '--dry-run'],
        '--from-token has characters that no token has: check that it was copied completely and without other text',
      ],
      [['a.xml', '--dry-run', '--builds', '3'], '--builds needs --from'],
      [
        ['a.xml', '--format', 'nunit'],
        'Allowed choices are junit, trx, pytest-split, knapsack, parallel-tests, cypress-split, playwright, jest, vitest, rspec, mocha, go-test, dart-test, ctrf, ballast.',
      ],
      [['--builds', 'many'], 'It must be a whole number of builds.'],
      [['--from', 'http://x', '--from-token', 'y', '--dry-run', '--builds', '0'], '--builds 0 imports nothing'],
    ] as const)
      expect(await runInProcess(['import', ...args], none)).toMatchObject(ended(2, message));
  });

  it('reads a file by --format, whatever its name, and only once if it is named twice', async () => {
    const server = await shared.project();
    const file = join(temporaryFolder(), 'odd name');
    copyFileSync(fixturePath('parallel_runtime_rspec.log'), file);
    writeFileSync(file, `\n\n${readFileSync(file, 'utf8')}`);
    expect((await runImport(server, file, join(dirname(file), '*'), '--format', 'parallel-tests')).stdout).toContain(
      'imported 3 test files, 62.1 s (',
    );
  });
});
