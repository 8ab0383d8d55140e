import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deleteOtherModules } from './native-modules.js';
import { downloadNode, type Processor } from './node-binary.js';
import { npm } from './npm.js';

interface ServerArchive {
  /** The folder of the project. */
  root: string;
  version: string;
  processor: Processor;
  /** When the commit was made, in seconds since 1970: the time of all files. */
  time: number;
  /** The package of the server for npm. */
  packed: string;
  /** Where the archive goes. */
  folder: string;
}

/**
 * Makes an archive of the server for Linux: its program, its production packages and Node, so that a machine needs neither npm nor a compiler. The same
 * commit gives the same bytes. Needs GNU tar, gzip and the registry of npm.
 */
export function makeServerArchive({ root, version, processor, time, packed, folder }: ServerArchive): void {
  const made = mkdtempSync(join(tmpdir(), 'ballast-release-'));
  try {
    const name = `ballast-${version}-linux-${processor}`;
    const server = join(made, name);
    mkdirSync(server);
    unpack(packed, server);
    copyFileSync(join(root, 'package-lock.json'), join(server, 'package-lock.json'));
    npm(server, 'ci', '--omit=dev', '--ignore-scripts', '--os=linux', `--cpu=${processor}`, '--libc=glibc');
    const modules = join(server, 'node_modules');
    for (const unused of ['package-lock.json', 'node_modules/.package-lock.json', 'node_modules/.bin'])
      rmSync(join(server, unused), { recursive: true, force: true });
    deleteOtherModules(modules, processor);
    cpSync(join(root, 'scripts/deploy/licences'), join(server, 'licences'), { recursive: true });
    const node = join(made, 'node');
    mkdirSync(node);
    unpack(downloadNode(processor, made), node);
    copyFileSync(join(node, 'bin/node'), join(server, 'node'));
    copyFileSync(join(node, 'LICENSE'), join(server, 'licences/node.txt'));
    copyFileSync(join(root, 'scripts/release/ballast.sh'), join(server, 'ballast'));
    for (const program of ['ballast', 'node']) chmodSync(join(server, program), 0o755);
    const sameEverywhere = [
      '--sort=name',
      `--mtime=@${time}`,
      '--owner=0',
      '--group=0',
      '--numeric-owner',
      '--mode=go+rX,go-w',
      '--format=gnu',
    ];
    execFileSync('tar', [...sameEverywhere, '-I', 'gzip -n -9', '-cf', join(folder, `${name}.tar.gz`), '-C', made, name]);
  } finally {
    rmSync(made, { recursive: true });
  }
}

/** Unpacks a package of npm. */
function unpack(packed: string, folder: string): void {
  execFileSync('tar', ['-xzf', packed, '--strip-components=1', '-C', folder]);
}
