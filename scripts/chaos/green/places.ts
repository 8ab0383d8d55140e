import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { cpSync, existsSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { killAtExit } from '../../../test/testbed/cleanup.js';
import { createDatabase, dropDatabase, statement } from '../../../test/testbed/postgresql.js';
import { MAIN, type ServerOptions } from '../../../test/testbed/server.js';

/** The store of the servers of a scenario, and the actions of an operator on it. */
export interface Place {
  server: Pick<ServerOptions, 'dataDir' | 'database'>;
  /** Makes a backup while a server runs; null: it has to be copied. */
  backUp: (() => Promise<void>) | null;
  /** These three while no server runs. */
  copy(): Promise<void>;
  empty(): Promise<void>;
  /** Puts the last backup or copy in an empty store, if there is one. */
  restore(): Promise<void>;
  close(): Promise<void>;
}

export function folderPlace(folder: string): Place {
  const [dataDir, backup] = [join(folder, 'data'), join(folder, 'backup')];
  return {
    server: { dataDir },
    async backUp() {
      const child = killAtExit(
        spawn(process.execPath, [MAIN, 'backup', backup, '--data-dir', dataDir], { stdio: ['ignore', 'ignore', 'inherit'] }),
      );
      const [code] = (await once(child, 'exit')) as [number | null];
      if (code !== 0) throw new Error(`cannot back up ${dataDir}: "backup" exited with ${code}`);
    },
    async copy() {
      cpSync(dataDir, backup, { recursive: true });
    },
    async empty() {
      for (const name of readdirSync(dataDir)) rmSync(join(dataDir, name), { recursive: true, force: true });
    },
    async restore() {
      if (existsSync(backup)) cpSync(backup, dataDir, { recursive: true });
    },
    async close() {},
  };
}

/** @param cluster the URL of a cluster, in which it has a database of its own */
export async function databasePlace(cluster: string): Promise<Place> {
  const name = `green_${randomUUID().replaceAll('-', '')}`;
  const backup = `${name}_backup`;
  let hasBackup = false;
  const copyTo = (copy: string, original: string) => statement(cluster, `create database ${copy} template ${original}`);
  const drop = () => dropDatabase(cluster, name);
  return {
    server: { database: await createDatabase(cluster, name) },
    backUp: null,
    async copy() {
      await copyTo(backup, name);
      hasBackup = true;
    },
    async empty() {
      await drop();
      await createDatabase(cluster, name);
    },
    async restore() {
      if (!hasBackup) return;
      await drop();
      await copyTo(name, backup);
    },
    async close() {
      await drop();
      if (hasBackup) await dropDatabase(cluster, backup);
    },
  };
}
