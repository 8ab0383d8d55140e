import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { main } from '../harness/process.js';
import { temporaryFolder } from '../harness/server.js';

const launch = fileURLToPath(new URL('../../../scripts/launch.mjs', import.meta.url));

/** Runs a program of a Node that says so of itself. */
function runOn({ version, platform, arch }: { version?: string; platform?: string; arch?: string }, ...args: string[]) {
  const pretend = `
    const { versions } = process;
    const set = (name, value) => value && Object.defineProperty(process, name, { value });
    set('versions', ${JSON.stringify(version ?? '')} && { ...versions, node: ${JSON.stringify(version ?? '')} });
    set('platform', ${JSON.stringify(platform ?? '')});
    set('arch', ${JSON.stringify(arch ?? '')});`;
  const { status, stdout, stderr } = spawnSync(process.execPath, ['--import', `data:text/javascript,${encodeURIComponent(pretend)}`, ...args], { encoding: 'utf8' });
  return { status, stdout, stderr };
}

const needsNode = /^ballast: this is Node [12]\d\.\d+\.\d+, and Ballast needs Node 20 \(from 20\.12\), 22, 24 or 26: get one from https:\/\/nodejs\.org, or by "nvm install 24"\n$/;

describe('a Node', () => {
  it.each(['12.22.12', '18.20.8', '20.11.1'])('that is too old (%s) is refused in a line', version => {
    for (const program of [[launch, 'dist/src/main.js', '--version'], [main, '--version']]) {
      expect(runOn({ version }, ...program)).toEqual({ status: 2, stdout: '', stderr: expect.stringMatching(needsNode) as string });
    }
  });

  it.each(['20.12.0', '21.0.0', '22.0.0', '24.0.0', '26.10.0', '31.0.0'])('that is new enough (%s) is not', version => {
    expect(runOn({ version }, main, '--version')).toEqual({ status: 0, stdout: expect.stringMatching(/^\d/) as string, stderr: '' });
  });
});

describe('a platform without binaries', () => {
  const needsPlatform = /^ballast: this is linux on s390x, and .+ Linux or macOS on x64 or arm64: .+\n$/;
  const refusal = { status: 2, stdout: '', stderr: expect.stringMatching(needsPlatform) as string };

  it('is refused in a line where the server or its data are wanted', () => {
    expect(runOn({ arch: 's390x' }, launch)).toEqual(refusal);
    for (const command of [['serve', '--port', '0'], ['project', 'list'], ['backup', 'there']]) {
      expect(runOn({ arch: 's390x' }, main, ...command, '--data-dir', temporaryFolder())).toEqual(refusal);
    }
  });

  it('is good enough for a CI node', () => {
    const { status, stderr } = runOn({ platform: 'win32' }, main, 'split', '--url', 'http://127.0.0.1:1', '--token', 'a', '--node-total', '1', '--node-index', '0', '--branch', 'main', '--commit-hash', '1', '--build-id', '1', '--retries', '0', 'README.md');
    expect({ status, stderr }).toEqual({ status: 3, stderr: expect.stringContaining('no answer from POST') as string });
  });
});
