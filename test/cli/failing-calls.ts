import { join } from 'node:path';
import type { TestContext } from 'vitest';
import { reasonNotTraceable } from '../../scripts/chaos/power-cuts/trace.js';
import { createProject } from '../../src/server/engine/access.js';
import { openLmdbStore } from '../../src/server/store/lmdb/store.js';
import { STORE_FILE } from '../../src/server/store/lmdb/tables.js';
import { TOKEN } from '../harness/client.js';
import { temporaryFolder } from '../harness/temporary-folder.js';

let reason: string | null | undefined;

/** Skips a test of failing calls where the system does not let strace make them fail. */
export function skipUntraceable({ skip }: TestContext): void {
  if (reason === undefined) reason = reasonNotTraceable();
  if (reason !== null) skip(reason);
}

/** More flushes than opening a store that exists takes in any thread. strace counts faults by thread. */
export const FLUSHES_OF_START = 4;

/** Returns a folder with the store of a server that ran before. To create its tables takes dozens of flushes. */
export async function folderWithStore(): Promise<string> {
  const dataDir = temporaryFolder();
  const store = openLmdbStore(dataDir);
  await createProject(store.access, 'default', Date.now(), TOKEN);
  await store.close();
  return dataDir;
}

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
