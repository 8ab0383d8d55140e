import { readFileSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { STORE_FILE } from '../../../src/server/store/lmdb/tables.js';
import { JOURNAL_FILES } from '../../../src/server/store/lmdb/writes/journal-files.js';
import { temporaryFolder } from '../../../test/testbed/cleanup.js';
import { requestJson } from '../../../test/testbed/client.js';
import { startServer } from '../../../test/testbed/server.js';
import { type Build, drawBuild, play } from '../builds.js';
import { NodeLog } from './node-log.js';
import { traceCommand } from './trace.js';

export interface Recording {
  builds: readonly Build[];
  log: NodeLog;
  /** The trace of all calls on the files of the store, from their creation. */
  trace: string;
  /** The folder of the store, in its final state. */
  dataDir: string;
}

/** All files that a power cut may damage. */
export const TRACED_FILES = [STORE_FILE, ...JOURNAL_FILES];

const STREAMS = 6;

/** Plays builds on a server whose writes are traced. */
export async function recordBuilds(milliseconds: number, random: () => number): Promise<Recording> {
  const dataDir = realpathSync(temporaryFolder());
  const files = TRACED_FILES.map(name => join(dataDir, name));
  const trace = join(temporaryFolder(), 'trace');
  const { url, child, ended } = await startServer({ dataDir, under: traceCommand(files, trace) });
  const builds: Build[] = [];
  const log = new NodeLog();
  const end = performance.now() + milliseconds;
  const streams = Array.from({ length: STREAMS }, async (_, stream) => {
    for (let i = 0; performance.now() < end; i++) {
      const build = drawBuild(random, `build-${stream}-${i}`);
      builds.push(build);
      await play(
        log.record((path, body) => requestJson(url, path, body)),
        build,
      );
    }
  });
  await Promise.all(streams);
  // A signal to strace would detach the server instead of stopping it.
  for (const server of childrenOf(child.pid!)) process.kill(server, 'SIGTERM');
  await ended;
  return { builds, log, trace, dataDir };
}

function childrenOf(pid: number): number[] {
  return readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
}
