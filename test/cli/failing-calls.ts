import { join } from 'node:path';

/** More flushes than opening a new store takes in any thread. strace counts faults by thread. */
export const FLUSHES_OF_START = 40;

/** Returns a command prefix under which system calls on the store file fail or hang. */
export const failing = (dataDir: string, calls: string, fault: string) => [
  'strace',
  '-D',
  '-f',
  '--seccomp-bpf',
  '-qq',
  '-P',
  join(dataDir, 'ballast.lmdb'),
  '-e',
  `trace=${calls}`,
  '-e',
  `inject=${calls}:${fault}`,
  '-o',
  '/dev/null',
  '--',
];
