import { statSync } from 'node:fs';
import { join } from 'node:path';
import type { Database } from 'lmdb';
import { openTables, STORE_FILE, type Tables } from '../src/store/lmdb/tables.js';
import { JOURNAL_FILES } from '../src/store/lmdb/writes/journal-files.js';
import { inParallel } from './load/in-parallel.js';
import { longTestPath, NODES, nodeFields, RECORDING } from './load/messages.js';
import { type Server, startServer } from './load/server.js';
import { printStep } from './progress.js';
import { seededRandom } from './random.js';
import type { Result } from './results.js';
import type { Suite } from './suites/suites.js';
import { residual, syntheticSuite } from './suites/synthetic.js';

/** How many bytes on disk a recorded time takes. */

export interface DiskOptions {
  builds: number;
  files?: number;
  /** Recorded suites to measure in addition. */
  suites?: readonly Suite[];
}

/** The share of the builds that are recorded before the measurement, so that fixed costs of the store do not count. */
const SHARE_BEFORE = 0.1;

const head = ['suite', 'timings', 'file MB', 'bytes per timing', 'used MB', 'used bytes per timing', 'sent bytes per timing', 'journal MB'];
const legend =
  '8 nodes record each build, each file on a random node, with new times of 16 or 17 digits. per timing: ' +
  'growth over the last nine tenths of the builds, divided by the times recorded in these. used: pages in use; ' +
  'the file of the store also has free pages. sent: JSON of the path and the time. journal: its two files, whose size is bounded.';

/** Bytes. */
interface Size {
  file: number;
  used: number;
  journal: number;
}

export async function disk({ builds, files = 2000, suites = [] }: DiskOptions): Promise<Result[]> {
  const rows: string[][] = [];
  for (const suite of [realisticSuite(files), ...suites]) {
    printStep(`disk: ${suite.name}`);
    const server = await startServer();
    try {
      rows.push([suite.name, ...(await measureGrowth(server, suite, builds))]);
    } finally {
      await server.stop();
    }
  }
  return [{ title: 'Disk', head, rows, legend: `${builds} builds. ${legend}` }];
}

function realisticSuite(files: number): Suite {
  const { name, timings } = syntheticSuite(1, files);
  return { name, timings: new Map([...timings.values()].map((seconds, file) => [longTestPath(file), seconds])) };
}

async function measureGrowth(server: Server, { timings }: Suite, builds: number): Promise<string[]> {
  const random = seededRandom(1);
  let sent = 0;
  const record = async (build: number) => {
    const test_files = [...timings].map(([path, seconds]) => ({ path, time_execution: seconds * residual(random) }));
    sent += JSON.stringify(test_files).length;
    const ran = test_files.map(file => ({ file, node: Math.floor(random() * NODES) }));
    await inParallel(NODES, Array(NODES).keys(), async node => {
      const files = ran.filter(run => run.node === node).map(({ file }) => file);
      await server.post(RECORDING, { ...nodeFields('disk', build, node), test_files: files });
    });
  };
  const before = Math.floor(builds * SHARE_BEFORE);
  for (let build = 0; build < before; build++) await record(build);
  const start = await sizeOf(server.dataDir);
  sent = 0;
  for (let build = before; build < builds; build++) await record(build);
  const end = await sizeOf(server.dataDir);
  const recorded = timings.size * (builds - before);
  const perTiming = (bytes: number) => (bytes / recorded).toFixed(1);
  const megabytes = (bytes: number) => (bytes / 1e6).toFixed(1);
  return [
    String(timings.size * builds),
    ...[megabytes(end.file), perTiming(end.file - start.file), megabytes(end.used), perTiming(end.used - start.used), perTiming(sent)],
    megabytes(end.journal),
  ];
}

async function sizeOf(dataDir: string): Promise<Size> {
  const sizeOfFile = (name: string) => statSync(join(dataDir, name)).size;
  const journal = JOURNAL_FILES.reduce((sum, name) => sum + sizeOfFile(name), 0);
  const tables = openTables(dataDir);
  try {
    return { file: sizeOfFile(STORE_FILE), used: usedBytes(tables), journal };
  } finally {
    await tables.root.close();
  }
}

interface TreeStats {
  pageSize: number;
  treeBranchPageCount: number;
  treeLeafPageCount: number;
  overflowPages: number;
}

/** Pages in use by all tables, the list of tables and the list of free pages. */
function usedBytes(tables: Tables): number {
  const treeBytes = (tree: TreeStats) => tree.pageSize * (tree.treeBranchPageCount + tree.treeLeafPageCount + tree.overflowPages);
  const { root, ...rest } = tables;
  const stats = root.getStats() as { root: TreeStats; free: TreeStats };
  const sizes = Object.values(rest).map(table => treeBytes((table as Database).getStats() as TreeStats));
  return sizes.reduce((sum, bytes) => sum + bytes, treeBytes(stats.root) + treeBytes(stats.free));
}
