import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ARCHITECTURES, type Processor } from './node-binary.js';

/** The packages of Debian 13 that Node and the image need, and their digests. A package needs no other one that is not here. */
const PACKAGES: Record<string, Record<Processor, string>> = {
  'b/base-files/base-files_13.8+deb13u8': {
    x64: 'f5a0546098f38bad5843380521781fe7214e5a283d3bed63f79c505545f262af',
    arm64: '893616b7ce203a05a0528652f7d754cc5e3de7e8eff3b396f95383a5b8b1c668',
  },
  'b/busybox/busybox-static_1.37.0-6+b9': {
    x64: '598a3fd92bdafc34cd81196b2952ad36e910e47a4ecf162f8ce5e8e262598e53',
    arm64: 'c833be48abfa16bc19c4966ec93e289ff1ce5d2f1476cad3a57bd105378cd15c',
  },
  'g/gcc-14/gcc-14-base_14.2.0-19': {
    x64: '5b6825de4263824b78c4c51f6476414f3b4e89c2ab63e81dc8b9b5501e867cf6',
    arm64: '34ee90679b018c0e64234747a4c4c0ae6b7f63541115037465a8627c2dfbc594',
  },
  'g/gcc-14/libgcc-s1_14.2.0-19': {
    x64: '3c71917b490d1a17aed43196a2787a256ecf060526cdb20216a74bedc061b150',
    arm64: '1108bc87879833d6d9a145f22a4a15cddb34e065b4b5f4b97bee586adbac2851',
  },
  'g/gcc-14/libstdc++6_14.2.0-19': {
    x64: 'ab1fa05837aa7a92aae748fd07a18a35f7d18bb4a71c4724fe2bbf0e32089de0',
    arm64: '6669b0c52a2e7c6af9adfdabce3ff6e286065cdfbc7b85280862b5f799daebee',
  },
  'g/glibc/libc6_2.41-12+deb13u5': {
    x64: 'b59b0625cd1a791375d40dab23a4d5d3d0641e3d0a773501becdc3725b7f99cf',
    arm64: '0966fc3da1a26cc57647c68b5736f791b6e7eb498173a7993f63b6c89b4ed4f5',
  },
};

/** Debian keeps the newest version of a package only, its archive all that were there at a time. */
const POOLS = ['https://deb.debian.org/debian/pool/main/', 'https://snapshot.debian.org/archive/debian/20261130T000000Z/pool/main/'];

/** What nobody needs in an image: conversions of character sets, which Node brings, and all documents but licences. */
const UNUSED = /^usr\/lib\/[^/]+\/gconv\/|^usr\/share\/(doc\/[^/]+\/(?!copyright$)|(lintian|base-files|info|man)\/)|^etc\/update-motd\.d\//;

/**
 * Unpacks a Debian in a folder on which Node runs, with the shell of busybox. Vulnerability scanners find its packages in var/lib/dpkg/status.d,
 * as in other images without dpkg. Needs GNU tar, xz and a mirror of Debian.
 */
export async function unpackDebian(folder: string, processor: Processor): Promise<void> {
  const status = join(folder, 'var/lib/dpkg/status.d');
  mkdirSync(status, { recursive: true });
  for (const [path, digests] of Object.entries(PACKAGES)) {
    const members = membersOf(await download(`${path}_${ARCHITECTURES[processor]}.deb`, digests[processor]));
    execFileSync('tar', ['-xJp', '--no-same-owner', '-C', folder], { input: members.get('data.tar.xz') });
    const control = execFileSync('tar', ['-xJO', './control'], { input: members.get('control.tar.xz') });
    writeFileSync(join(status, basename(path).split('_')[0]!), control);
  }
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    if (UNUSED.test(path)) rmSync(join(folder, path), { recursive: true, force: true });
}

/** Downloads a package. Throws if no mirror has the one that is expected. */
async function download(path: string, sha256: string): Promise<Buffer> {
  const failures: string[] = [];
  for (const pool of POOLS) {
    try {
      const answer = await fetch(pool + path);
      const bytes = Buffer.from(await answer.arrayBuffer());
      const digest = createHash('sha256').update(bytes).digest('hex');
      if (answer.ok && digest === sha256) return bytes;
      failures.push(`${pool}: ${answer.ok ? `SHA-256 ${digest}` : answer.status}`);
    } catch (error) {
      failures.push(`${pool}: ${String(error)}`);
    }
  }
  throw new Error(
    `could not download ${path} with SHA-256 ${sha256}: ${failures.join('; ')}. If Debian has a newer version, set it and its digests in scripts/release/debian.ts`,
  );
}

const AR_MAGIC = 8;
const AR_HEADER = 60;

/** The files in an archive of the format ar: after a header each, at even offsets. */
function membersOf(archive: Buffer): Map<string, Buffer> {
  const members = new Map<string, Buffer>();
  for (let at = AR_MAGIC; at < archive.length; ) {
    const header = archive.toString('latin1', at, at + AR_HEADER);
    const size = Number(header.slice(48, 58));
    members.set(header.slice(0, 16).trim(), archive.subarray(at + AR_HEADER, at + AR_HEADER + size));
    at += AR_HEADER + size + (size % 2);
  }
  return members;
}
