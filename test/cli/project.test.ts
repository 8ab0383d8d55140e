import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { Client } from '../harness/client.js';
import { connect, initialise, pull, record } from '../harness/messages.js';
import { ended, printed, type ServerProcess, said, spawnServer } from '../harness/process.js';
import { runInProcess } from '../harness/run-in-process.js';
import { stubServer } from '../harness/stub-server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const TOKEN_LINE = /^[0-9a-f]{32,}\n$/;
const INVALID = { status: 403, json: { errors: ['invalid test suite token'] } };
const AT = '\\d{4}-\\d\\d-\\d\\dT\\S+Z';

/** Runs commands on a data folder, in this process: a server of the folder needs another one. */
function commandsOn(dataDir: string) {
  return (...args: string[]) => runInProcess([...args, '--data-dir', dataDir]);
}

describe('project and token commands beside a running server', () => {
  let server: ServerProcess;
  let ballast: ReturnType<typeof commandsOn>;
  const dataDir = temporaryFolder(afterAll);
  beforeAll(async () => {
    let kill = () => {};
    server = await spawnServer({ dataDir, end: end => (kill = end) });
    ballast = commandsOn(dataDir);
    return () => kill();
  });
  const createProject = async (name: string) => new Client(server.url, (await ballast('project', 'create', name)).stdout.trim());

  it('take effect at the next request: a project created, a token rotated, the old token revoked', async () => {
    const created = await ballast('project', 'create', 'web shop');
    expect(created).toMatchObject(printed(expect.stringMatching(TOKEN_LINE)));
    const first = new Client(server.url, created.stdout.trim());
    await record(first);

    const rotated = await ballast('token', 'create', 'web shop', '--name', 'the new one');
    expect(rotated).toMatchObject(printed(expect.stringMatching(TOKEN_LINE)));
    const second = new Client(server.url, rotated.stdout.trim());
    expect((await second.get('/v1/builds')).json.data).toHaveLength(1);
    expect((await first.get('/v1/builds')).status).toBe(200);

    const listed = (await ballast('token', 'list', 'web shop')).stdout.split('\n');
    const line = new RegExp(`^([0-9a-f]{12,})\t${AT}\tused ${AT}\tin force\tsecret\t(.*)$`);
    expect(listed.map(text => line.exec(text)?.[2])).toEqual(['', 'the new one', undefined]);
    expect(listed.join()).not.toContain(first.token);
    expect(listed.join()).not.toContain(second.token);

    const id = line.exec(listed[0]!)![1]!;
    expect(await ballast('token', 'revoke', id)).toEqual(said(0, `revoked token ${id}`));
    expect(await first.get('/v1/builds')).toMatchObject(INVALID);
    expect((await second.get('/v1/builds')).json.data).toHaveLength(1);
    expect((await ballast('token', 'list', 'web shop')).stdout).toMatch(
      new RegExp(`^${id}\t${AT}\tused ${AT}\trevoked ${AT}\tsecret\t\n[0-9a-f]+\t${AT}\tused ${AT}\tin force\tsecret\tthe new one\n$`),
    );

    // The token itself works as well as its id. Large requests are refused, too.
    expect((await ballast('token', 'revoke', second.token)).code).toBe(0);
    expect(await second.get('/v1/builds')).toMatchObject(INVALID);
    const body = JSON.stringify({ test_suite_token: second.token, pad: 'x'.repeat(100_000) });
    expect(await server.send('/v1/build_subsets', { method: 'POST', body })).toMatchObject(INVALID);

    expect((await ballast('project', 'list')).stdout).toMatch(new RegExp(`^default\t${AT}\t1 token\nweb shop\t${AT}\t0 tokens\n`));
  });

  it('make public tokens, which lists name, and which go with the project', async () => {
    await createProject('open source');
    const { stdout } = await ballast('token', 'create', 'open source', '--public', '--name', 'of forks');
    const client = new Client(server.url, stdout.trim());
    await record(client);
    expect((await client.get('/v1/builds')).status).toBe(403);
    expect((await ballast('token', 'list', 'open source')).stdout).toMatch(/\tin force\tsecret\t\n.*\tin force\tpublic\tof forks\n$/);
    expect((await ballast('project', 'list')).stdout).toMatch(/\nopen source \(public\)\t.*\t1 token\n$/);
    for (const args of [
      ['project', 'rename', 'open source (public)', 'mine'],
      ['project', 'delete', 'open source (public)', '--confirm', 'open source (public)'],
      ['project', 'settings', 'open source (public)', 'target=60'],
    ])
      expect(await ballast(...args)).toMatchObject({ code: 1, stderr: expect.stringContaining('it is the public side of a project') });
    expect((await ballast('export')).stdout).not.toContain('(public)');
    await ballast('project', 'delete', 'open source', '--confirm', 'open source');
    expect((await ballast('project', 'list')).stdout).not.toContain('open source');
    expect(await client.post('/v1/build_subsets', {})).toMatchObject(INVALID);
  });

  it('rename a project, which keeps its tokens and builds', async () => {
    const project = await createProject('old name');
    await record(project);
    expect(await ballast('project', 'rename', 'old name', 'new name')).toEqual(said(0, 'renamed the project "old name" to "new name"'));
    expect((await project.get('/v1/builds')).json.data).toHaveLength(1);
    expect((await ballast('project', 'list')).stdout).toMatch(/^new name\t/m);
    expect(await ballast('project', 'rename', 'old name', 'any')).toMatchObject(ended(1, 'there is no project "old name"'));
  });

  it('delete a project: its tokens are refused at once, and a new one of the name has none of its builds', async () => {
    const web = await createProject('web');
    await record(web);
    await initialise(web, ['a_spec.rb', 'b_spec.rb', 'c_spec.rb']);

    const loss = 'the project "web", 1 build, all timings, and 1 token in force';
    expect(await ballast('project', 'delete', 'web')).toEqual(said(2, `nobody can be asked here: add --confirm "web" to delete ${loss}`));
    expect(await ballast('project', 'delete', 'web', '--confirm', 'default')).toEqual(
      said(2, 'nothing was deleted: "default" is not the name of the project "web"'),
    );
    expect((await web.get('/v1/builds')).json.data).toHaveLength(1);
    expect(await ballast('project', 'delete', 'web', '--confirm', 'web')).toMatchObject({ code: 0, stdout: '' });

    expect(await pull(web)).toMatchObject(INVALID);
    expect(await web.get('/v1/builds')).toMatchObject(INVALID);
    expect((await ballast('project', 'list')).stdout).not.toMatch(/^web\t/m);
    expect(await ballast('token', 'list', 'web')).toMatchObject({ code: 1 });
    const again = await createProject('web');
    expect((await again.get('/v1/builds')).json.data).toEqual([]);
    expect((await connect(again)).json.code).toBe('ATTEMPT_CONNECT_TO_QUEUE_FAILED');
    expect((await ballast('check')).code).toBe(0);
  });

  it('set the default branch of a project, which is what the builds say until then', async () => {
    const project = await createProject('branches');
    const branch = async (...flags: string[]) => {
      // The list shows what was recorded, so it is in the store.
      await project.get('/v1/builds');
      return ballast('project', 'default-branch', 'branches', ...flags);
    };
    expect(await branch()).toEqual(printed('\n'));
    await record(project, { branch: 'trunk' });
    expect(await branch('--json')).toMatchObject({ stdout: '{"default_branch":"trunk","is_set":false}\n' });
    expect(await branch('--set', 'release')).toEqual(ended(0, 'WARNING: the project has no build of the branch release', 'release\n'));
    await record(project, { branch: 'main', commit_hash: 'c2' });
    expect(await branch('--json')).toMatchObject({ stdout: '{"default_branch":"release","is_set":true}\n' });
    expect((await branch('--unset')).code).toBe(0);
    await record(project, { branch: 'main', commit_hash: 'c3' });
    expect(await branch()).toMatchObject({ stdout: 'main\n' });
    expect(await branch('--set', 'a', '--unset')).toMatchObject({ code: 2 });
    expect(await branch('--set', '')).toMatchObject({ code: 2 });
  });

  it('send a test to the webhook of a project', async () => {
    await createProject('hooked');
    const test = (...args: string[]) => ballast('project', 'webhook-test', 'hooked', ...args);
    expect(await test()).toMatchObject(ended(1, 'project "hooked" has no webhook; set one: '));
    let status = 200;
    const received: string[] = [];
    const url = await stubServer(async (request, response) => {
      received.push(`${request.headers['ballast-event']} ${JSON.parse(await text(request)).project}`);
      response.writeHead(status).end();
    });
    await ballast('project', 'settings', 'hooked', `webhook_url=${url}`);
    expect(await test()).toEqual(said(0, 'the webhook of "hooked" took a test'));
    status = 404;
    expect(await test()).toEqual(said(1, 'the webhook of "hooked" answered with 404'));
    expect(JSON.parse((await test('--json')).stdout)).toEqual({ problem: 'answered with 404' });
    expect(received).toEqual(['test hooked', 'test hooked', 'test hooked']);
  });

  it('print and change the settings of a project', async () => {
    await createProject('settings');
    const settings = (...args: string[]) => ballast('project', 'settings', 'settings', ...args);
    expect(await settings()).toEqual(printed(''));
    expect(await settings('price=0.008 USD', 'target=10m')).toEqual(printed('price=0.008 USD\ntarget=600s\n'));
    expect(await settings('target=')).toEqual(printed('price=0.008 USD\n'));
    expect(JSON.parse((await settings('--json')).stdout)).toMatchObject({ price: { amount: 0.008, currency: 'USD' }, target: null });
    expect(await settings('price')).toMatchObject(ended(2, '"price" is not NAME=VALUE; the settings are price, setup,'));
    expect(await settings('price=cheap')).toMatchObject(ended(1, 'cannot set price to "cheap": it must be an amount above 0'));
    expect(await settings()).toEqual(printed('price=0.008 USD\n'));
    expect(await settings('price=', 'webhook_secret=0123456789abcdef')).toEqual(printed('webhook_secret=(set)\n'));
    expect(JSON.parse((await settings('--json')).stdout)).toMatchObject({ webhook_secret: '(set)' });
  });
});

