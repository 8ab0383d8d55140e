import { createHash } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { said } from '../harness/process.js';
import { startProxy } from '../harness/proxy.js';
import { SharedServer } from '../harness/server.js';
import { temporaryFolder } from '../harness/temporary-folder.js';
import { at } from '../node/ci/repository.js';
import { TestProject, unreachableServer } from './test-project.js';

const shared = new SharedServer();
const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
const CHECKOUT = ['tree', 'tree_doubt', 'proof_keys', 'command_digest'];

/** A server, and what the requests to it tell of checkouts. */
async function overheardServer() {
  const { url, token } = await shared.project();
  const told: { path: string; checkout: object }[] = [];
  const proxy = await startProxy(request => {
    let body = '';
    request.on('data', bytes => (body += bytes));
    request.on('end', () => {
      if (body === '') return;
      const fields = Object.entries(JSON.parse(body) as object).filter(([name]) => CHECKOUT.includes(name));
      told.push({ path: request.url!, checkout: Object.fromEntries(fields) });
    });
    return { url };
  });
  return { url: proxy, token, told };
}

/** A program that is found before Git, or in its place. */
function inPlaceOfGit(script: string): string {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'git'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return `${folder}${delimiter}${process.env.PATH}`;
}

describe.each([
  ['queue', '/v2/queues/queue', ['--', 'sh', 'runner.sh', '{}'], { command_digest: sha256('sh\0runner.sh\0{}\0') }],
  ['split', '/v1/build_distributions/subset', [], {}],
] as const)('ballast %s', (name, path, command, always) => {
  async function run(suite: TestProject, flags: readonly string[] = [], variables: NodeJS.ProcessEnv = {}) {
    const { told, ...server } = await overheardServer();
    expect(await suite.run(server, 0, [name, 'test/*.test.js', '--node-total', '1', ...flags, ...command], variables)).toMatchObject({
      code: 0,
    });
    const [first, second, ...others] = told;
    expect(others.map(({ checkout }) => checkout)).toEqual(others.map(() => ({})));
    expect([first!.path, second]).toEqual([path, first]);
    return first!.checkout;
  }

  function committed() {
    const suite = new TestProject(['test/a.test.js']);
    const repository = at(suite.folder);
    repository.git('init', '-q');
    repository.commit();
    return { suite, repository, tree: repository.git('rev-parse', 'HEAD^{tree}').trim() };
  }

  it('tells the tree that it tests, whether files differ from it, and the command if it has one, with its first two requests', async () => {
    const { suite, repository, tree } = committed();
    expect(await run(suite)).toEqual({ tree, proof_keys: [], ...always });
    repository.write('new.js', '');
    expect(await run(suite)).toEqual({ tree, tree_doubt: 'new.js is not committed', proof_keys: [], ...always });
  });

  it('tells hashes of what else the tests depend on', async () => {
    const { suite, tree } = committed();
    const keys = ['node 22', 'ubuntu-24.04'].map(sha256).sort();
    expect(await run(suite, ['--proof-key', 'node 22', '--proof-key', 'ubuntu-24.04'])).toEqual({ tree, proof_keys: keys, ...always });
    const variables = { BALLAST_PROOF_KEYS: 'ubuntu-24.04\nnode 22\n' };
    expect(await run(suite, [], variables)).toEqual({ tree, proof_keys: keys, ...always });
    expect(await run(suite, ['--proof-key', 'a'], variables)).toEqual({ tree, proof_keys: [sha256('a')], ...always });
  });

  it('runs if there is no repository, or Git fails, and tells why the tree is not known', async () => {
    const suite = new TestProject(['test/a.test.js']);
    const notARepository = expect.stringContaining('not a git repository') as string;
    expect(await run(suite, ['--proof-key', 'a'])).toEqual({ tree_doubt: notARepository, proof_keys: [sha256('a')], ...always });
    for (const [script, tree_doubt] of [
      ['echo "fatal: no memory" >&2; exit 128', 'no memory'],
      ['kill -9 $$', expect.stringContaining('Command failed: git ') as string],
    ])
      expect(await run(suite, [], { PATH: inPlaceOfGit(script!) })).toEqual({ tree_doubt, proof_keys: [], ...always });
  });

  it('refuses an empty key', async () => {
    const suite = new TestProject(['test/a.test.js']);
    const { code, stderr } = await suite.run(unreachableServer, 0, [name, 'test/*.test.js', '--proof-key', '', ...command]);
    expect({ code, stdout: '', stderr }).toEqual(said(2, 'a proof key is empty: give a text, or leave it out'));
  });
});
