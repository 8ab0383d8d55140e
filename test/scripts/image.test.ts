import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { imageSettings } from '../../scripts/release/dockerfile.js';
import { makeImage } from '../../scripts/release/image.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

const dockerfile = readFileSync(fileURLToPath(new URL('../../../scripts/deploy/Dockerfile', import.meta.url)), 'utf8');
const release = { version: '1.2.3', commit: 'c0ffee', time: 1_800_000_000, dockerfile };
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');

/** Folders as for a processor, with a file each. */
function partsOf(processor: 'x64' | 'arm64') {
  const [system, server] = [temporaryFolder(afterAll), temporaryFolder(afterAll)];
  for (const path of [join(system, 'usr/bin/busybox'), join(system, 'etc/os-release'), join(server, 'ballast/ballast')]) {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, processor);
  }
  return { processor, system, server };
}

function make(): string {
  const archive = join(temporaryFolder(afterAll), 'image.tar');
  makeImage(archive, release, [partsOf('x64'), partsOf('arm64')]);
  return archive;
}

describe('the image of a release', () => {
  let archive: string;
  let layout: string;
  beforeAll(() => {
    archive = make();
    layout = temporaryFolder(afterAll);
    execFileSync('tar', ['-xf', archive, '-C', layout]);
  });
  interface Descriptor {
    digest: string;
    size: number;
    platform: object;
  }
  const json = (path: string) => JSON.parse(readFileSync(join(layout, path), 'utf8'));
  const blob = ({ digest, size }: Descriptor) => {
    const bytes = readFileSync(join(layout, 'blobs', digest.replace(':', '/')));
    expect([`sha256:${sha256(bytes)}`, bytes.length]).toEqual([digest, size]);
    return bytes;
  };
  const read = (descriptor: Descriptor) => JSON.parse(blob(descriptor).toString());
  const list = (layer: Buffer) => execFileSync('tar', ['-tvz', '--numeric-owner'], { input: layer, encoding: 'utf8' });

  it('has the same bytes if it is made twice', () => {
    expect(sha256(readFileSync(make()))).toBe(sha256(readFileSync(archive)));
  });

  it('has an image for each processor, whose digests are those of its blobs, and which runs as the Dockerfile says', () => {
    expect(json('oci-layout')).toEqual({ imageLayoutVersion: '1.0.0' });
    const { manifests } = read(json('index.json').manifests[0]);
    expect(manifests.map(({ platform }: Descriptor) => platform)).toEqual([
      { architecture: 'amd64', os: 'linux' },
      { architecture: 'arm64', os: 'linux' },
    ]);
    for (const manifest of manifests as Descriptor[]) {
      const { config, layers } = read(manifest);
      const { config: settings, rootfs, architecture } = read(config);
      expect({ architecture, os: 'linux' }).toEqual(manifest.platform);
      expect(rootfs.diff_ids).toEqual(layers.map((layer: Descriptor) => `sha256:${sha256(gunzipSync(blob(layer)))}`));
      expect(settings).toMatchObject(imageSettings(dockerfile));
      expect(settings.Labels).toMatchObject({ 'org.opencontainers.image.version': '1.2.3', 'org.opencontainers.image.revision': 'c0ffee' });
    }
  });

  it('has programs that belong to root, and folders that belong to its user alone', () => {
    const [manifest] = read(json('index.json').manifests[0]).manifests;
    const [system, server, own] = read(manifest).layers.map((layer: Descriptor) => list(blob(layer))) as [string, string, string];
    expect(system).toMatch(/^l\S+ 0\/0 .* usr\/bin\/sh -> busybox$/m);
    expect(server).toMatch(/^-rw-r--r-- 0\/0 .* ballast\/ballast$/m);
    expect(own.trim().split('\n')).toEqual(
      ['data', 'snapshots', 'tmp'].map(name => expect.stringMatching(new RegExp(`^drwx------ 1000/1000 .* ${name}/$`))),
    );
  });

  it('has the name that people use for the first processor where Docker knows no processors', () => {
    expect(json('manifest.json').map(({ RepoTags }: { RepoTags: string[] }) => RepoTags)).toEqual([
      ['ballast:1.2.3', 'ballast:1.2.3-amd64'],
      ['ballast:1.2.3-arm64'],
    ]);
  });
});

describe('the settings of a Dockerfile', () => {
  it('are those of its last stage', () => {
    expect(imageSettings(dockerfile)).toMatchObject({
      User: '1000:1000',
      WorkingDir: '/ballast',
      ExposedPorts: { '8080/tcp': {} },
      Volumes: { '/data': {} },
      Entrypoint: ['ballast'],
      Cmd: ['serve'],
      Healthcheck: { Interval: 10e9, Timeout: 3e9, StartPeriod: 5e9, Retries: 3 },
    });
    expect(imageSettings(dockerfile).Env).toContain('BALLAST_DATA_DIR=/data');
    expect(imageSettings(dockerfile).Healthcheck.Test.slice(0, 3)).toEqual(['CMD', 'node', '--no-warnings']);
  });

  it('cannot be read where an instruction is missing', () => {
    expect(() => imageSettings(dockerfile.replace('USER', '# USER'))).toThrow('the last stage of the Dockerfile has no USER');
  });
});
