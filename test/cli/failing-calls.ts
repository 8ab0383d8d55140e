import { join } from 'node:path';
import { STORE_FILE } from '../../src/store/lmdb/tables.js';

/** More flushes than opening a new store takes in any thread. strace counts faults by thread. */
export const FLUSHES_OF_START = 40;

/** Returns a command prefix under which system calls on a file of the store fail or hang. */
export const failing = (dataDir: string, calls: string, fault: string, files: readonly string[] = [STORE_FILE]) => [
  'strace',
  '-D',
  '-f',
  '--seccomp-bpf',
  '-qq',
  ...files.flatMap(file => ['-P', join(dataDir, file)]),
  '-e',
  `trace=${calls}`,
  '-e',
  `inject=${calls}:${fault}`,
  '-o',
  '/dev/null',
  '--',
];
