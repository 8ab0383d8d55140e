import { closeSync, openSync, readdirSync, readSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { NODE_ABI, NODE_MAJOR, type Processor } from './node-binary.js';

/** Numbers of processors in the header of an ELF file, little-endian, at byte 18. */
const MACHINES: Record<Processor, number> = { x64: 0x3e, arm64: 0xb7 };
const ELF = 0x7f454c46;

/**
 * Deletes the native modules in a folder that are not for Linux on a processor, with glibc or musl, or for another Node than that of the archives.
 * It reads their headers and names: most of them do not load on the machine that makes the archive.
 */
export function deleteOtherModules(folder: string, processor: Processor): void {
  for (const path of readdirSync(folder, { recursive: true, encoding: 'utf8' })) {
    if (/\.(node|bare)$/.test(path) && !isFor(processor, folder, path)) rmSync(join(folder, path));
  }
}

function isFor(processor: Processor, folder: string, path: string): boolean {
  if (path.endsWith('.bare') || path.includes('android')) return false;
  const abi = /(?:\babi|_)(\d+)\./.exec(path)?.[1] ?? NODE_ABI;
  const major = /@uwsjs\/linux-\w+-(\d+)\//.exec(path)?.[1] ?? NODE_MAJOR;
  return abi === NODE_ABI && major === NODE_MAJOR && machineOf(join(folder, path)) === MACHINES[processor];
}

/** The number of the processor of an ELF file; null: it is none. */
function machineOf(path: string): number | null {
  const head = Buffer.alloc(20);
  const file = openSync(path, 'r');
  readSync(file, head);
  closeSync(file);
  return head.readUInt32BE() === ELF ? head.readUInt16LE(18) : null;
}