describe('project and token commands with --json', () => {
  it('print JSON', async () => {
    const ballast = commandsOn(temporaryFolder());
    const json = async (...args: string[]) => JSON.parse((await ballast(...args, '--json')).stdout) as unknown;
    const made = (await json('project', 'create', 'web')) as { id: string; token: string };
    const id12 = expect.stringMatching(/^[0-9a-f]{12}$/) as string;
    const secret = expect.stringMatching(/^[0-9a-f]{32,}$/) as string;
    expect(made).toEqual({ project: 'web', id: id12, token: secret });
    expect(await json('token', 'create', 'web')).toEqual({ project: 'web', name: null, is_public: false, id: id12, token: secret });
    const { id } = (await json('token', 'revoke', made.token)) as { id: string };
    expect(id).toBe(made.id);
    const at = expect.stringMatching(new RegExp(`^${AT}$`)) as string;
    expect(await json('project', 'list')).toEqual([{ name: 'web', created_at: at, default_branch: null, tokens: 1 }]);
    const tokens = (await json('token', 'list', 'web')) as { id: string }[];
    const token = { id: expect.any(String) as string, name: null, is_public: false, created_at: at, used_at: null };
    expect(tokens).toEqual(
      expect.arrayContaining([
        { ...token, revoked_at: null },
        { ...token, revoked_at: at },
      ]),
    );
    expect(tokens.find(token => token.id === id)).toMatchObject({ revoked_at: at });
  });
});

