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
  /** Makes a backup in place of the last one while a server runs; null: it has to be copied. */
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
      rmSync(backup, { recursive: true, force: true });
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

/**
 * @param cluster the URL of a cluster, in which it has a database of its own
 * @param speed the time of the database passes so much faster, since a time in milliseconds since 1970
 */
export async function databasePlace(cluster: string, speed: number, since: number): Promise<Place> {
  const name = `green_${randomUUID().replaceAll('-', '')}`;
  const backup = `${name}_backup`;
  let hasBackup = false;
  const copyTo = (copy: string, original: string) => statement(cluster, `create database ${copy} template ${original}`);
  const drop = () => dropDatabase(cluster, name);
  const create = async () => {
    const url = await createDatabase(cluster, name);
    await speedUp(url, name, speed, since);
    return url;
  };
  return {
    server: { database: await create() },
    backUp: null,
    async copy() {
      await copyTo(backup, name);
      hasBackup = true;
    },
    async empty() {
      await drop();
      await create();
    },
    async restore() {
      if (!hasBackup) return;
      await drop();
      await copyTo(name, backup);
      await useFastClock(cluster, name);
    },
    async close() {
      await drop();
      if (hasBackup) await dropDatabase(cluster, backup);
    },
  };
}

/** Gives a database a clock of its own, which statements find before that of PostgreSQL. */
async function speedUp(url: string, name: string, speed: number, since: number): Promise<void> {
  const seconds = since / 1000;
  await statement(
    url,
    `create schema fast;
    create function fast.clock_timestamp() returns timestamptz language sql as
      'select to_timestamp(${seconds} + ${speed} * (extract(epoch from pg_catalog.clock_timestamp()) - ${seconds}))'`,
  );
  await useFastClock(url, name);
}

async function useFastClock(url: string, name: string): Promise<void> {
  await statement(url, `alter database ${name} set search_path = public, fast, pg_catalog`);
}
