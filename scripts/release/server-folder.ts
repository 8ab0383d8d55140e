import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { deleteOtherModules } from './native-modules.js';
import type { Processor } from './node-binary.js';
import { npm } from './npm.js';

interface Server {
  /** The folder of the project, compiled. */
  root: string;
  processor: Processor;
  libc: 'glibc' | 'musl';
  /** A folder with Node: bin/node and LICENSE. */
  node: string;
}

/**
 * Makes a folder with the server for Linux: its program, its production packages and Node, so that a machine needs neither npm nor a compiler.
 * Needs GNU tar and the registry of npm.
 */
export function makeServerFolder(folder: string, { root, processor, libc, node }: Server): void {
  mkdirSync(folder, { recursive: true });
  const packing = mkdtempSync(join(tmpdir(), 'ballast-packing-'));
  try {
    unpack(join(packing, npm(root, 'pack', '--ignore-scripts', '--pack-destination', packing).trim()), folder);
  } finally {
    rmSync(packing, { recursive: true });
  }
  copyFileSync(join(root, 'package-lock.json'), join(folder, 'package-lock.json'));
  npm(folder, 'ci', '--omit=dev', '--ignore-scripts', '--os=linux', `--cpu=${processor}`, `--libc=${libc}`);
  for (const unused of ['package-lock.json', 'node_modules/.package-lock.json', 'node_modules/.bin'])
    rmSync(join(folder, unused), { recursive: true, force: true });
  deleteOtherModules(join(folder, 'node_modules'), processor);
  cpSync(join(root, 'scripts/deploy/licences'), join(folder, 'licences'), { recursive: true });
  copyFileSync(join(node, 'LICENSE'), join(folder, 'licences/node.txt'));
  copyFileSync(join(node, 'bin/node'), join(folder, 'node'));
  copyFileSync(join(root, 'scripts/release/ballast.sh'), join(folder, 'ballast'));
  for (const program of ['ballast', 'node']) chmodSync(join(folder, program), 0o755);
}

/** Unpacks a package of npm. */
export function unpack(packed: string, folder: string): void {
  execFileSync('tar', ['-xzf', packed, '--strip-components=1', '-C', folder]);
}