describe('a command that fails', () => {
  it('reports why on stderr, and exits with 1', async () => {
    const ballast = commandsOn(temporaryFolder());
    await ballast('project', 'create', 'one');
    for (const [args, message] of [
      [['project', 'create', 'one'], 'cannot create the project "one": a project of that name exists'],
      [['token', 'create', 'two'], 'there is no project "two"; "project list" shows all, "project create" makes one'],
      [['token', 'revoke', 'nothing'], 'cannot revoke: no token in force has this value or id'],
    ] as const) {
      expect(await ballast(...args)).toEqual(said(1, message));
    }
  });
});

describe('a command on a folder without a store', () => {
  it.each([
    ['project', 'list'],
    ['token', 'list', 'web'],
    ['token', 'create', 'web'],
    ['token', 'revoke', 'abc'],
    ['dashboard', 'link'],
    ['dashboard', 'password'],
    ['dashboard', 'sessions'],
    ['dashboard', 'end', 'abc'],
    ['check'],
    ['export'],
    ['backup', 'there'],
  ])('%s %s reports that, and creates no store', async (...args) => {
    const folder = join(temporaryFolder(), 'mistyped');
    expect(await commandsOn(folder)(...args)).toEqual(
      said(1, `there is no store in ${folder}; name the server's folder with --data-dir or BALLAST_DATA_DIR`),
    );
    expect(existsSync(folder)).toBe(false);
  });
});
