import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { temporaryFolder } from '../../harness/temporary-folder.js';
import { MAIN } from '../../testbed/server.js';

const client = fileURLToPath(new URL('../../../src/ballast.mjs', import.meta.url));
const launch = fileURLToPath(new URL('../../../../scripts/launch.mjs', import.meta.url));

/** Runs a program in a process with a faked version or platform. */
function runOn(faked: { version?: string; platform?: string; arch?: string }, ...args: string[]) {
  const pretend = `
    const { version, ...faked } = ${JSON.stringify(faked)};
    if (version) faked.versions = { ...process.versions, node: version };
    for (const [name, value] of Object.entries(faked)) Object.defineProperty(process, name, { value });`;
  const { status, stdout, stderr } = spawnSync(
    process.execPath,
    ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, ...args],
    { encoding: 'utf8' },
  );
  return { status, stdout, stderr };
}

const needsNode =
  /^ballast: cannot run on Node [12]\d\.\d+\.\d+: Ballast needs Node 20\.12 or later; install Node 24 from https:\/\/nodejs\.org or with "nvm install 24"\n$/;

describe('a Node version', () => {
  it.each(['12.22.12', '20.11.1'])('that is too old (%s) is refused in one line', version => {
    const refusal = { status: 2, stdout: '', stderr: expect.stringMatching(needsNode) as string };
    expect(runOn({ version }, launch, 'dist/src/main.js', '--version')).toEqual(refusal);
    expect(runOn({ version }, MAIN, '--version')).toEqual(refusal);
    expect(runOn({ version }, client, '--version')).toEqual(refusal);
  });

  it('of Ubuntu 22.04 (12) can parse the client: it has no operator that came later', () => {
    expect(readFileSync(client, 'utf8')).not.toMatch(/\?\?=|\|\|=|&&=|\?\?[\w"'(]/);
  });

  it.each(['20.12.0', '31.0.0'])('that is new enough (%s) runs the program', version => {
    expect(runOn({ version }, MAIN, '--version')).toEqual({ status: 0, stdout: expect.stringMatching(/^\d/) as string, stderr: '' });
  });
});

describe('a platform without binaries', () => {
  const needsPlatform = /^ballast: cannot .+ on linux-s390x: .+ Linux or macOS on x64 or arm64; .+\n$/;
  const refusal = { status: 2, stdout: '', stderr: expect.stringMatching(needsPlatform) as string };

  it('is refused in one line if a command needs the server or its data', () => {
    expect(runOn({ arch: 's390x' }, launch)).toEqual(refusal);
    for (const command of [
      ['serve', '--port', '0'],
      ['project', 'list'],
      ['backup', 'there'],
    ]) {
      expect(runOn({ arch: 's390x' }, MAIN, ...command, '--data-dir', temporaryFolder())).toEqual(refusal);
    }
  });

  it('runs the commands of a CI node', () => {
    const flags = '--url http://127.0.0.1:1 --token a --node-total 1 --branch main --commit-hash 1 --build-id 1 --retries 0'.split(' ');
    const { status, stderr } = runOn({ platform: 'win32' }, MAIN, 'split', ...flags, 'README.md');
    expect({ status, stderr }).toEqual({ status: 3, stderr: expect.stringContaining('no answer from POST') as string });
  });
});
