import type { RequestListener } from 'node:http';
import { text } from 'node:stream/consumers';
import { describe, expect, it } from 'vitest';
import { digestOfList } from '../../src/protocol/list-digest.js';
import { nothingMissing } from '../harness/completeness.js';
import { ended } from '../harness/process.js';
import { answerWith } from '../harness/proxy.js';
import { runInProcess } from '../harness/run-in-process.js';
import { runImport, writeReport } from './run-import.js';
import { BUILD, TestProject } from './test-project.js';

/** Starts a server that is not a Ballast server. */
async function startStrange(
  answer: (...exchange: [...Parameters<RequestListener>, body: string]) => void,
): Promise<{ url: string; token: string }> {
  const url = await answerWith((request, response) => void text(request).then(body => answer(request, response, body)));
  return { url, token: 'secret' };
}

const REPORT = '<testsuites><testsuite><testcase name="x" file="test/a.js" time="1"/></testsuite></testsuites>';

describe('a server that answers 200 {} to everything', () => {
  it('is refused by every command', async () => {
    const server = await startStrange((_, response) => response.end('{}'));
    const suite = new TestProject(['test/a.js', 'test/b.js']);
    const report = writeReport(REPORT);
    const commands = [['queue', 'test/*.js', ...suite.runner], ['split', 'test/*.js'], ['record', report], ['verify'], ['import', report]];
    const runs = await Promise.all(commands.map(args => suite.run(server, 0, args)));
    const refused = {
      code: 3,
      stdout: '',
      stderr: expect.stringMatching(
        /^ballast: .*(GET|POST) http:\S+ was not answered by a server of Ballast's protocol: status 200, "\{\}"; .*\n$/,
      ) as string,
    };
    expect(runs).toEqual(commands.map(() => refused));
    expect(suite.ran).toEqual([]);
  });
});

it('a server that hands out one batch again and again does not keep a node forever', async () => {
  const server = await startStrange((request, response, body) => {
    if (request.url !== '/v2/queues/queue') return response.writeHead(201).end();
    const { node_uuid, batch_index } = JSON.parse(body) as Record<string, unknown>;
    return response.end(JSON.stringify({ paths: ['test/a.js'], batch_id: 0, times: [null], node_uuid, batch_index }));
  });
  const suite = new TestProject(['test/a.js']);
  expect(await suite.run(server, 0, ['queue', 'test/*.js', ...suite.runner])).toEqual(
    ended(3, /\nballast: the server handed out test\/a\.js 4 times to this node, which ran .*\nballast: recorded 1 test file, /, ''),
  );
  expect(suite.ran).toEqual(['test/a.js', 'test/a.js', 'test/a.js']);
});

describe('ballast import', () => {
  it('follows no redirect: no other server gets the token, and a login page records nothing', async () => {
    const elsewhere: string[] = [];
    const other = await startStrange((request, response) => {
      elsewhere.push(request.method!);
      response.end('<html>Log in</html>');
    });
    const redirecting = await startStrange((_, response) => response.writeHead(302, { Location: `${other.url}/login` }).end());
    const file = writeReport(REPORT);
    expect(await runImport(redirecting, file)).toEqual(
      ended(3, `was answered with 302, a redirect to ${other.url}/login: give that address instead`, ''),
    );
    expect((await runImport(redirecting, '--from', redirecting.url, '--from-token', 'theirs')).code).toBe(3);
    expect(elsewhere).toEqual([]);
  });

  it('does not count a run that the server did not store', async () => {
    const server = await startStrange((request, response) =>
      request.method === 'GET' ? response.end('{"data":[]}') : response.writeHead(202).end('{"message":"too many"}'),
    );
    const { code, stdout } = await runImport(server, writeReport(REPORT), '--json');
    expect({ code, ...(JSON.parse(stdout) as object) }).toMatchObject({
      code: 0,
      runs: 0,
      test_files: 0,
      skipped: [{ reason: 'the server keeps no more runs of the node', count: 1 }],
    });
  });
});

describe('ballast record', () => {
  it('prints the message of the server if the run was not stored', async () => {
    const server = await startStrange((_, response) => response.writeHead(202).end('{"message":"retried too often\\u009b2J"}'));
    const suite = new TestProject(['test/a.js']);
    const { code, stdout, stderr } = await suite.run(server, 0, ['record', writeReport(REPORT), '--json']);
    expect({ code, stderr }).toEqual({ code: 0, stderr: 'ballast: retried too often\\u009b2J\n' });
    expect(JSON.parse(stdout)).toMatchObject({ test_files: [] });
  });
});

describe('text with control characters', () => {
  const hostile = 'x\x1b[2J\x9b31m\u202e';
  const shown = 'x\\u001b[2J\\u009b31m\\u202e';

  it('from a server is escaped for the terminal', async () => {
    const answer = {
      ...nothingMissing,
      is_complete: false,
      kind: 'queue',
      test_files: 1,
      recorded: 0,
      errors: [hostile],
      warnings: [hostile],
      never_handed_out: [{ path: hostile }],
      recorded_without_time: [{ path: hostile, node_index: 0 }],
    };
    const server = await startStrange(({ url }, response) => {
      const about = Object.fromEntries(new URL(url!, 'http://x').searchParams);
      response.writeHead(409).end(JSON.stringify({ ...answer, about }));
    });
    const flags = ['--commit-hash', 'c', '--branch', 'b', '--node-total', '1', '--node-build-id', '1', '--url', server.url, '--token', 't'];
    const [plain, json] = await Promise.all([runInProcess(['verify', ...flags]), runInProcess(['verify', ...flags, '--json'])]);
    expect(plain.stdout.split('\n').slice(1)).toEqual([
      `error: ${shown}`,
      `  ${shown}  (never handed out)`,
      `warning: ${shown}`,
      `  ${shown}  (recorded with a time of 0)`,
      '',
    ]);
    expect(json.stdout).toContain(`"errors":["${shown}"]`);
    expect(JSON.parse(json.stdout)).toMatchObject({ ...answer, about: { commit_hash: 'c' } });
  });

  it('from files and arguments is escaped, too; a list of paths is printed unchanged', async () => {
    const run = (...args: string[]) => runInProcess(args, { BALLAST_URL: '', BALLAST_TOKEN: '' });
    const file = writeReport('{"a.js": 1', hostile);
    const [unreadable, option] = await Promise.all([run('import', '--dry-run', file), run('import', `--${hostile}`)]);
    expect(unreadable.stderr).toContain(`${shown} as knapsack: `);
    expect(option).toMatchObject(ended(2, /^error: unknown option '--x\\u001b\[2J\\u009b31m\\u202e'\n/));
    const server = await startStrange((_, response) =>
      response.end(
        JSON.stringify({
          build_distribution_id: 'id',
          node_index: 0,
          test_files_digest: digestOfList([hostile]),
          test_files: [{ path: hostile, time_execution: null }],
        }),
      ),
    );
    const suite = new TestProject([]);
    const listed = await suite.run(server, 0, ['split', '-'], { BALLAST_NODE_TOTAL: String(BUILD.node_total) }, `${hostile}\n`);
    expect(listed).toEqual({ code: 0, stdout: `${hostile}\n`, stderr: '' });
  });
});
