import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { imageSettings } from './dockerfile.js';
import { ARCHITECTURES, type Processor } from './node-binary.js';
import { type Contents, tar } from './tar.js';

interface Release {
  version: string;
  commit: string;
  /** When the commit was made, in seconds since 1970. */
  time: number;
  /** The text of the Dockerfile, whose last stage says how the image runs. */
  dockerfile: string;
}

/** What an image for a processor is made of. */
interface Parts {
  processor: Processor;
  /** A folder with a Debian and a busybox. The user and links to programs are added to it. */
  system: string;
  /** The folder with the folder "ballast". */
  server: string;
}

/** What an index and a manifest begin with. */
const INDEX = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.index.v1+json' };
const MANIFEST = { schemaVersion: 2, mediaType: 'application/vnd.oci.image.manifest.v1+json' };
const CONFIG = 'application/vnd.oci.image.config.v1+json';
const LAYER = 'application/vnd.oci.image.layer.v1.tar+gzip';

/** Folders that belong to the user of the server. */
const OWN_FOLDERS = ['data', 'snapshots', 'tmp'];
/** Programs of busybox that people use in a container. */
const PROGRAMS = 'cat chmod cp date df dirname du env find grep head id kill ls mkdir mv ps readlink rm sh sleep tail tar top vi'.split(
  ' ',
);

/**
 * Makes an image of the server for several processors without a daemon: an OCI archive, which Docker without a store of containerd loads, too.
 * The same parts give the same bytes. Needs GNU tar and gzip.
 */
export function makeImage(archive: string, release: Release, parts: readonly Parts[]): void {
  const made = mkdtempSync(join(tmpdir(), 'ballast-image-'));
  try {
    const [layout, own] = [join(made, 'layout'), join(made, 'own')];
    const blobs = new Blobs(layout, release.time);
    for (const name of OWN_FOLDERS) mkdirSync(join(own, name), { recursive: true });
    const labels = {
      'org.opencontainers.image.title': 'Ballast',
      'org.opencontainers.image.description': 'Self-hosted test-suite splitting and timing service for parallel CI nodes',
      'org.opencontainers.image.version': release.version,
      'org.opencontainers.image.revision': release.commit,
      'org.opencontainers.image.licenses': 'MIT',
    };
    const images = parts.map(each => putImage(blobs, release, labels, own, each));
    const manifests = images.map(({ manifest, platform }) => ({ ...manifest, platform }));
    const index = blobs.put(INDEX.mediaType, { ...INDEX, manifests, annotations: labels });
    const names = {
      'org.opencontainers.image.ref.name': release.version,
      'io.containerd.image.name': `docker.io/library/ballast:${release.version}`,
    };
    blobs.write('oci-layout', { imageLayoutVersion: '1.0.0' });
    blobs.write('index.json', { ...INDEX, manifests: [{ ...index, annotations: names }] });
    // Docker without a store of containerd reads this list, which knows no processors: the first one has the name that people use.
    blobs.write(
      'manifest.json',
      images.map(({ config, layers, platform }, i) => ({
        Config: pathOf(config),
        RepoTags: ['', `-${platform.architecture}`].slice(Math.min(i, 1)).map(end => `ballast:${release.version}${end}`),
        Layers: layers.map(pathOf),
      })),
    );
    tar(archive, { folder: layout, names: readdirSync(layout), time: release.time });
  } finally {
    rmSync(made, { recursive: true });
  }
}

/** Puts an image in three layers: Debian, the server, and the folders that belong to its user. @param own has these folders */
function putImage(blobs: Blobs, { time, dockerfile }: Release, labels: object, own: string, { processor, system, server }: Parts) {
  const settings = imageSettings(dockerfile);
  const [uid, gid] = settings.User.split(':').map(Number) as [number, number];
  addUser(system, uid, gid);
  const put = [
    blobs.putLayer({ folder: system, names: readdirSync(system) }),
    blobs.putLayer({ folder: server, names: ['ballast'] }),
    blobs.putLayer({ folder: own, names: OWN_FOLDERS, owner: uid, mode: '0700' }),
  ];
  const layers = put.map(({ layer }) => layer);
  const platform = { architecture: ARCHITECTURES[processor], os: 'linux' };
  const config = blobs.put(CONFIG, {
    ...platform,
    created: new Date(time * 1000).toISOString(),
    config: { ...settings, Labels: labels },
    rootfs: { type: 'layers', diff_ids: put.map(({ diffId }) => diffId) },
  });
  const manifest = blobs.put(MANIFEST.mediaType, { ...MANIFEST, config, layers, annotations: labels });
  return { platform, config, layers, manifest };
}

/** A blob as others refer to it. */
interface Descriptor {
  mediaType: string;
  digest: string;
  size: number;
}

/** The files of an OCI image layout, which are named by their digests. */
class Blobs {
  constructor(
    readonly folder: string,
    private readonly time: number,
  ) {
    mkdirSync(join(folder, 'blobs/sha256'), { recursive: true });
  }

  write(name: string, value: object): void {
    writeFileSync(join(this.folder, name), JSON.stringify(value));
  }

  put(mediaType: string, value: object): Descriptor {
    this.write('value', value);
    return this.move(mediaType, 'value');
  }

  putLayer(contents: Omit<Contents, 'time'>): { layer: Descriptor; diffId: string } {
    const path = join(this.folder, 'layer');
    tar(path, { ...contents, time: this.time });
    const diffId = digestOf(readFileSync(path));
    execFileSync('gzip', ['-n', '-9', path]);
    return { layer: this.move(LAYER, 'layer.gz'), diffId };
  }

  private move(mediaType: string, name: string): Descriptor {
    const bytes = readFileSync(join(this.folder, name));
    const digest = digestOf(bytes);
    const blob = { mediaType, digest, size: bytes.length };
    renameSync(join(this.folder, name), join(this.folder, pathOf(blob)));
    return blob;
  }
}

function digestOf(bytes: Buffer): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** The place of a blob in the archive. */
function pathOf({ digest }: Descriptor): string {
  return `blobs/${digest.replace(':', '/')}`;
}

/** Adds the user of the server to a Debian, and links to programs. */
function addUser(system: string, uid: number, gid: number): void {
  writeFileSync(join(system, 'etc/passwd'), `root:x:0:0:root:/root:/bin/sh\nballast:x:${uid}:${gid}::/data:/bin/sh\n`);
  writeFileSync(join(system, 'etc/group'), `root:x:0:\nballast:x:${gid}:\n`);
  writeFileSync(join(system, 'etc/nsswitch.conf'), 'hosts: files dns\n');
  for (const program of PROGRAMS) symlinkSync('busybox', join(system, 'usr/bin', program));
}
